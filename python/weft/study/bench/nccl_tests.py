# SPDX-License-Identifier: LGPL-2.1-only
"""nccl-tests on a simulated GPU fabric: NCCL's collectives, timed and printed as in nccl-tests.

Sizes are counted as in nccl-tests (src/*.cu): the larger buffer, with all blocks of an Allgather
together, rounded down to whole blocks. Calls are back to back, and times are means over calls and
ranks. The bus bandwidth, as in doc/PERFORMANCE.md, is the load of each GPU's links.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.output import whole_file
from weft.benchmarks.nccl_tests import TESTS
from weft.runs.site import load_fabric
from weft.study.bench import micro_benchmarks as micro
from weft.study.bench.benchmarks import BENCHMARKS, TYPES
from weft.study.bench.checks import Progress
from weft.study.bench.nccl import DEFAULT_VERSION

PREFIX = "nccl-"
"""Prefix of the benchmarks' names, and of NCCL's versions as host libraries."""
BUS: Mapping[str, float] = {
    "all_reduce": 2,
    "all_gather": 1,
    "reduce_scatter": 1,
    "alltoall": 1,
    "broadcast": 0,
    "reduce": 0,
}
"""By test: multiples of (ranks - 1) / ranks that a byte crosses a GPU's links; 0: once."""
TYPE = "float"
SIZES = "1MiB:1GiB"
_NAMES = {"char": "int8", "short": "half", "int": "int32", "long": "int64"}
OPERATIONS = ("sum", "prod", "max", "min")
"""Operations that NCCL and MPI share."""


@dataclass(frozen=True)
class NcclBench:
    """Test with its parameters."""

    test: str
    fabric: str
    ranks: int
    sizes: Sequence[int]
    version: str = DEFAULT_VERSION
    type: str = TYPE
    op: str = "sum"
    iterations: int = micro.ITERATIONS
    warm_up: int = micro.WARM_UP
    changes: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    strict: bool = False

    @property
    def sums(self) -> bool:
        """True if the test uses an operation."""
        return BENCHMARKS[TESTS[self.test]].sums

    @property
    def rooted(self) -> bool:
        """True if the test uses a root, rank 0."""
        return not BUS[self.test]

    @property
    def blocks(self) -> int:
        """Number of blocks in the larger buffer."""
        return self.ranks if BUS[self.test] == 1 else 1


@dataclass(frozen=True)
class NcclTime:
    """Row of a test: times in microseconds, bandwidths in GB/s (1e9 bytes)."""

    test: str
    fabric: str
    ranks: int
    bytes: int
    """Bytes of the larger buffer."""
    count: int
    """Elements of a rank's vector, or of a block."""
    type: str
    redop: str
    root: int
    time_us: float
    """Out of place; likewise the next two."""
    algbw_GBps: float  # noqa: N815 (a unit)
    busbw_GBps: float  # noqa: N815 (a unit)
    in_place_us: float
    in_place_algbw_GBps: float  # noqa: N815 (a unit)
    in_place_busbw_GBps: float  # noqa: N815 (a unit)
    path: str
    """Algorithm and protocol that NCCL chose."""


def test_of(name: str) -> str:
    """Return the test for a benchmark name such as `nccl-all_reduce`."""
    test = name.removeprefix(PREFIX)
    if test not in BUS:
        known = [PREFIX + one for one in BUS]
        raise WeftError(f"benchmark: found '{name}'; {suggestion(name, known)}")
    return test


def bus_factor(test: str, ranks: int) -> float:
    """Return the ratio of bus bandwidth to algorithm bandwidth."""
    return BUS[test] * (ranks - 1) / ranks if BUS[test] else 1.0


def run(asked: NcclBench, progress: Progress | None = None) -> list[NcclTime]:
    """Measure a test out of place and in place."""
    sizes = _check(asked)
    out, inside = (_measured(asked, sizes, progress, in_place=one) for one in (False, True))
    return [_row(asked, *both) for both in zip(out, inside, strict=True)]


