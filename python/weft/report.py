"""Tables for people, made from a record."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from weft.record import CollectivePart, Record
from weft.units import format_seconds, format_size, plural

_PLAIN_WIDTH = 1000
_DISPENSABLE = ("bytes", "max us", "ranks")
_REASONS = {
    "datatype": "the switch does not compute with this datatype",
    "op": "the switch does not compute this operation",
    "collective": "the switch does not do this collective",
    "policy": "the fabric's [[policy]] leaves it to the hosts",
    "one host": "all ranks of the communicator are on one host",
    "one rank": "the communicator has one rank",
    "zero count": "there are no data",
    "no free channel": "the switch has no free channel",
    "no NIC memory": "the NIC's memory is full of other communicators' multicast state",
    "host is faster": "the hosts are predicted to be faster (--offload auto)",
    "privatization": "ranks cannot reach each other's memory (smpi/privatization:mmap)",
    "communicator not on the tree": "its hosts reach no common smart switch",
    "tree gains nothing": "some link would carry every rank's contribution all the same",
}


def console(*, stderr: bool = False) -> Console:
    """Return a console; off the terminal its lines are as long as they need to be."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False)


def print_title(title: str, on: Console) -> None:
    """Print the line above a table."""
    on.print(title, style="bold", soft_wrap=True)


def new_table(names: Sequence[str], left: Sequence[str] = ()) -> Table:
    """Return a table; columns hold numbers and stand right, but for those in `left`."""
    table = Table(box=None, pad_edge=False, header_style="underline")
    for name in names:
        if name in left:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def print_run(record: Record, on: Console) -> None:
    """Print what was offloaded and what was not, and the times, where the run got that far."""
    if record.failed and record.simulated_time_s == 0:
        return
    if record.collectives:
        on.print(_collectives(record.collectives, on))
    for line in (*_reasons(record), *_losses(record)):
        on.print(line, soft_wrap=True)
    on.print(_summary(record), soft_wrap=True)


def _collectives(rows: Sequence[CollectivePart], on: Console) -> Table:
    """Make the table; a narrow terminal gets it without its least important columns."""
    ordered = sorted(rows, key=lambda row: -(row.total_time_s or 0))
    cells = [_cells(row) for row in ordered]
    for name in _DISPENSABLE:
        if _width(_table_of(cells), on) <= on.width:
            break
        for row in cells:
            del row[name]
    return _table_of(cells)


def _width(table: Table, on: Console) -> int:
    unlimited = on.options.update(max_width=_PLAIN_WIDTH)
    return table.__rich_measure__(on, unlimited).maximum


def _table_of(rows: Sequence[dict[str, str]]) -> Table:
    table = new_table(list(rows[0]), left=("collective", "type, op", "path", "why"))
    for row in rows:
        table.add_row(*row.values())
    return table


def _cells(row: CollectivePart) -> dict[str, str]:
    kind = (name.removeprefix("MPI_") for name in (row.datatype, row.op) if name)
    return {
        "collective": row.collective,
        "ranks": str(row.communicator_size),
        "type, op": ", ".join(kind),
        "path": row.path if row.offloaded else row.algorithm or "host",
        "why": "offloaded" if row.offloaded else row.reason,
        "calls": str(row.calls),
        "bytes": format_size(row.bytes),
        "mean us": _microseconds(row.mean_time_s),
        "max us": _microseconds(row.max_time_s),
    }


def _microseconds(time_s: float | None) -> str:
    return "" if time_s is None else f"{time_s * 1e6:.3f}"


def _reasons(record: Record) -> list[str]:
    """Return the explanation of each word in the column `why`."""
    if not any(row.offloaded for row in record.collectives):
        return [why_nothing(record)]
    words = dict.fromkeys(row.reason for row in record.collectives if not row.offloaded)
    return [f"why {word}: {explain(word, record)}" for word in words]


def why_nothing(record: Record) -> str:
    """Say in one line why no collective was offloaded."""
    if not record.collectives:
        return "Nothing was offloaded: the program made no call that a switch could take."
    reasons: dict[str, int] = {}
    for row in record.collectives:
        reasons[row.reason] = reasons.get(row.reason, 0) + row.calls
    parts = (
        f"{explain(reason, record)} ({plural(calls, 'call')})" for reason, calls in reasons.items()
    )
    return f"Nothing was offloaded: {'; '.join(parts)}."


def explain(reason: str, record: Record) -> str:
    """Return a reason in a few more words."""
    if reason == "policy" and record.offload == "off":
        return "offloading is switched off"
    return _REASONS.get(reason, reason or "no reason was given")


def _losses(record: Record) -> list[str]:
    """Return what was lost of multicasts, by collective, where anything was."""
    return [
        f"{row.collective}: {plural(row.drops, 'chunk')} did not arrive; ranks fetched"
        f" {format_size(round(row.fetched_bytes))} from their neighbours"
        for row in record.multicast
        if row.drops > 0
    ]


def _summary(record: Record) -> str:
    ranks, hosts = plural(record.ranks, "rank"), plural(record.hosts_used, "host")
    simulated, wall = (
        format_seconds(time_s) for time_s in (record.simulated_time_s, record.wall_time_s)
    )
    where = f"{ranks} on {hosts} of {record.fabric.name}"
    return f"{where}: simulated time {simulated}, wall time {wall}"
