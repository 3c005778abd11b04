"""Programs for the end-to-end tests: each is compiled once, when the first test wants it."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest
import simulated
from simulated import Result

Program = Callable[[str], Path]


class Run(Protocol):
    """Runs a program of tests/smpi under `weft run`."""

    def __call__(
        self,
        program: str,
        *arguments: str,
        on: str = "tofino-4",
        ranks: int = 4,
        options: Sequence[str] = (),
        status: int = 0,
        **more: Any,
    ) -> Result: ...


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Return the compiled form of a program in tests/smpi, by the name of its source."""
    directory = tmp_path_factory.mktemp("programs")

    def compiled(source: str) -> Path:
        target = directory / source.replace(".", "_")
        if not target.exists():
            simulated.compile_program(simulated.TESTS / "smpi" / source, target)
        return target

    return compiled


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
