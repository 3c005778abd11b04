# SPDX-License-Identifier: LGPL-2.1-only
"""Waiting for late ranks, as a part of the time of collectives in the record."""

from typing import Any

import pytest

import weft
from tests.support.jobs import job, part
from tests.support.simulated import Program, Run

LATE_US = 500
LATE_S = LATE_US * 1e-6
TOLERANCE = 1e-9
OFF = ("--offload", "off")
WAYS = {
    "stream": (),
    "message": ("--offload", "message"),
    "hosts": OFF,
    "smpi": (*OFF, "--fallback", "smpi:ompi"),
}
NEEDS_ALL = ("allreduce", "barrier", "allgather", "alltoall", "iallreduce", "persistent", "between")
"""Calls that no rank leaves before all have entered."""
NOT_BY_SMPI = ("iallreduce", "persistent", "between")
"""SMPI's requests have no times, and it has no collectives of intercommunicators."""
ROOTED = ("bcast", "reduce", "gather", "scatter", "scan", "neighbor_allgather")


def late(run: Run, collective: str, *options: str, **more: Any) -> tuple[dict[str, Any], Any]:
    """Return the row of a call that the last rank enters late, and when ranks entered and left."""
    result = run("late.c", collective, "4096", str(LATE_US), options=options, **more)
    spans = [(float(one), float(other)) for _, one, other in map(str.split, result.lines)]
    return result.row(), spans


@pytest.mark.parametrize(
    ("way", "collective"),
    [
        (way, collective)
        for way in WAYS
        for collective in NEEDS_ALL
        if way != "smpi" or collective not in NOT_BY_SMPI
    ],
)
def test_ranks_wait_until_the_last_one_enters(run: Run, way: str, collective: str) -> None:
    row, spans = late(run, collective, *WAYS[way])
    last = max(entered for entered, _ in spans)
    assert min(left for _, left in spans) > last
    assert row["total_wait_s"] == pytest.approx(
        sum(last - entered for entered, _ in spans), rel=TOLERANCE
    )
    if collective != "between":  # whose creation does not end everywhere at once
        assert row["total_wait_s"] == pytest.approx(3 * LATE_S, rel=TOLERANCE)


@pytest.mark.parametrize("collective", ["bcast", "allgather"])
def test_ranks_wait_in_the_multicast_protocol(run: Run, collective: str) -> None:
    row, spans = late(run, collective, "--offload", "multicast")
    last = max(entered for entered, _ in spans)
    assert row["path"] == "multicast"
    assert row["total_wait_s"] == pytest.approx(
        sum(min(left, last) - entered for entered, left in spans), rel=TOLERANCE
    )


@pytest.mark.parametrize("collective", ROOTED)
@pytest.mark.parametrize("way", ["stream", "hosts", "smpi"])
def test_a_rank_that_leaves_early_waits_for_its_whole_stay(
    run: Run, way: str, collective: str
) -> None:
    row, spans = late(run, collective, *WAYS[way])
    last = max(entered for entered, _ in spans)
    assert row["total_wait_s"] == pytest.approx(
        sum(min(left, last) - entered for entered, left in spans), rel=TOLERANCE
    )
    assert row["total_time_s"] == pytest.approx(
        sum(left - entered for entered, left in spans), rel=TOLERANCE
    )
    assert row["total_wait_s"] <= row["total_time_s"]


@pytest.mark.parametrize("way", ["stream", "hosts"])
def test_time_without_the_wait_is_that_of_punctual_ranks(run: Run, way: str) -> None:
    row, _ = late(run, "barrier" if way == "hosts" else "allreduce", *WAYS[way])
    punctual = run("late.c", row["collective"], "4096", "0", options=WAYS[way]).row()
    assert punctual["total_wait_s"] == 0
    assert row["total_time_s"] > punctual["total_time_s"] + 2 * LATE_S
    if way == "stream":
        rest = row["total_time_s"] - row["total_wait_s"]
        assert rest == pytest.approx(punctual["total_time_s"], rel=TOLERANCE)


def test_a_rank_alone_waits_for_none(run: Run) -> None:
    row = run("late.c", "allreduce", "4096", str(LATE_US), ranks=1).row()
    assert row["total_wait_s"] == 0


def test_each_job_has_its_own_waits(program: Program) -> None:
    late_us = {"first": 100, "second": 300}
    source = str(program("late.c"))
    record = weft.run_jobs(
        [job(name, source, "allreduce", 4096, time_us) for name, time_us in late_us.items()],
        fabric="tofino-16",
    )
    for name, time_us in late_us.items():
        (row,) = part(record, name).collectives
        assert row.total_wait_s == pytest.approx(3e-6 * time_us, rel=TOLERANCE)
        assert f"job {name}: allreduce: of " in str(record)
    assert record.collectives[0].total_wait_s == pytest.approx(3 * 400e-6, rel=TOLERANCE)


def test_waits_of_smpis_requests_are_unknown(run: Run) -> None:
    row, _ = late(run, "iallreduce", *WAYS["smpi"])
    assert (row["total_time_s"], row["total_wait_s"]) == (None, None)


def test_the_table_names_collectives_in_which_ranks_wait(run: Run) -> None:
    result = run("late.c", "allreduce", "4096", str(LATE_US))
    each_us = result.row()["total_time_s"] / 4 * 1e6
    assert (
        f"allreduce: of {each_us:.3f} us per call, 375.000 us pass before the last rank enters"
    ) in result.stderr
    assert "before the last rank" not in run("late.c", "allreduce", "4096", "0").stderr
