# SPDX-License-Identifier: LGPL-2.1-only
"""Presentation of a comparison: a table of the collectives and a sentence about the run."""

from collections.abc import Sequence
from html import escape

from rich.console import Console

from weft.base.tables import fitting, microseconds, print_table, print_title, printed
from weft.base.units import format_ratio, format_seconds, format_size
from weft.benchmarks.certainty import gained, not_measured
from weft.runs.html import record_as_html, table
from weft.runs.profile import kind_name, takes_time
from weft.runs.record import Record
from weft.runs.record_data import FaultsPart
from weft.runs.tables import (
    doubtful_values,
    losses,
    place,
    print_budgets,
    print_events,
    print_run,
    progress,
    reactions,
    reasons,
    type_and_op,
)
from weft.study.comparison.gains import ComparedRuns, Gain, Share

_DISPENSABLE = ("bytes", "ranks", "reason", "host algorithm", "type, op", "calls", "hosts(us)")
"""Columns that narrow terminals omit, in this order; 80 columns suffice for all times."""
_OVER_BEST = "over best"
_LEFT = ("collective", "type, op", "path", "reason", "host algorithm")


def print_comparison(comparison: ComparedRuns, on: Console) -> None:
    """Print a line per kind of call, the fallbacks with reasons, and the gain of the whole run."""
    ours, theirs = comparison.offloaded, comparison.hosts
    if theirs is None or not comparison.complete:
        return
    if gains := comparison.gains():
        print_title(f"Time per rank in all calls, {_sides(ours)}", on)
        print_table(fitting(_rows(comparison, theirs), _DISPENSABLE, _LEFT, on), on)
    why = dict.fromkeys((*reasons(ours), *progress(theirs, messages=not ours.rendezvous)))
    if ours.faults and theirs.faults:
        _print_faults(comparison, ours.faults, on)
    values = doubtful_values(ours, theirs)
    notes = (*_beside(gains), *_doubts(ours, gains), *why, *losses(ours), *values)
    for line in notes:
        on.print(line, soft_wrap=True)
    for line in gain_in_all(comparison):
        on.print(line)


def print_incomplete(comparison: ComparedRuns, on: Console) -> None:
    """Print the first run of a comparison in which a run did not complete, and all budgets."""
    print_run(comparison.offloaded, on)
    others = [one for one in _faults(comparison)[1:] if one[1].budget]
    if others:
        _print_budgets(_faults(comparison), on)


def _faults(comparison: ComparedRuns) -> list[tuple[str, FaultsPart]]:
    """Return the faults of each run, with the options that distinguish it."""
    runs = [
        (f"--offload {comparison.offloaded.offload}", comparison.offloaded.faults),
        ("--offload off", comparison.hosts.faults if comparison.hosts else None),
        ("--fallback best", comparison.best.faults if comparison.best else None),
    ]
    return [(name, one) for name, one in runs if one]


def _print_budgets(found: Sequence[tuple[str, FaultsPart]], on: Console) -> None:
    """Print the budget of each run, if requested."""
    if budgets := [(name, one, one.budget) for name, one in found if one.budget]:
        print_budgets("run", budgets, on)


def _print_faults(comparison: ComparedRuns, faults: FaultsPart, on: Console) -> None:
    """Print the faults that occurred in the longest run, and their cost in each run."""
    found = _faults(comparison)
    longest = max((one for _, one in found), key=lambda one: len(one.events), default=faults)
    if print_events(longest, on):
        rows = [{"run": name, **reactions(one)} for name, one in found]
        heads = {name: "" for row in rows for name in row}
        print_table(fitting([heads | row for row in rows], (), ("run",), on), on)
    _print_budgets(found, on)


def _sides(record: Record) -> str:
    return f"--offload {record.offload} and off"


def _cells(gain: Gain) -> dict[str, str]:
    same = gain.calls == gain.calls_without
    with_us, without_us = (microseconds(time) for time in (gain.time_s, gain.time_without_s))
    if not _blocks(gain):
        with_us, without_us = (f"({time})" if time else "" for time in (with_us, without_us))
    return {
        "collective": gain.collective,
        "ranks": str(gain.communicator_size),
        "type, op": type_and_op(gain.datatype, gain.op),
        "path": _listed(gain.paths),
        "reason": _listed(gain.reasons),
        "calls": str(gain.calls) if same else f"{gain.calls}/{gain.calls_without}",
        "bytes": format_size(gain.bytes),
        "offload(us)": with_us,
        "host algorithm": _listed(gain.algorithms),
        "hosts(us)": without_us,
        "speed-up": format_ratio(gain.speed_up),
        _OVER_BEST: format_ratio(gain.speed_up_over_best),
    }


def _blocks(gain: Gain) -> bool:
    """Return True if these calls block, so that their time is spent in them."""
    return not gain.collective.startswith("i")


