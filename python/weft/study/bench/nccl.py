# SPDX-License-Identifier: LGPL-2.1-only
"""NCCL's choice of algorithm, protocol, channels and chunk, by size."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.output import whole_file
from weft.runs.site import load_fabric

DEFAULT_VERSION = "2.29"
_NAMES = {"all_reduce": "allreduce", "all_gather": "allgather", "broadcast": "bcast"}
_NAMES |= {"reduce_scatter": "reduce_scatter_block", "reducescatter": "reduce_scatter_block"}


@dataclass(frozen=True)
class Choice:
    """NCCL's choice for a size."""

    bytes: int
    """Bytes of the larger buffer, as nccl-tests counts them: all blocks of an Allgather."""
    algorithm: str
    protocol: str
    channels: int
    threads: int
    """Threads per channel, excluding threads that only synchronise."""
    chunk_bytes: float
    """Maximum data that a channel moves in one step."""
    predicted_us: float
    """Time in NCCL's own cost model, by which NCCL chooses; not simulated."""


@dataclass(frozen=True)
class Call:
    """Collective with one rank per GPU, and the machine."""

    collective: str
    fabric: str
    ranks: int
    sizes: Sequence[int]
    version: str = DEFAULT_VERSION
    changes: tuple[str, ...] = ()


def collective_of(name: str) -> str:
    """Return weft's name for a collective of NCCL or nccl-tests."""
    plain = name.lower().removeprefix("mpi_").removeprefix("nccl").removesuffix("_perf")
    return _NAMES.get(plain, plain)


def choices(call: Call) -> list[Choice]:
    """Return the choices for all sizes."""
    fabric = load_fabric(call.fabric, call.changes)
    known = _core.list_presets("nccl")
    if call.version not in known:
        raise WeftError(
            f"{named('nccl')}: found '{call.version}'; {suggestion(call.version, known)}"
        )
    rows = _core.nccl_choices(
        fabric, call.version, collective_of(call.collective), call.ranks, list(call.sizes)
    )
    return [
        Choice(
            int(row["bytes"]),
            row["algorithm"],
            row["protocol"],
            row["channels"],
            row["threads"],
            row["chunk_bytes"],
            row["seconds"] * 1e6,
        )
        for row in rows
    ]


def write_csv(found: Sequence[Choice], target: Path, option: str = named("csv")) -> None:
    """Write one line per size, atomically."""
    names = [one.name for one in fields(Choice)]
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in found:
            cells = [getattr(row, name) for name in names]
            writer.writerow([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells])
