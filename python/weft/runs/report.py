# SPDX-License-Identifier: LGPL-2.1-only
"""Text tables of a record."""

import io
import sys
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from weft.base.units import format_seconds, format_size, plural
from weft.runs.profile import profile_rows
from weft.runs.record_data import CollectivePart, FilePart, JobPart, MulticastPart, RecordData

_PLAIN_WIDTH = 1000
_USUAL_WIDTH = 80
_MOST_FILES = 10
_DISPENSABLE = ("bytes", "max(us)", "ranks")
REASONS = {
    "datatype": "the switch does not support this datatype",
    "op": "the switch does not support this operation",
    "collective": "the switch does not support this collective",
    "policy": "the fabric's [[policy]] selects the hosts",
    "one host": "all ranks of the communicator are on one host",
    "one rank": "the communicator has one rank",
    "zero count": "the call moves no data",
    "no free channel": "the switch has no free channel",
    "no NIC memory": "the multicast state of this call does not fit into the NIC's memory",
    "host is faster": "the hosts are predicted to be faster (--offload auto)",
    "privatization": "ranks cannot reach each other's memory (smpi/privatization:mmap)",
    "communicator not on the tree": "no smart switch connects all hosts of the communicator",
    "tree gains nothing": "the tree does not reduce traffic: one link would still carry all"
    " contributions",
}


def console(*, stderr: bool = False) -> Console:
    """Return a console; outside a terminal, lines are not limited in width."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    made = Console(file=stream, width=width, highlight=False, markup=False)
    if made.width < 1:  # COLUMNS=0, with which rich would print nothing
        made.width = _USUAL_WIDTH
    return made


def print_title(title: str, on: Console) -> None:
    """Print the line above a table."""
    on.print(title, style="bold", soft_wrap=True)


def new_table(names: Sequence[str], left: Sequence[str] = ()) -> Table:
    """Return a table; columns are right-aligned numbers, except for those in `left`."""
    table = Table(box=None, pad_edge=False, header_style="underline")
    for name in names:
        if name in left:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def print_table(table: Table, on: Console) -> None:
    """Print a table; if a terminal is too narrow for its numbers, print one line per cell."""
    if _least_width(table) <= on.width:
        on.print(table)
        return
    names = [str(column.header).strip() for column in table.columns]
    indent = 2 if len(names) > 1 else 0
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        for number, (name, cell) in enumerate(zip(names, cells, strict=True)):
            line = f"{name}: {cell}" if name else str(cell)
            if cell:
                on.print(" " * (indent if number else 0) + line, soft_wrap=True)


def _least_width(table: Table) -> int:
    """Return the smallest width at which rich neither truncates numbers nor splits words."""
    gaps = (table.padding[1] + table.padding[3]) * (len(table.columns) - 1)
    return gaps + sum(_least_column(column) for column in table.columns)


def _least_column(column: Column) -> int:
    texts = [str(column.header), *map(str, column.cells)]
    parts = texts if column.no_wrap else [word for text in texts for word in text.split()]
    return max(map(cell_len, parts), default=0)


def fitting(
    rows: Sequence[dict[str, str]], dispensable: Sequence[str], left: Sequence[str], on: Console
) -> Table:
    """Build a table of rows by column, dropping dispensable columns in order on a narrow terminal.

    If even the rest does not fit, all columns are kept and printed as one line per cell.
    """
    whole = table = table_of(rows, left)
    for name in dispensable:
        if _width(table, on) <= on.width:
            return table
        rows = [{key: cell for key, cell in row.items() if key != name} for row in rows]
        table = table_of(rows, left)
    return table if _least_width(table) <= on.width else whole


def print_profile(record: RecordData, on: Console) -> None:
    """Print where the ranks' time went."""
    if rows := profile_rows(record):
        print_table(fitting(rows, ("min(us)",), ("time per rank",), on), on)


def finalize_warning(record: RecordData) -> list[str]:
    """Return a warning about ranks that ended without MPI_Finalize, which MPI libraries report."""
    calls = {one.call: one.calls for one in record.mpi_calls}
    missing = calls.get("MPI_Init", 0) - calls.get("MPI_Finalize", 0)
    if record.outcome.kind != "completed" or missing <= 0:
        return []
    return [f"warning: {plural(missing, 'rank')} ended without MPI_Finalize, which MPI requires"]


def _width(table: Table, on: Console) -> int:
    unlimited = on.options.update(max_width=_PLAIN_WIDTH)
    return table.__rich_measure__(on, unlimited).maximum


def table_of(rows: Sequence[dict[str, str]], left: Sequence[str]) -> Table:
    """Build a table of rows by column."""
    table = new_table(list(rows[0]), left)
    for row in rows:
        table.add_row(*row.values())
    return table


