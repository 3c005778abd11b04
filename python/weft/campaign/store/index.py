# SPDX-License-Identifier: LGPL-2.1-only
"""Index of a store: the data that tables need from all results, in one Parquet file.

    STORE/index.parquet

The index is a cache over `runs/` and never authoritative. Readers update it: they drop the rows of
files that are gone or whose size or modification time has changed, and read files without a row.
They rebuild an index that is missing, damaged or from another version of weft. The index therefore
includes results that are copied into the store. Writers need not coordinate: each writes a complete
temporary file and renames it, and the next reader adds the rows that the last writer lacked.
"""

import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from weft.base.errors import WeftError
from weft.campaign.store.store import IterationPart, Result, Store
from weft.iterations.iteration import LinkClassRecord, limiting_links
from weft.iterations.record import IterationRecord, PartRecord
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart, FaultsPart, JobPart, ProfilePart, TimePart

_NAME = "index.parquet"
_FORMAT = "5"
"""Incremented whenever the meaning of a column changes."""
_KEY = "weft-campaign-index"
_OUTSIDE = ("outside MPI", "ended")
"""Kinds of a record's profile in which a rank is outside MPI calls."""

_JOB = pl.Struct(
    {
        "job": pl.String,
        "job_ranks": pl.Int64,
        "job_ppn": pl.Int64,
        "hosts_used": pl.Int64,
        "start_s": pl.Float64,
        "time_s": pl.Float64,
        "outcome": pl.String,
        "collectives_s": pl.Float64,
        "collectives_wait_s": pl.Float64,
        "mpi_s": pl.Float64,
        "calls": pl.Int64,
        "offloaded_calls": pl.Int64,
        "fallback_calls": pl.Int64,
        "computation_s": pl.Float64,
        "exposed_s": pl.Float64,
        "waiting_s": pl.Float64,
        "idle_s": pl.Float64,
    }
)
_COLLECTIVE = pl.Struct(
    {
        "job": pl.String,
        "collective": pl.String,
        "communicator_size": pl.Int64,
        "datatype": pl.String,
        "op": pl.String,
        "path": pl.String,
        "reason": pl.String,
        "algorithm": pl.String,
        "calls": pl.Int64,
        "bytes": pl.Float64,
        "mean_time_s": pl.Float64,
        "mean_wait_s": pl.Float64,
        "max_time_s": pl.Float64,
    }
)
_PART = pl.Struct({"job": pl.String, "part": pl.String, "mean_s": pl.Float64, "most_s": pl.Float64})
_USES = ("computation", "exposed", "waiting", "idle")
"""First words of the uses of a rank's time; the sum of each is a column."""
_RESULT: dict[str, pl.DataType | type[pl.DataType]] = {
    "run": pl.String,
    "state": pl.String,
    "outcome": pl.String,
    "message": pl.String,
    "simulated_time_s": pl.Float64,
    "collectives_s": pl.Float64,
    "collectives_wait_s": pl.Float64,
    "mpi_s": pl.Float64,
    "calls": pl.Int64,
    "offloaded_calls": pl.Int64,
    "wall_time_s": pl.Float64,
    "cpu_time_s": pl.Float64,
    "peak_memory_bytes": pl.Int64,
    "busiest_link": pl.String,
    "busiest_link_utilisation": pl.Float64,
    "mean_link_utilisation": pl.Float64,
    "slots_used_max": pl.Int64,
    "bytes_reduced": pl.Float64,
    "bytes_multicast": pl.Float64,
    "fault_events": pl.Int64,
    "failures": pl.Int64,
    "failure_times": pl.Int64,
    "failures_per_day": pl.Float64,
    "messages_cut": pl.Int64,
    "calls_hit": pl.Int64,
    "waited_s": pl.Float64,
    "lost_in_calls_s": pl.Float64,
    "computation_s": pl.Float64,
    "exposed_s": pl.Float64,
    "waiting_s": pl.Float64,
    "idle_s": pl.Float64,
    "communicated_s": pl.Float64,
    "bound": pl.String,
    "limiting_links": pl.String,
    "limited_s": pl.Float64,
    "carried_s": pl.Float64,
    "mfu": pl.Float64,
    "tflops_per_gpu": pl.Float64,
    "tokens_per_s_per_gpu": pl.Float64,
    "memory_needed_bytes": pl.Float64,
    "messages": pl.Int64,
}
_LISTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "jobs": pl.List(_JOB),
    "collectives": pl.List(_COLLECTIVE),
    "parts": pl.List(_PART),
}
_SCHEMA = pl.Schema({"size": pl.Int64, "changed_ns": pl.Int64, **_RESULT, **_LISTS})
_decoder = msgspec.json.Decoder(Result)