def _check(asked: NcclBench) -> list[int]:
    """Check the parameters; return the sizes rounded to whole blocks."""
    fabric = load_fabric(asked.fabric, asked.changes)
    known = _core.list_presets("nccl")
    if asked.version not in known:
        raise WeftError(
            f"{named('nccl')}: found '{asked.version}'; {suggestion(asked.version, known)}"
        )
    if asked.sums and asked.op not in OPERATIONS:
        raise WeftError(f"{named('op')}: found '{asked.op}'; {suggestion(asked.op, OPERATIONS)}")
    unit = TYPES[asked.type] * asked.blocks
    sizes = list(dict.fromkeys(size // unit * unit for size in asked.sizes))
    if min(sizes) == 0:
        raise WeftError(
            f"{named('sizes')}: found {min(asked.sizes)} bytes; {asked.test} of {asked.ranks} ranks"
            f" needs at least {unit}, an element for each block"
        )
    # Check ranks, GPUs and algorithms before any run, with the tuner's errors. An Alltoall needs
    # the same ranks as all collectives, but no choice of algorithm.
    chosen = TESTS["all_gather" if asked.test == "alltoall" else asked.test]
    _core.nccl_choices(fabric, asked.version, chosen, asked.ranks, sizes)
    return sizes


def _measured(
    asked: NcclBench, sizes: Sequence[int], progress: Progress | None, *, in_place: bool
) -> list[micro.Time]:
    benchmark = BENCHMARKS[TESTS[asked.test]]
    by_block = benchmark.sized == "block"
    study = micro.Study(
        *(benchmark, asked.fabric, [asked.ranks], [1]),
        [size // asked.blocks for size in sizes] if by_block else sizes,
        (PREFIX + asked.version,),
        asked.iterations,
        asked.warm_up,
        type=asked.type,
        op=asked.op,
        changes=asked.changes,
        config=asked.config,
        back_to_back=True,
        strict=asked.strict,
        in_place=in_place,
    )
    return micro.run(study, progress)


def _row(asked: NcclBench, out: micro.Time, inside: micro.Time) -> NcclTime:
    by_block = BENCHMARKS[TESTS[asked.test]].sized == "block"
    size = out.bytes * (asked.blocks if by_block else 1)
    rates = []
    for time in (out, inside):
        rate = size / time.figure / 1e3
        rates.append((time.figure, rate, rate * bus_factor(asked.test, asked.ranks)))
    return NcclTime(
        *(asked.test, out.fabric, asked.ranks, size),
        size // TYPES[asked.type] // asked.blocks,
        _NAMES.get(asked.type, asked.type),
        asked.op if asked.sums else "none",
        0 if asked.rooted else -1,
        *(*rates[0], *rates[1]),
        out.path,
    )


def lines(asked: NcclBench, rows: Sequence[NcclTime]) -> Iterator[str]:
    """Yield the output of nccl-tests 2.17, which weft's readers also accept."""
    fabric = load_fabric(asked.fabric, asked.changes)
    per_node = _core.gpus_per_node(fabric)
    yield f"# weft: NCCL {asked.version} on {rows[0].fabric}"
    yield f"# Collective test starting: {asked.test}_perf"
    yield (
        f"# nThread 1 nGpus 1 minBytes {rows[0].bytes} maxBytes {rows[-1].bytes}"
        f" step: {_factor(rows)} warmup iters: {asked.warm_up} iters: {asked.iterations}"
        " agg iters: 1 validation: 0 graph: 0"
    )
    yield "#"
    yield "# Using devices"
    for rank in range(asked.ranks):
        where = f"node-{rank // per_node} device {rank % per_node:2d}"
        yield f"#  Rank {rank:2d} Group  0 Pid {rank:6d} on {where} [{fabric.hosts[rank]}]"
    yield "#"
    yield f"# {'':>50} {'out-of-place':>31} {'in-place':>31}"
    columns = f"{'time':>9} {'algbw':>7} {'busbw':>7} {'#wrong':>6}"
    yield f"# {'size':>11} {'count':>13} {'type':>8} {'redop':>7} {'root':>6} {columns} {columns}"
    units = f"{'(us)':>9} {'(GB/s)':>7} {'(GB/s)':>7} {'':>6}"
    yield f"# {'(B)':>11} {'(elements)':>13} {'':>8} {'':>7} {'':>6} {units} {units}".rstrip()
    for row in rows:
        both = (
            (row.time_us, row.algbw_GBps, row.busbw_GBps),
            (row.in_place_us, row.in_place_algbw_GBps, row.in_place_busbw_GBps),
        )
        cells = (f"{time:9.2f} {rate:7.2f} {bus:7.2f} {'N/A':>6}" for time, rate, bus in both)
        yield (
            f"  {row.bytes:11d} {row.count:13d} {row.type:>8} {row.redop:>7} {row.root:6d}"
            f" {' '.join(cells)}"
        )
    mean = sum(row.busbw_GBps + row.in_place_busbw_GBps for row in rows) / 2 / len(rows)
    yield f"# Avg bus bandwidth    : {mean:g}"


def _factor(rows: Sequence[NcclTime]) -> str:
    """Return the factor between sizes, as nccl-tests prints it."""
    factors = {round(b.bytes / a.bytes) for a, b in pairwise(rows)}
    return f"{factors.pop()}(factor)" if len(factors) == 1 else "0(bytes)"


def write_csv(rows: Sequence[NcclTime], target: Path, option: str = named("csv")) -> None:
    """Write one line per size, atomically."""
    names = [one.name for one in fields(NcclTime)]
    with whole_file(option, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            cells = [getattr(row, name) for name in names]
            writer.writerow([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells])
