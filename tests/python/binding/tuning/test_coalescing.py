# SPDX-License-Identifier: LGPL-2.1-only
"""Coalescing of SimGrid's flows for equal messages of many ranks: less memory, same times."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS
from tests.support.simulated import Program
from weft.base import paths

ROUNDING = 1e-9
# SimGrid treats events within 1 ns as simultaneous, and its lazy updates leave some flows with an
# outdated rate.
PRECISELY = ("--cfg", "network/optim:Full", "--cfg", "precision/timing:1e-13")
FLOWS = "WEFT_RANK_FLOWS"
SOURCE = TESTS / "simgrid" / "flow_coalescing.cpp"
HALO = str(paths.example("halo_exchange.c"))


@pytest.fixture
def record(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a halo exchange and returns its record."""

    def run(
        flows: str, *arguments: str, on: str, ranks: int, ppn: int, precisely: Any = ()
    ) -> dict[str, Any]:
        monkeypatch.setenv(FLOWS, flows)
        options = ("-q", "--ppn", str(ppn), "--offload", "off", "--no-privatize")
        options += ("--messages", "smpi", "--json", str(tmp_path / "r.json"), *precisely)
        result = simulated.run_command(
            simulated.weft_command(program(HALO), *arguments, on=on, ranks=ranks, options=options)
        )
        assert result.status == 0, result.stderr
        return simulated.read_record(tmp_path / "r.json")

    return run


def waits(record: dict[str, Any]) -> list[float]:
    """Return each rank's waiting time, sorted because symmetric ranks may swap theirs."""
    (row,) = [row for row in record["profile"] if row["kind"] == "waits"]
    return sorted(row["ranks_s"])


def bytes_by_link(record: dict[str, Any]) -> dict[str, float]:
    return {link["name"]: link["bytes"] for link in record["links"]}


@pytest.mark.parametrize(
    ("arguments", "fabric", "ranks", "ppn"),
    [
        (("3", "64"), "tofino-64x64", 4096, 64),
        (("3", "100000"), "tofino-64x64", 96, 6),
        (("3", "1000000"), "tofino-64x64", 384, 6),
        (("2", "100000", "2"), "fat-tree-1024", 1280, 5),
        (("1", "3000"), "torus-4x4x4x4", 1024, 4),
    ],
)
def test_times_and_traffic_stay_the_same(
    record: Any, arguments: tuple[str, ...], fabric: str, ranks: int, ppn: int
) -> None:
    options = {"on": fabric, "ranks": ranks, "ppn": ppn, "precisely": PRECISELY}
    together = record("together", *arguments, **options)
    apart = record("apart", *arguments, **options)
    assert bytes_by_link(together) == bytes_by_link(apart)
    assert together["simulated_time_s"] == pytest.approx(apart["simulated_time_s"], rel=ROUNDING)
    assert waits(together) == pytest.approx(waits(apart), rel=ROUNDING)


def test_many_ranks_have_them(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coalescing saves 594 bytes per message; with fewer ranks, messages are not coalesced."""
    # mimalloc returns freed memory after a delay, which made the peak depend on the load.
    monkeypatch.setenv("MIMALLOC_DECOMMIT_DELAY", "0")
    large = {"on": "fat-tree-1024", "ranks": 33280, "ppn": 40}
    apart = record("apart", "1", "64", **large)["peak_memory_bytes"]
    assert record("", "1", "64", **large)["peak_memory_bytes"] < apart - 33280 * 4 * 500
    small = {"on": "tofino-64x64", "ranks": 96, "ppn": 6}
    left_out = {"peak_memory_bytes", "cpu_time_s", "wall_time_s"}
    one, other = (record(flows, "3", "65536", **small) for flows in ("", "apart"))
    assert {k: v for k, v in one.items() if k not in left_out} == {
        k: v for k, v in other.items() if k not in left_out
    }


@pytest.fixture(scope="module")
def messages() -> Path:
    return compiled.with_simgrid(SOURCE)


@pytest.mark.parametrize("what", ["nothing", "cancel", "kill"])
def test_a_message_that_ends_early_leaves_the_others(messages: Path, what: str) -> None:
    def run(flows: str) -> dict[tuple[str, str], float]:
        library = str(paths.platform_library())
        result = simulated.run_command(
            [str(messages), library, "10", what, "--cfg=network/crosstraffic:no"],
            {"WEFT_FABRIC": "tofino-4", "LD_PRELOAD": library, FLOWS: flows},
        )
        assert result.status == 0, result.stderr
        return {(one, how): float(at) for one, how, at in map(str.split, result.lines)}

    together, apart = run("together"), run("apart")
    assert (together.pop(("all", "flows")), apart.pop(("all", "flows"))) == (1, 10)
    assert together == pytest.approx(apart, rel=ROUNDING)
    assert len([one for one, how in together if how == "arrived"]) == {"nothing": 11}.get(what, 7)
