# SPDX-License-Identifier: LGPL-2.1-only
"""Fixtures for the end-to-end tests: compiled programs and their runs."""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import campaign_files, compiled, simulated
from tests.support.places import TESTS
from tests.support.simulated import Program, Result, Run

HERE = Path(__file__).parent

# An example takes longer on a busy machine.
settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")

# The tests of a file stay on one worker, so a file that starts late and runs for minutes leaves the
# other workers idle.
LONGEST = (
    "campaign/test_cluster.py",
    "../../testbed/tests/test_changes.py",
    "documents/test_markdown.py",
    "documents/test_conformance.py",
    "calibrate/test_cluster.py",
    "study/test_validate.py",
    "install/test_wheel.py",
    "binding/mechanisms/test_multicast.py",
    "fuzz/test_fuzz.py",
    "../../testbed/tests/test_netns.py",
    "binding/mechanisms/host/test_schedules.py",
    "runs/test_build_tools.py",
    "documents/test_site.py",
    "report/test_page.py",
    "binding/mechanisms/host/test_best.py",
    "runs/test_progress.py",
    "calibrate/test_switch.py",
    "install/test_pip.py",
    "study/test_forwarding_caches.py",
    "documents/test_openmpi_messages.py",
    "documents/test_mpich_messages.py",
    "binding/point_to_point/test_transport.py",
    "documents/test_real_programs.py",
    "stress/test_stress.py",
    "api/test_public.py",
    "binding/mechanisms/test_added.py",
)
"""The slowest files in starting order; all other files follow by their number of tests."""


def _file(item: pytest.Item) -> str:
    return os.path.relpath(item.path, HERE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the slowest files first (`make pytest` passes --no-loadscope-reorder)."""
    tests = Counter(_file(item) for item in items)
    place = {name: number for number, name in enumerate(LONGEST)}

    def order(item: pytest.Item) -> tuple[int, int, str]:
        name = _file(item)
        return place.get(name, len(place)), -tests[name], name

    items.sort(key=order)


@pytest.fixture
def write(tmp_path: Path) -> campaign_files.Write:
    """Write a campaign file, small.toml, into the test's folder."""
    return lambda text: campaign_files.written(tmp_path, text)


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the test's folder, where programs create files."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def program() -> Program:
    """Return the compiled program of a source in tests/smpi."""
    return lambda source: compiled.program(TESTS / "smpi" / source)


@pytest.fixture(scope="session")
def run(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a program of tests/smpi under `weft run`, and check the exit status.

    `addresses` limits the process's address space, in bytes.
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
