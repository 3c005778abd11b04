"""Tables for people, made from a record."""

import sys
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from weft.record import CollectivePart, Record
from weft.units import format_seconds, format_size, plural

_PLAIN_WIDTH = 1000
_REASONS = {
    "datatype": "the switch does not compute with this datatype",
    "op": "the switch does not compute this operation",
    "collective": "the switch does not do this collective",
    "policy": "offloading is switched off",
    "one host": "all ranks of the communicator are on one host",
    "one rank": "the communicator has one rank",
    "zero count": "there are no data",
    "no free channel": "the switch has no free channel",
    "communicator not on the tree": "the communicator has hosts outside the reduction tree",
}


def console(*, stderr: bool = False) -> Console:
    """Return a console; off the terminal its lines are as long as they need to be."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False)


def new_table(title: str, on: Console) -> Table:
    """Return a table that is ruled on a terminal and plain elsewhere."""
    box = SIMPLE_HEAD if on.is_terminal else None
    return Table(
        title=title or None, title_justify="left", title_style="bold", box=box, pad_edge=False
    )


def print_run(record: Record, on: Console) -> None:
    """Print what was offloaded, what was not and why, and the times, where the run got that far."""
    if record.failed and record.simulated_time_s == 0:
        return
    if record.collectives:
        on.print(_collectives(record.collectives, on))
    if not any(row.offloaded for row in record.collectives):
        on.print(why_nothing(record), soft_wrap=True)
    on.print(_summary(record), soft_wrap=True)


def _collectives(rows: Iterable[CollectivePart], on: Console) -> Table:
    table = new_table("", on)
    for name in ("collective", "ranks", "type, op", "path", "why"):
        table.add_column(name, justify="right" if name == "ranks" else "left", overflow="fold")
    for name in ("calls", "bytes", "mean us", "max us"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in sorted(rows, key=lambda row: -row.total_time_s):
        table.add_row(*_cells(row))
    return table


def _cells(row: CollectivePart) -> list[str]:
    kind = ", ".join(filter(None, (row.datatype, row.op)))
    path = f"offloaded, {row.path}" if row.offloaded else f"fallback, {row.algorithm or 'host'}"
    times = (f"{time * 1e6:.3f}" for time in (row.mean_time_s, row.max_time_s))
    return [
        row.collective,
        str(row.communicator_size),
        kind,
        path,
        row.reason or "-",
        str(row.calls),
        format_size(row.bytes),
        *times,
    ]


def why_nothing(record: Record) -> str:
    """Say in one line why no collective was offloaded."""
    if not record.collectives:
        return "Nothing was offloaded: the program made no call that a switch could take."
    reasons: dict[str, int] = {}
    for row in record.collectives:
        reasons[row.reason] = reasons.get(row.reason, 0) + row.calls
    parts = (f"{explain(reason)} ({plural(calls, 'call')})" for reason, calls in reasons.items())
    return f"Nothing was offloaded: {'; '.join(parts)}."


def explain(reason: str) -> str:
    """Return a reason in a few more words."""
    return _REASONS.get(reason, reason or "no reason was given")


def _summary(record: Record) -> str:
    ranks, hosts = plural(record.ranks, "rank"), plural(record.hosts_used, "host")
    simulated, wall = (
        format_seconds(time_s) for time_s in (record.simulated_time_s, record.wall_time_s)
    )
    where = f"{ranks} on {hosts} of {record.fabric.name}"
    return f"{where}: simulated time {simulated}, wall time {wall}"
