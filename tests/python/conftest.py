# SPDX-License-Identifier: LGPL-2.1-only
"""Programs for the end-to-end tests, and runs of them."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import campaigned
import compiled
import pytest
import simulated
from simulated import Result

Program = Callable[[str], Path]


class Run(Protocol):
    """Runs a program of tests/smpi under `weft run`."""

    def __call__(
        self,
        source: str,
        *arguments: str,
        on: str = "tofino-4",
        ranks: int = 4,
        options: Sequence[str] = (),
        status: int = 0,
        **more: Any,
    ) -> Result: ...


@pytest.fixture
def write(tmp_path: Path) -> campaigned.Write:
    """Write a campaign's file, small.toml, into the test's folder."""
    return lambda text: campaigned.written(tmp_path, text)


@pytest.fixture(scope="session")
def program() -> Program:
    """Return the compiled form of a program in tests/smpi, by the name of its source."""
    return lambda source: compiled.program(simulated.TESTS / "smpi" / source)


@pytest.fixture(scope="session")
def run(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a program of tests/smpi under `weft run`, which must end with the status expected."""
    directory = tmp_path_factory.mktemp("records")
    numbers = count()

    def run_one(
        source: str,
        *arguments: str,
        on: str = "tofino-4",
        ranks: int = 4,
        options: Sequence[str] = (),
        status: int = 0,
        **more: Any,
    ) -> Result:
        path = directory / f"{next(numbers)}.json"
        command = simulated.weft_command(
            program(source),
            *arguments,
            on=on,
            ranks=ranks,
            options=(*options, "--json", str(path)),
        )
        result = simulated.run_command(command, **more)
        assert result.status == status, result.stderr
        return Result(result.status, result.stdout, result.stderr, simulated.read_record(path))

    return run_one