@dataclass(frozen=True)
class Index:
    """Snapshot of all results of a store."""

    rows: pl.DataFrame
    """One row per run: columns of `weft.campaign.file.columns`, and the nested lists of the run."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Runs with an unreadable file, with the reason; they count as missing."""
    outgrown: frozenset[str] = frozenset()
    """Runs ended by a limit that has since been raised; they count as missing."""

    def under(self, timeout_s: float | None, memory_bytes: int | None) -> "Index":
        """Return the index without runs ended by limits lower than these."""
        by_time = pl.col("outcome") == "timeout"
        if timeout_s is not None:
            by_time &= pl.col("wall_time_s") < timeout_s
        by_memory = pl.col("outcome") == "memory-limit"
        if memory_bytes is not None:
            by_memory &= pl.col("peak_memory_bytes") < memory_bytes
        outgrown = (by_time | by_memory).fill_null(value=False)
        names = frozenset(self.rows.filter(outgrown)["run"])
        return replace(self, rows=self.rows.filter(~outgrown), outgrown=names)


def read(store: Store) -> Index:
    """Update and return the index of a store."""
    there = dict(_files(store))
    known = _known(store.folder / _NAME)
    files = pl.DataFrame(
        [(name, size, changed) for name, (size, changed) in there.items()],
        schema={name: _SCHEMA[name] for name in ("run", "size", "changed_ns")},
        orient="row",
    )
    kept = known.join(files, on=["run", "size", "changed_ns"], how="semi")
    fresh = set(there).difference(kept["run"])
    rows, damaged = _read(store, there, fresh)
    if rows or len(kept) < len(known):
        kept = pl.concat([kept, pl.DataFrame(rows, schema=_SCHEMA, orient="row")]).sort("run")
        _write(store.folder / _NAME, kept)
    return Index(kept.drop("size", "changed_ns"), damaged)


def _files(store: Store) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield size and modification time of each run's file, by run."""
    if not (store.folder / "runs").exists():  # read-only use of a store that was never created
        return
    for folder in os.scandir(store.folder / "runs"):
        if len(folder.name) == 2 and folder.is_dir():
            for file in os.scandir(folder.path):
                if file.name.endswith(".json") and not file.name.startswith("."):
                    with suppress(OSError):  # removed concurrently
                        about = file.stat()
                        yield file.name[:-5], (about.st_size, about.st_mtime_ns)


def _known(file: Path) -> pl.DataFrame:
    """Return the index as written; empty if it is missing or damaged."""
    with suppress(OSError, pl.exceptions.PolarsError):
        content = file.read_bytes()
        if pl.read_parquet_metadata(io.BytesIO(content)).get(_KEY) == _FORMAT:
            found = pl.read_parquet(io.BytesIO(content))
            if found.schema == _SCHEMA:
                return found
    return pl.DataFrame(schema=_SCHEMA)


def _write(file: Path, rows: pl.DataFrame) -> None:
    """Replace the index; if that fails (disk full, no permission), the old one stays."""
    content = io.BytesIO()
    rows.write_parquet(content, metadata={_KEY: _FORMAT})
    name = None
    try:
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{_NAME}.")
        with os.fdopen(descriptor, "wb") as beside:
            beside.write(content.getbuffer())
            os.fchmod(beside.fileno(), 0o644)
        os.replace(name, file)
    except OSError:
        if name is not None:
            with suppress(OSError):
                os.unlink(name)


