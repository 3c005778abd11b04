# SPDX-License-Identifier: LGPL-2.1-only
"""Micro-benchmarks of collectives, messages and one-sided calls by size."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from weft.api.fabrics import FabricLike, fabric_and_changes
from weft.api.input_checks import (
    Changes,
    PathLike,
    Sizes,
    call,
    choice,
    existing,
    settings,
    sizes,
    whole,
    words,
)
from weft.base.errors import WeftError
from weft.base.units import parse_counts
from weft.runs.options import MOST_RANKS
from weft.runs.site import load_fabric
from weft.study.bench import collectives as bench_collectives
from weft.study.bench import like, nccl, nccl_tests
from weft.study.bench import micro_benchmarks as micro
from weft.study.bench.benchmarks import BENCHMARKS, OPERATIONS, TYPES, find
from weft.study.bench.collectives import COLLECTIVES, CollectivesBench, CollectiveTime
from weft.study.bench.micro_benchmarks import Study
from weft.study.bench.modes import Benched, messages
from weft.study.bench.quantiles import Sampling
from weft.study.bench.quantiles import columns as percentile_columns

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = ["bench", "bench_like"]

OnSize = Callable[[str, int], object]
"""Called with the mode and the bytes after each size."""
Type = Literal["char", "short", "int", "long", "float", "double"]
Operation = Literal["sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor"]
_SIZES = "4KiB:256KiB"  # default of weft's own benchmarks


@call
def bench(
    benchmark: str,
    fabric: FabricLike,
    ranks: int | None = None,
    *,
    sizes: Sizes | None = None,
    modes: Sequence[str] | None = None,
    nodes: int | None = None,
    ppn: int | str | Sequence[int] | None = None,
    type: Type | None = None,
    op: Operation = "sum",
    set: Changes | None = None,
    cfg: Mapping[str, object] | Sequence[str] = (),
    iterations: int | None = None,
    warm_up: int = micro.WARM_UP,
    window: int = micro.WINDOW,
    back_to_back: bool = False,
    percentiles: Sequence[float] | None = None,
    unchecked: bool = False,
    strict: bool = False,
    on_size: OnSize | None = None,
) -> "DataFrame":
    """Run a micro-benchmark by message size, as `weft bench` does.

    Args:
        benchmark: OSU's name without `osu_`: `allreduce`, `ialltoall`, `latency`, `put_bw`.
            `bcast`, `allgather` and `ag+rs` (an Allgather concurrent with a Reduce-Scatter) also
            measure the throughput of ranks and the bytes through switches; `osu_bcast` and
            `osu_allgather` are timed as OSU does. `nccl-all_reduce`, `nccl-all_gather`,
            `nccl-reduce_scatter`, `nccl-alltoall`, `nccl-broadcast` and `nccl-reduce` are the tests
            of nccl-tests; their mode is a version of NCCL ("nccl-2.29"), and sizes are bytes of the
            larger buffer.
        fabric: Fabric to run on: a fabric file, or the name of a shipped one. Or a `weft.Fabric`.
        ranks: Number of MPI ranks; 2 for point-to-point benchmarks.
        sizes: Sizes in bytes: "4:1MiB" doubles, `[4, "1KiB"]` is a list.
        modes: Ways to offload ("stream"), the hosts' algorithms ("openmpi-5.0", "ring"), or one of
            the algorithms that `bcast`, `allgather` and `ag+rs` implement themselves. By default as
            in `weft bench`.
        nodes: Number of hosts instead of `ranks`: each host runs `ppn` ranks.
        ppn: Ranks per host; a list measures each of its values.
        type: Element type, by default `int` for reductions, else `char`.
        op: Reduction operation.
        set: Values that override keys of the fabric file. For example `{"switch.slots": 64}`;
            `weft.fabric_options()` lists all keys.
        cfg: SimGrid options. For example `{"smpi/wtime": 0}`, or a list of KEY:VALUE.
        iterations: Timed calls or windows per size.
        warm_up: Untimed calls or windows before the timed ones.
        window: Messages in flight in rate benchmarks.
        back_to_back: Omit the barrier after each blocking collective, as `weft.validate` does.
        percentiles: Percentiles of the times of single calls to report.
        unchecked: Let ranks share the memory of their buffers in `bcast`, `allgather` and `ag+rs`;
            results are then not checked.
        strict: Refuse values outside the measured ranges of the fabric's presets.
        on_size: Called with the mode and the bytes after each size.

    Returns:
        A row for each mode, number of ranks per host, and size: `fabric`, `collective` (the
        benchmark), `mode`, `path` (the executor), `reason` (why a requested offload fell back to
        the hosts; also issued as a warning), `ranks`, `ppn`, `bytes`, and the results: for
        collectives `latency_us`, `min_us` and `max_us` over the ranks; for non-blocking collectives
        `overall_us`, `compute_us`, `start_us`, `test_us`, `wait_us`, `pure_us`, `pure_min_us`,
        `pure_max_us` and `overlap_percent`; for messages and one-sided calls `latency_us`, or
        `bandwidth_MBps` and `messages_per_s`; for `bcast`, `allgather` and `ag+rs` `latency_us`
        (mean of receiving ranks), `max_us`, `receive_Bps` (receive throughput of a rank in bytes/s)
        and `port_bytes` (bytes through all switch ports). Percentiles follow as `p50_us`. The NCCL
        tests return the columns of nccl-tests: `test`, `fabric`, `ranks`, `bytes`, `count`, `type`,
        `redop`, `root`, `time_us`, `algbw_GBps`, `busbw_GBps`, the same in place (`in_place_us`
        ...), and `path`.
    """
    import polars

    known = (*BENCHMARKS, *COLLECTIVES, *(nccl_tests.PREFIX + test for test in nccl_tests.BUS))
    name = benchmark if benchmark.startswith("osu_") else choice("benchmark", benchmark, known)
    where, changed = fabric_and_changes(fabric, set)
    asked = None if modes is None else list(words("modes", modes))
    per_host = _per_host(ppn)
    count = None if ranks is None else whole("ranks", ranks, 1, MOST_RANKS)
    if name in COLLECTIVES:
        others = {"nodes": nodes is not None, "ppn": len(per_host) > 1, "type": type, "cfg": cfg}
        others |= {"back_to_back": back_to_back}
        _refuse(name, others)
        count = _ranks_of(name, count)
        sample = Sampling.of(where, changed, iterations, percentiles, 1)
        which = COLLECTIVES[name]
        own = CollectivesBench(
            *(which, where, count, _sizes_of(sizes, _SIZES), asked or which.default_modes),
            *(per_host[0] if per_host else None, sample.iterations, unchecked, changed),
            *(sample.percentiles, strict),
        )
        rows = bench_collectives.run(own, on_size)
        _warn(rows)
        return polars.DataFrame([_row(row) for row in rows], infer_schema_length=None)
    if name.startswith(nccl_tests.PREFIX):
        others = {"nodes": nodes is not None, "ppn": bool(per_host), "back_to_back": back_to_back}
        _refuse(name, others | {"unchecked": unchecked, "percentiles": percentiles is not None})
        test = nccl_tests.NcclBench(
            *(nccl_tests.test_of(name), where, _ranks_of(name, count)),
            *(_sizes_of(sizes, nccl_tests.SIZES), _version(asked)),
            *(choice("type", type or nccl_tests.TYPE, tuple(TYPES)), op),
            Sampling.of(where, changed, iterations, None, micro.ITERATIONS).iterations,
            whole("warm_up", warm_up, 0, 1_000_000),
            changes=changed,
            config=settings(cfg),
            strict=strict,
        )
        return polars.DataFrame([vars(row) for row in nccl_tests.run(test, on_size)])
    one = find(name)
    sample = Sampling.of(where, changed, iterations, percentiles, micro.ITERATIONS)
    kind = choice("type", type or one.default_type, tuple(TYPES))
    hosts = None if nodes is None else whole("nodes", nodes, 1, MOST_RANKS)
    counts, each = micro.placed(one, load_fabric(where, changed), count, hosts, per_host)
    study = Study(
        *(one, where, counts, each),
        (0,) if one.sized == "nothing" else _sizes_of(sizes, one.sizes(kind, max(counts))),
        micro.default_modes(one) if asked is None else asked,
        sample.iterations,
        whole("warm_up", warm_up, 0, 1_000_000),
        whole("window", window, 1, micro.MOST_WINDOW),
        kind,
        choice("op", op, OPERATIONS),
        () if one.is_rate and percentiles is None else sample.percentiles,
        changed,
        settings(cfg),
        back_to_back,
        strict,
    )
    times = micro.run(study, on_size)
    _warn(times)
    table = [dict(zip(micro.columns(times), micro.cells(time), strict=True)) for time in times]
    return polars.DataFrame(table, infer_schema_length=None)


def _ranks_of(name: str, count: int | None) -> int:
    if count is None:
        raise WeftError(f"ranks: is missing; {name} takes a number of ranks")
    return count


def _version(modes: Sequence[str] | None) -> str:
    """Return the NCCL version that a mode names."""
    if modes is None:
        return nccl.DEFAULT_VERSION
    if len(modes) != 1 or not modes[0].startswith(nccl_tests.PREFIX):
        raise WeftError(
            f"modes: found {', '.join(modes)}; a test of NCCL has one, a version of NCCL, such as"
            f" {nccl_tests.PREFIX}{nccl.DEFAULT_VERSION}"
        )
    return modes[0].removeprefix(nccl_tests.PREFIX)


def _refuse(name: str, others: Mapping[str, object]) -> None:
    """Refuse arguments that apply only to OSU-style benchmarks."""
    for argument, given in others.items():
        if given:
            timed = f"; osu_{name} has it" if name in BENCHMARKS else ""
            raise WeftError(f"{argument}: {name} has no such argument{timed}")


def _per_host(ppn: int | str | Sequence[int] | None) -> Sequence[int]:
    if ppn is None:
        return ()
    if isinstance(ppn, str):
        return parse_counts(ppn, "ppn")
    each = [ppn] if isinstance(ppn, int) else ppn
    return [whole("ppn", one, 1, MOST_RANKS) for one in each]


def _sizes_of(given: Sizes | None, usual: str) -> list[int]:
    return sizes("sizes", usual if given is None else given)


def _warn(rows: Sequence[Benched]) -> None:
    for message in messages(rows):
        warnings.warn(message, stacklevel=4)


def _row(row: CollectiveTime) -> dict[str, object]:
    found = row.percentiles_us
    own = {name: getattr(row, name) for name in bench_collectives.COLUMNS}
    return own | dict(zip(percentile_columns([found]), found.values(), strict=True))


@call
def bench_like(
    file: PathLike,
    fabric: FabricLike,
    ranks: int | None = None,
    *,
    ppn: int | None = None,
    modes: Sequence[str] | None = None,
    set: Changes | None = None,
    cfg: Mapping[str, object] | Sequence[str] = (),
    strict: bool = False,
    iterations: int | None = None,
    on_size: OnSize | None = None,
) -> "DataFrame":
    """Simulate the benchmarks in an output of OSU, IMB or nccl-tests, as `weft bench --like` does.

    Outputs of ucc_perftest, ucx_perftest and perftest (`ib_write_bw`) are also accepted.

    Args:
        file: Output of the benchmark; a file may contain several benchmarks.
        fabric: Fabric to run on: a fabric file, or the name of a shipped one. Or a `weft.Fabric`.
        ranks: Number of ranks of collectives, if the file does not state it.
        ppn: Ranks per host, if the file does not state it.
        modes: Modes of collectives, as for `weft.bench`; by default the library of `weft.run`, or
            NCCL ("nccl-2.29") for nccl-tests output on a GPU fabric.
        set: Values that override keys of the fabric file. For example `{"switch.slots": 64}`;
            `weft.fabric_options()` lists all keys.
        cfg: SimGrid options. For example `{"smpi/wtime": 0}`, or a list of KEY:VALUE.
        strict: Refuse values outside the measured ranges of the fabric's presets.
        iterations: Timed calls or windows per size.
        on_size: Called with the mode and the bytes after each size.

    Returns:
        A row for each mode and measured size: `file` and `line` of the benchmark, `fabric`,
        `collective`, `mode`, `path`, `reason`, `ranks`, `ppn`, `bytes`, `unit` ("us" or "MB/s"),
        `measured`, `simulated`, and `error` (0.1: 10 % above the measurement).
    """
    import polars

    where, changed = fabric_and_changes(fabric, set)
    sample = Sampling.of(where, changed, iterations, None, micro.ITERATIONS)
    asked = like.LikeOptions(
        where,
        None if ranks is None else whole("ranks", ranks, 2, MOST_RANKS),
        None if ppn is None else whole("ppn", ppn, 1, MOST_RANKS),
        None if modes is None else list(words("modes", modes)),
        sample.iterations,
        changed,
        settings(cfg),
        strict,
    )
    planned = like.plan(existing("file", file), asked)
    for text in planned.left_out:
        warnings.warn(f"left out: {text}", stacklevel=3)
    for text in planned.notes:
        warnings.warn(text, stacklevel=3)
    found = like.run(planned, on_size)
    _warn([row for one in found for row in one.rows])
    rows = [
        dict(zip(like.COLUMNS, cells, strict=True)) for one in found for cells in like.values(one)
    ]
    return polars.DataFrame(rows, infer_schema_length=None)
