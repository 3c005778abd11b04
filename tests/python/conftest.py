# SPDX-License-Identifier: LGPL-2.1-only
"""Programs for the end-to-end tests, and runs of them."""

from collections import Counter
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


# A file's tests stay together, so that one that begins late and lasts for minutes has the others'
# workers wait for it.
LONGEST = (
    *("test_cluster.py", "test_wheel.py", "test_docs.py", "test_site.py", "test_pip.py"),
    *("test_real_programs.py", "test_calibrate_switch.py", "test_validate.py", "test_cache.py"),
    *("test_mpich_messages.py", "test_openmpi_messages.py", "test_api.py", "test_campaign.py"),
)
"""Files that take longest, as they begin; all others follow by their number of tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the longest files begin first (`make pytest` says --no-loadscope-reorder)."""
    tests = Counter(item.path.name for item in items)
    place = {name: number for number, name in enumerate(LONGEST)}

    def order(item: pytest.Item) -> tuple[int, int, str]:
        name = item.path.name
        return place.get(name, len(place)), -tests[name], name

    items.sort(key=order)


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
    """Run a program of tests/smpi under `weft run`, which must end with the status expected.

    `addresses` is the most bytes of addresses that the process may have.
    """
    directory = tmp_path_factory.mktemp("records")
    numbers = count()

    def run_one(
        source: str,
        *arguments: str,
        on: str = "tofino-4",
        ranks: int = 4,
        options: Sequence[str] = (),
        status: int = 0,
        addresses: int | None = None,
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
        if addresses is not None:
            command = ["prlimit", f"--as={addresses}:", *command]
        result = simulated.run_command(command, **more)
        assert result.status == status, result.stderr
        return Result(result.status, result.stdout, result.stderr, simulated.read_record(path))

    return run_one