def _read(
    store: Store, there: dict[str, tuple[int, int]], names: set[str]
) -> tuple[list[tuple[Any, ...]], dict[str, str]]:
    """Return a row for each of these runs, and the errors of unreadable files."""
    rows, damaged = [], {}
    for name in sorted(names):
        try:
            found = _row(name, _decoder.decode(store.path(name).read_bytes()))
        except FileNotFoundError:
            continue
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            try:  # the strict reader reports better errors
                found = _row(name, store.read(name))
            except WeftError as error:
                damaged[name] = error.message
                continue
        rows.append((*there[name], *(found.get(column) for column in (*_RESULT, *_LISTS))))
    return rows, damaged


def table(results: Iterable[tuple[str, Result]]) -> pl.DataFrame:
    """Return the index rows of results outside stores, by run."""
    rows = [_row(name, result) for name, result in results]
    schema = pl.Schema({**_RESULT, **_LISTS})
    return pl.DataFrame(
        [tuple(row.get(column) for column in schema) for row in rows], schema=schema, orient="row"
    )


def _row(name: str, result: Result) -> dict[str, Any]:
    row = {
        **{"run": name, "state": result.state, "message": result.refused},
        **{"jobs": [], "collectives": [], "parts": []},
    }
    if result.iteration:
        return row | _of_iteration(result.iteration)
    return row | _of_record(result.record) if result.record else row


def _of_iteration(its: IterationPart) -> dict[str, Any]:
    row = {
        "outcome": its.outcome,
        "message": its.message,
        "wall_time_s": its.wall_time_s,
        "cpu_time_s": its.cpu_time_s,
        "peak_memory_bytes": its.peak_memory_bytes,
    }
    return row | _of_times(its.record) if its.record else row


def _of_times(record: IterationRecord) -> dict[str, Any]:
    model = record.training
    return {
        "simulated_time_s": record.time_s,
        "calls": record.calls,
        **(_of_faults(record.faults) if record.faults else {}),
        **_uses(record.parts),
        "communicated_s": float(sum(record.communicated_s.values())),
        "bound": record.bound,
        **_of_links(record.links),
        "mfu": model.mfu if model else None,
        "tflops_per_gpu": model.tflops_per_gpu if model else None,
        "tokens_per_s_per_gpu": model.tokens_per_s_per_gpu if model else None,
        "memory_needed_bytes": model.memory_needed_bytes if model else None,
        "messages": record.messages,
        "parts": _parts("", record.parts),
    }


def _of_links(links: Sequence[LinkClassRecord]) -> dict[str, Any]:
    if not links:  # of an earlier version
        return {}
    limit = limiting_links(links)
    busiest = max(links, key=lambda one: one.busiest_utilisation)
    return {
        "limiting_links": limit.name if limit else "",
        "limited_s": limit.exposed_s if limit else 0.0,
        "carried_s": limit.carried_s if limit else 0.0,
        "busiest_link": busiest.busiest,
        "busiest_link_utilisation": busiest.busiest_utilisation if busiest.busiest else None,
    }


def _uses(parts: Sequence[PartRecord | TimePart]) -> dict[str, float]:
    """Return the mean seconds of each use of a rank's time, over all kinds of groups."""
    return {
        f"{use}_s": sum(one.mean_s for one in parts if one.name.split()[0] == use) for use in _USES
    }


def _parts(job: str, parts: Sequence[PartRecord | TimePart]) -> list[dict[str, Any]]:
    return [
        {"job": job, "part": one.name, "mean_s": one.mean_s, "most_s": one.most_s} for one in parts
    ]


