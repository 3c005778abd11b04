# SPDX-License-Identifier: LGPL-2.1-only
"""Gain from offloading: runs a program with the requested offload and without offload.

    comparison = compare(prepare(request))
    comparison.speed_up                 # simulated time without offload / time with it
    comparison.speed_up_over_best       # likewise, with the hosts' fastest algorithms

The second run differs from the first only in `--offload off`, the third additionally in `--fallback
best`. The first run uses weft's standard streams; output of later runs is discarded, except for
errors of a run that does not complete. If standard input is a file, all runs read it from its
current position. Any other input is empty in all runs, since data that the first run reads from a
pipe or terminal would be missing in later runs.
"""

import array
import fcntl
import os
import stat
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from weft.base.errors import WeftError, named
from weft.base.process import Streams, work_directory
from weft.benchmarks.measured import Machine, machine_of
from weft.runs import launch, offload_modes
from weft.runs.faults.changes import of_fabric
from weft.runs.launch import PreparedRun
from weft.runs.record import Record
from weft.runs.site import load_fabric
from weft.runs.timeline import join_timelines
from weft.study.comparison import intervals as compare_intervals
from weft.study.comparison.comparison import Comparison
from weft.study.comparison.fault_budget import add_budget
from weft.study.comparison.fault_budget import check as check_budget

BEST = "best"
"""Value of `--fallback` that selects the fastest algorithm for each call."""


def check(plan: PreparedRun) -> None:
    """Check that the plan offloads calls."""
    if plan.request.collectives.offload == "off":
        raise WeftError(
            f"{named('compare')}:"
            f" found together with {named('offload')} off, which is the baseline of the"
            f" comparison; name an offload mechanism: {offload_modes.listed(offload_modes.WAYS)}"
        )


def has_best(plan: PreparedRun) -> bool:
    """Return True if a run with the hosts' fastest algorithms is possible and not redundant."""
    named = launch.fallback_of(plan.request).split(",")
    return plan.request.placement.platform is None and BEST not in named


def number_of_runs(
    plan: PreparedRun, *, intervals: bool, best: bool = True, budget: bool = False
) -> int:
    """Return how many runs a comparison has if all complete."""
    ends = compare_intervals.number_of_runs(plan) if intervals else 0
    return (2 + (best and has_best(plan))) * (1 + budget) + ends


Runner = Callable[[PreparedRun], Record]


def compare(
    plan: PreparedRun,
    between: Callable[[Record], None] = lambda _record: None,
    runner: Runner | None = None,
    *,
    intervals: bool = True,
    best: bool = True,
    budget: bool = False,
) -> Comparison:
    """Run the program up to three times; `between` receives each record but the last.

    After a run that does not complete, no other run follows, as it could not be compared. `runner`
    replaces weft's own launch and is then responsible for streams. If the fabric has calibration
    intervals, the first two runs are repeated at their ends, unless `intervals` is False. Without
    `best`, the run with the hosts' fastest algorithms is skipped. With `budget`, each run is
    repeated without faults, and runs that faults end do not end the comparison.
    """
    check(plan)
    if budget:
        check_budget(plan)
    plan = replace(plan, request=plan.request.changed(isolated=True))
    values = compare_intervals.ends(plan) if intervals else []
    with work_directory() as work, input_of_all() as (stdin, rewind):
        first, second = _with_timeline(plan, work / "with"), _with_timeline(plan, work / "without")
        second = replace(second, request=second.request.changed(offload="off"))
        third = replace(second, request=second.request.changed(fallback=BEST, timeline=None))

        def unheard(one: PreparedRun) -> tuple[Record, str]:
            rewind()
            return (runner(one), "") if runner else _unheard(one, stdin, work / "errors")

        def budgeted(record: Record, one: PreparedRun) -> Record:
            return add_budget(record, one, lambda other: unheard(other)[0]) if budget else record

        def goes_on(record: Record | None) -> bool:
            return record is not None and (record.ended or (budget and record.ended_by_fault))

        offloaded = runner(first) if runner else launch.run(first, streams=Streams(stdin=stdin))
        comparison = Comparison(budgeted(offloaded, first), None)
        if goes_on(comparison.offloaded):
            between(comparison.offloaded)
            hosts, errors = unheard(second)
            comparison = Comparison(comparison.offloaded, budgeted(hosts, second), errors)
        if comparison.hosts and goes_on(comparison.hosts) and best and has_best(plan):
            between(comparison.hosts)
            fastest, errors = unheard(third)
            comparison = replace(comparison, best=budgeted(fastest, third), errors=errors)
        if comparison.speed_up and values:
            found = compare_intervals.interval(
                comparison.speed_up, values, lambda one: unheard(one)[0]
            )
            comparison = replace(comparison, speed_up_interval=found)
        comparison = replace(comparison, machine=_machine(plan))
        if plan.request.outputs.timeline is not None:
            ran = (first.request, second.request)[: 1 if comparison.hosts is None else 2]
            parts = [(f"--offload {one.collectives.offload}", one.outputs.timeline) for one in ran]
            join_timelines(
                [(name, path) for name, path in parts if path], plan.request.outputs.timeline
            )
    return comparison


def _machine(plan: PreparedRun) -> Machine | None:
    """Return the fabric's devices, which identify its measurements; None on SimGrid platforms."""
    placement = plan.request.placement
    if placement.fabric is None:
        return None
    return machine_of(load_fabric(placement.fabric, of_fabric(placement.changes)))


def _with_timeline(plan: PreparedRun, path: Path) -> PreparedRun:
    """Return a plan that writes its part of the timeline to `path`, if a timeline is requested."""
    wanted = None if plan.request.outputs.timeline is None else path
    return replace(plan, request=plan.request.changed(timeline=wanted))


def _unheard(plan: PreparedRun, stdin: int | None, errors: Path) -> tuple[Record, str]:
    """Run with discarded output; return standard error, which may explain a failure."""
    with errors.open("wb") as file:
        streams = Streams(stdin, stdout=subprocess.DEVNULL, stderr=file.fileno())
        try:
            record = launch.run(plan, streams=streams)
        except WeftError as error:
            if str(error):
                raise
            raise WeftError(_last(errors).removeprefix("weft: "), error.exit_status) from None
    return record, errors.read_text(encoding="utf-8", errors="replace")


def _last(errors: Path) -> str:
    return errors.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]


@contextmanager
def input_of_all() -> Iterator[tuple[int | None, Callable[[], object]]]:
    """Yield the standard input for all runs, and a function that rewinds it."""
    if _kind_of_input(stat.S_ISREG):
        start = os.lseek(0, 0, os.SEEK_CUR)
        yield None, lambda: os.lseek(0, start, os.SEEK_SET)
    else:
        yield subprocess.DEVNULL, lambda: None


def _kind_of_input(is_kind: Callable[[int], bool]) -> bool:
    try:
        return is_kind(os.fstat(0).st_mode)
    except OSError:  # standard input is closed
        return False


def input_was_ignored() -> bool:
    """Return True if a pipe contains data that the runs did not receive."""
    return _kind_of_input(stat.S_ISFIFO) and _readable()


def _readable() -> bool:
    waiting = array.array("i", [0])
    fcntl.ioctl(0, termios.FIONREAD, waiting)
    return waiting[0] > 0