def _beside(gains: Sequence[Gain]) -> list[str]:
    """Return a note on the rows that do not count towards the time of the whole run."""
    names = ", ".join(dict.fromkeys(gain.collective for gain in gains if not _blocks(gain)))
    if not names:
        return []
    return [
        f"(in parentheses) {names}: from the call to its completion, during which the rank"
        " continues; the whole run is the sum of the other rows"
    ]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def _rows(comparison: ComparedRuns, theirs: Record) -> list[dict[str, str]]:
    """Return rows for the collectives, for other time, and for the whole run."""
    ours = comparison.offloaded
    best = comparison.best if comparison.best is not None and comparison.best.ended else None
    whole = Share(
        kind="whole run",
        time_s=ours.simulated_time_s,
        time_without_s=theirs.simulated_time_s,
        time_best_s=best.simulated_time_s if best else None,
    )
    others = [
        share
        for share in comparison.shares()
        if share.kind != "collectives" and takes_time(max(share.time_s, share.time_without_s))
    ]
    collectives = [_cells(gain) for gain in comparison.gains()]
    empty = dict.fromkeys(collectives[0], "")
    rows = [*collectives, *(empty | _share_cells(share) for share in (*others, whole))]
    return rows if best else [_without(row, _OVER_BEST) for row in rows]


def _without(row: dict[str, str], column: str) -> dict[str, str]:
    return {name: text for name, text in row.items() if name != column}


def _share_cells(share: Share) -> dict[str, str]:
    return {
        "collective": kind_name(share.kind),
        "offload(us)": microseconds(share.time_s),
        "hosts(us)": microseconds(share.time_without_s),
        "speed-up": format_ratio(share.speed_up),
        _OVER_BEST: format_ratio(share.speed_up_over_best),
    }


def _doubts(record: Record, gains: Sequence[Gain]) -> list[str]:
    """Return caveats about the numbers."""
    doubts = []
    if unseen := [gain.collective for gain in gains if gain.calls and gain.time_s is None]:
        doubts.append(_unseen(unseen, record.offload))
    if unseen := [g.collective for g in gains if g.calls_without and g.time_without_s is None]:
        doubts.append(_unseen(unseen, "off"))
    if any(gain.calls != gain.calls_without for gain in gains):
        doubts.append(
            "calls with/without offloading: the program makes different calls in the two runs,"
            " because it"
            " depends on time"
        )
    if record.host_speed:
        doubts.append(
            "--host-speed: computation is measured in each run and includes the noise of this"
            " machine"
        )
    return doubts


def _unseen(collectives: Sequence[str], offload: str) -> str:
    names = ", ".join(dict.fromkeys(collectives))
    return f"{names} with --offload {offload}: weft does not see when these calls complete"


def gain_in_all(comparison: ComparedRuns) -> list[str]:
    """Return the gain of the whole run in a line, then its baselines, and what they compare."""
    ours, theirs, best = comparison.offloaded, comparison.hosts, comparison.best
    assert theirs is not None
    sure, over_best = comparison.certainty, comparison.certainty_over_best
    times = f"{format_seconds(theirs.simulated_time_s)} ({ours.fallback})"
    lines = [gained(comparison.speed_up, sure)]
    if best is not None and comparison.speed_up_over_best is not None:
        times += f", {format_seconds(best.simulated_time_s)} ({best.fallback})"
        said = gained(comparison.speed_up_over_best, over_best)
        lines.append(f"over --fallback {best.fallback}: {said}")
    beyond = not_measured(text for one in (sure, over_best) if one for text in one.beyond)
    return [
        *lines,
        place(ours),
        f"simulated time {format_seconds(ours.simulated_time_s)} with {ours.offload}; without,"
        f" {times}",
        *([beyond] if beyond else []),
    ]


def comparison_as_text(comparison: ComparedRuns) -> str:
    """Return the output of `weft run --compare`, or the known results if a run did not complete."""
    if comparison.complete:
        return "\n".join(printed(lambda on: print_comparison(comparison, on)))
    failed = [one for one in (comparison.hosts,) if one is not None and one.failed]
    lines = printed(lambda on: print_incomplete(comparison, on))
    messages = [one.outcome.message for one in (comparison.offloaded, *failed) if one.failed]
    return "\n".join([*lines, *messages])


def comparison_as_html(comparison: ComparedRuns) -> str:
    """Return the view for notebooks: the sentence, and the same rows as in the terminal."""
    if comparison.hosts is None or not comparison.complete:
        return record_as_html(comparison.offloaded)
    rows = table(_rows(comparison, comparison.hosts)) if comparison.gains() else ""
    values = doubtful_values(comparison.offloaded, comparison.hosts)
    notes = "".join(f"<p>{escape(line)}</p>" for line in values)
    gain, *others = map(escape, gain_in_all(comparison))
    return f"<div><strong>{gain}</strong><br>{'<br>'.join(others)}{rows}{notes}</div>"