def as_text(record: RecordData) -> str:
    """Return the printed form of a run, with its outcome if it failed."""
    lines = printed(lambda on: print_run(record, on))
    return "\n".join([*lines, *([record.outcome.message] if record.failed else [])])


def printed(write: Callable[[Console], None]) -> list[str]:
    """Return the lines written to a console outside a terminal."""
    on = Console(file=io.StringIO(), width=_PLAIN_WIDTH, highlight=False, markup=False)
    write(on)
    file = on.file
    assert isinstance(file, io.StringIO)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def print_run(record: RecordData, on: Console) -> None:
    """Print collectives, reasons and times, if the run got that far."""
    if record.failed and record.simulated_time_s == 0 and not record.jobs:
        return
    if record.jobs:
        _print_jobs(record, record.jobs, on)
    elif record.collectives:
        print_table(_collectives(record.collectives, on), on)
    for line in (*reasons(record), *losses(record), *unmeasured(record)):
        on.print(line, soft_wrap=True)
    if record.files:
        print_files(record.files, on)
    print_profile(record, on)
    for line in finalize_warning(record):
        on.print(line, soft_wrap=True)
    on.print(f"{summary(record)}, wall time {format_seconds(record.wall_time_s)}", soft_wrap=True)


def print_files(files: Sequence[FilePart], on: Console) -> None:
    """Print the files with most bytes."""
    ordered = sorted(files, key=lambda file: -(file.bytes_read + file.bytes_written))
    rows = [
        {
            "file": file.name,
            "opens": str(file.opens),
            "read": format_size(file.bytes_read),
            "written": format_size(file.bytes_written),
            "mean(us)": microseconds(file.time_s / max(1, file.reads + file.writes)),
        }
        for file in ordered[:_MOST_FILES]
    ]
    print_table(fitting(rows, ("opens",), ("file",), on), on)
    if len(files) > _MOST_FILES:
        on.print(f"and {plural(len(files) - _MOST_FILES, 'file')} with fewer bytes")


def _print_jobs(record: RecordData, jobs: Sequence[JobPart], on: Console) -> None:
    """Print a table of the jobs, one of their traffic, and one of each job's collectives."""
    rows = [
        {
            "job": job.name,
            "ranks": str(job.ranks),
            "hosts": str(job.hosts_used),
            "start(us)": microseconds(job.start_s),
            "end(us)": microseconds(job.end_s),
            "outcome": job.outcome.kind,
            "status": str(job.exit_status),
        }
        for job in jobs
    ]
    print_table(fitting(rows, ("status", "hosts"), ("job", "outcome"), on), on)
    for job in jobs:
        if job.failed:
            on.print(f"job {job.name}: {job.outcome.message}", soft_wrap=True)
    if any(job.links or job.messages for job in jobs):
        print_table(_traffic(record, jobs, on), on)
    for job in jobs:
        if job.collectives:
            print_title(f"job {job.name}", on)
            print_table(_collectives(job.collectives, on), on)


def _traffic(record: RecordData, jobs: Sequence[JobPart], on: Console) -> Table:
    """Return what each job sent, and the most utilised link that it shared with others."""
    used = {link.name: link.utilisation for link in record.links}
    rows = []
    for job in jobs:
        shared = [link for link in job.links if link.share < 1]
        busiest = max(shared, key=lambda link: used.get(link.name, 0), default=None)
        rows.append(
            {
                "job": job.name,
                "messages": str(job.messages),
                "sent": format_size(job.message_bytes),
                "offloaded": str(job.offloaded_calls),
                "fallbacks": str(job.fallback_calls),
                "links": str(len(job.links)),
                "shared": str(len(shared)),
                "busiest shared link": busiest.name if busiest else "",
                "utilised": percent(used.get(busiest.name, 0)) if busiest else "",
                "own": percent(busiest.share) if busiest else "",
            }
        )
    return fitting(rows, ("messages", "links", "offloaded"), ("job", "busiest shared link"), on)


def percent(part: float) -> str:
    """Return a part of a whole as in tables."""
    return f"{part:.1%}"


def _collectives(rows: Sequence[CollectivePart], on: Console) -> Table:
    ordered = sorted(rows, key=lambda row: -(row.total_time_s or 0))
    cells = [cells_of(row) for row in ordered]
    return fitting(cells, _DISPENSABLE, ("collective", "type, op", "path", "reason"), on)


