# SPDX-License-Identifier: LGPL-2.1-only
"""Runs without tunings: equal data, equal times.

The random programs check every byte themselves. Times agree to 12 digits: messages that share a
flow add the same numbers in another order.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support import simulated
from tests.support.places import ROOT
from tests.support.simulated import Program
from weft import _core
from weft.base import paths

TUNINGS = [row["name"] for row in _core.tunings()]
AT_WORK = [name for name in TUNINGS if name not in _core.tunings_off()]
DIGITS = 1e-12
RANDOM = ("random_programs", "7", "0", "5")
WITH_MANY_RANKS = {"message-coalescing", "shared-sleeps"}
"""Tunings that only large runs use, unless WEFT_RANK_FLOWS asks for them."""
EXACTLY = ("--cfg", "network/optim:Full", "--cfg", "precision/timing:1e-13")
"""By default, SimGrid treats events within 1 ns as simultaneous, and re-solves only some of the
flows.
"""
HALO = str(paths.example("halo_exchange.c"))
MEASURED = {
    "peak_memory_bytes",
    "cpu_time_s",
    "wall_time_s",
    "command",
    "stacks",
    "tunings_off",
    "program",
}


@pytest.fixture
def record(program: Program, tmp_path: Path) -> Any:
    """Return the record of a run with a selection of tunings."""

    def run(choice: str, source: str, *arguments: str, options: Any = ()) -> dict[str, Any]:
        target = tmp_path / "record.json"
        more = ("-q", "--tunings", choice, "--json", str(target), *EXACTLY, *options)
        command = simulated.weft_command(
            program(source), *arguments, on="fat-tree-8", ranks=14, options=more
        )
        result = simulated.run_command(command)
        assert result.status == 0, result.stderr
        return simulated.read_record(target)

    return run


def assert_same(one: Any, other: Any, where: str = "record") -> None:
    """Compare parts of records: numbers to 12 digits."""
    if isinstance(one, dict):
        assert one.keys() - MEASURED == other.keys() - MEASURED, where
        for key in one.keys() - MEASURED:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for index, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where}[{index}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=DIGITS, abs=1e-18), where
    else:
        assert one == other, where


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    """Return the records with all tunings, by test case."""
    return {}


@pytest.mark.parametrize("mode", ["stream", "off"])
@pytest.mark.parametrize("choice", [*(f"-{name}" for name in AT_WORK), "none"])
def test_times_and_data_are_equal(
    record: Any,
    usual: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    mode: str,
) -> None:
    if choice.removeprefix("-") in WITH_MANY_RANKS:
        monkeypatch.setenv("WEFT_RANK_FLOWS", "together")
        work: tuple[str, ...] = (HALO, "2", "100000")
    else:
        work = RANDOM
    options = ("--ppn", "2", "--offload", mode)
    key = f"{work} {mode}"
    if key not in usual:
        usual[key] = record("all", *work, options=options)
    found = record(choice, *work, options=options)
    assert found["tunings_off"] == sorted(
        set(TUNINGS) if choice == "none" else {choice.removeprefix("-"), *_core.tunings_off()}
    )
    assert_same(found, usual[key])


def test_unknown_names_are_refused_with_a_close_one(program: Program) -> None:
    options = ("--tunings", "-wait")
    result = simulated.run_command(simulated.weft_command(program(HALO), options=options))
    assert result.status == 2
    assert result.messages == [
        'weft: --tunings: found "-wait"; did you mean "waits"? allowed: all, none, or tunings with'
        " commas, each as NAME (only these) or each as -NAME (all but these): " + ", ".join(TUNINGS)
    ]


def test_plain_smpirun_refuses_them_too(program: Program) -> None:
    result = simulated.run_library(program(HALO), WEFT_FABRIC="tofino-4", WEFT_TUNINGS="waiting")
    assert result.status == 2
    assert 'weft: --tunings: found "waiting"; ' in result.stderr


def test_each_is_asked_for_in_the_binding() -> None:
    """A row without code would be a name that has no effect."""
    sources = [
        path.read_text(encoding="utf-8") for path in (ROOT / "src" / "binding").rglob("*.?pp")
    ]
    text = "\n".join(sources) + "TuningId::allocator"  # which weft run preloads, or does not
    asked = {name for name in TUNINGS if f"TuningId::{name.replace('-', '_')}" in text}
    assert asked == set(TUNINGS)


def test_requests_of_jobs_may_have_smpis_numbers(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    its = f'program = "{program(RANDOM[0])}"\narguments = {list(RANDOM[1:])}\nranks = 4\n'
    file.write_text(f'[[jobs]]\nname = "a"\n{its}')
    command = ["run", "--fabric", "tofino-4", "--jobs", str(file), "--tunings", "-request-numbers"]
    assert simulated.run_command([*simulated.WEFT, *command]).status == 0