def _of_record(record: Record) -> dict[str, Any]:
    busiest = max(record.links, key=lambda link: link.utilisation, default=None)
    # Links without traffic are not listed. Without switches, links were not counted.
    links = record.fabric.links if record.switches else 0
    utilisation = sum(link.utilisation for link in record.links)
    return {
        "outcome": record.outcome.kind,
        "message": record.outcome.message if record.failed else "",
        "simulated_time_s": record.simulated_time_s,
        "collectives_s": sum(one.total_time_s or 0 for one in record.collectives) / record.ranks,
        "collectives_wait_s": _mean_wait_s(record.collectives, record.ranks),
        "mpi_s": _in_mpi(record.profile),
        "calls": sum(one.calls for one in record.collectives),
        "offloaded_calls": sum(one.calls for one in record.collectives if one.offloaded),
        "wall_time_s": record.wall_time_s,
        "cpu_time_s": record.cpu_time_s,
        "peak_memory_bytes": record.peak_memory_bytes,
        "busiest_link": busiest.name if busiest else "",
        "busiest_link_utilisation": (busiest.utilisation if busiest else 0.0) if links else None,
        "mean_link_utilisation": utilisation / links if links else None,
        "slots_used_max": max((one.slots_used_max for one in record.switches), default=0),
        "bytes_reduced": sum(one.bytes_reduced for one in record.switches),
        "bytes_multicast": sum(one.bytes_multicast for one in record.switches),
        **(_of_faults(record.faults) if record.faults else {}),
        "jobs": [_of_job(one) for one in record.jobs or ()],
        "parts": [
            row
            for one in record.jobs or ()
            if one.training
            for row in _parts(one.name, one.training.parts)
        ],
        "collectives": [
            {"job": job} | {name: getattr(one, name) for name in _CALL_FIELDS}
            for job, rows in _calls(record)
            for one in rows
        ],
    }


def _mean_wait_s(rows: Sequence[CollectivePart], ranks: int) -> float | None:
    """Return the wait for late ranks, mean of the ranks; None for records of earlier versions."""
    waits = [row.total_wait_s for row in rows if row.total_time_s is not None]
    known = [wait_s for wait_s in waits if wait_s is not None]
    return sum(known) / ranks if len(known) == len(waits) else None


_CALL_FIELDS = tuple(name for name in _COLLECTIVE.to_schema() if name != "job")


def _calls(record: Record) -> Iterator[tuple[str, list[CollectivePart]]]:
    """Yield the collectives of each job; for a run without jobs, of the run, with an empty name."""
    if record.jobs:
        yield from ((job.name, job.collectives) for job in record.jobs)
    else:
        yield "", record.collectives


def _of_job(job: JobPart) -> dict[str, Any]:
    return {
        "job": job.name,
        "job_ranks": job.ranks,
        "job_ppn": job.ppn,
        "hosts_used": job.hosts_used,
        "start_s": job.start_s,
        "time_s": job.time_s,
        "outcome": job.outcome.kind,
        "collectives_s": sum(one.total_time_s or 0 for one in job.collectives) / job.ranks,
        "collectives_wait_s": _mean_wait_s(job.collectives, job.ranks),
        "mpi_s": _in_mpi(job.profile),
        "calls": sum(one.calls for one in job.collectives),
        "offloaded_calls": job.offloaded_calls,
        "fallback_calls": job.fallback_calls,
        **(_uses(job.training.parts) if job.training else {}),
    }


def _in_mpi(profile: Sequence[ProfilePart]) -> float | None:
    """Return the time of a rank in MPI calls; None if it is unknown."""
    return sum(one.mean_s for one in profile if one.kind not in _OUTSIDE) if profile else None


def _of_faults(faults: FaultsPart) -> dict[str, Any]:
    return {
        "fault_events": len(faults.events),
        "failures": faults.failures,
        "failure_times": faults.failure_times,
        "failures_per_day": faults.failures_per_day or None,
        "messages_cut": faults.cut,
        "calls_hit": faults.broken_calls,
        "waited_s": faults.waited_s,
        "lost_in_calls_s": faults.lost_in_calls_s,
    }