def cells_of(row: CollectivePart) -> dict[str, str]:
    """Return a row of the table of collectives by column."""
    return {
        "collective": row.collective,
        "ranks": str(row.communicator_size),
        "type, op": type_and_op(row.datatype, row.op),
        "path": row.way,
        "reason": row.why,
        "calls": str(row.calls),
        "bytes": format_size(row.bytes),
        "mean(us)": microseconds(row.mean_time_s),
        "max(us)": microseconds(row.max_time_s),
    }


def type_and_op(datatype: str, op: str) -> str:
    """Return datatype and operation as in tables."""
    return ", ".join(name.removeprefix("MPI_") for name in (datatype, op) if name)


def microseconds(time_s: float | None) -> str:
    """Return a time in microseconds as in tables; empty if unknown."""
    return "" if time_s is None else f"{time_s * 1e6:.3f}"


def reasons(record: RecordData) -> list[str]:
    """Return an explanation for each word in the column `reason`, and remarks on progress."""
    if not any(row.offloaded for row in record.collectives):
        return [why_nothing(record), *progress(record)]
    words = dict.fromkeys(row.reason for row in record.collectives if not row.offloaded)
    return [*(f"fallback ({word}): {explain(word, record)}" for word in words), *progress(record)]


def progress(record: RecordData) -> list[str]:
    """Return how non-blocking calls on the hosts progress during computation."""
    by_hosts = dict.fromkeys(
        row.collective
        for row in record.collectives
        if row.collective.startswith("i") and not (row.offloaded or row.by_smpi)
    )
    if not by_hosts:
        return []
    where = {
        "thread": "beside the program, as with a progress thread of the MPI library",
        "calls": "only inside MPI calls, as in MPI libraries without a progress thread",
    }[record.progress]
    names = ", ".join(by_hosts)
    return [f'on the hosts {names} advances {where} ([mpi] progress = "{record.progress}")']


def why_nothing(record: RecordData) -> str:
    """Return the reasons why no collective was offloaded, in one line."""
    if not record.collectives:
        return "Nothing was offloaded: the program called no collective that a switch can execute."
    reasons: dict[str, int] = {}
    for row in record.collectives:
        reasons[row.reason] = reasons.get(row.reason, 0) + row.calls
    parts = (
        f"{explain(reason, record)} ({plural(calls, 'call')})" for reason, calls in reasons.items()
    )
    return f"Nothing was offloaded: {'; '.join(parts)}."


def explain(reason: str, record: RecordData) -> str:
    """Return a reason in a few words."""
    if reason == "policy" and _is_off(record):
        return "offloading is off"
    return REASONS.get(reason, reason or "no reason recorded")


def _is_off(record: RecordData) -> bool:
    """Return True if the user chose off, for every job with calls of this reason."""
    modes = [
        job.offload
        for job in record.jobs or ()
        if any(row.reason == "policy" for row in job.collectives)
    ]
    return set(modes or [record.offload]) == {"off"}


def unmeasured(record: RecordData) -> list[str]:
    """Return the unmeasured host values, if ranks share hosts and depend on them."""
    keys = record.fabric.unmeasured or ()
    on_hosts = record.host_stages or any(not row.offloaded for row in record.collectives)
    if not keys or not on_hosts or record.ranks <= record.hosts_used:
        return []
    return [f"[host] values that were not measured on these hosts: {', '.join(keys)}"]


def losses(record: RecordData) -> list[str]:
    """Return the losses of multicasts by collective, if any."""
    return [
        f"{row.collective}: {plural(row.drops, 'chunk')} did not arrive{_where(row)}{_why(row)};"
        f" ranks fetched {format_size(round(row.fetched_bytes))} from their neighbours"
        for row in record.multicast
        if row.drops > 0
    ]


def _where(row: MulticastPart) -> str:
    missed = [(rank.drops, rank.rank) for rank in row.by_rank if rank.drops]
    if not missed:
        return ""
    if len(missed) == 1:
        return f" at rank {missed[0][1]}"
    most, rank = max(missed, key=lambda one: (one[0], -one[1]))
    return f" at {len(missed)} ranks, most at rank {rank} ({most})"


def _why(row: MulticastPart) -> str:
    places = {"a staging ring": row.staging_drops, "a switch": row.port_drops}
    full = [f"{drops:,} dropped by {place}" for place, drops in places.items() if drops]
    return f" ({', '.join(full)})" if full else ""


def summary(record: RecordData) -> str:
    """Return place and simulated time in one line."""
    ranks, hosts = plural(record.ranks, "rank"), plural(record.hosts_used, "host")
    where = f"{ranks} on {hosts} of {record.fabric.label}"
    where += "" if record.contention else ", without contention"
    return f"{where}: simulated time {format_seconds(record.simulated_time_s)}"
