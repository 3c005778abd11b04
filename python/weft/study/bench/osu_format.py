# SPDX-License-Identifier: LGPL-2.1-only
"""Results in the output format of the OSU micro-benchmarks 7.4, for tools that parse it.

Headers, columns and widths follow OSU's c/util/osu_util_mpi.c and the programs themselves: sizes
are left-justified in 10 characters, figures right-justified in 20 with two decimals. Each mode and
number of ranks per host is a separate output, preceded by two lines from weft: the simulated
executor, and the command for this placement on a cluster, from which parsers read the ranks.
"""

from collections.abc import Iterator, Sequence

from weft.study.bench.benchmarks import OSU_VERSION, Benchmark, Column
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.bench.modes import labels

_SIZE = 10
_WIDTH = 20
_ITERATIONS = 12  # osu_util_mpi.c, print_only_header
_NO_SIZE = {"blocking": 17, "non-blocking": 13}  # print_stats, print_stats_nbc
_NBC = "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait"
_SYNCHRONIZED = {"put_bibw": "MPI_Win_post/start/complete/wait"}


def lines(study: Study, rows: Sequence[Time], *, full: bool = False) -> Iterator[str]:
    """Yield the lines of all outputs."""
    outputs: dict[tuple[str, int, int], list[Time]] = {}
    for row in rows:
        outputs.setdefault((row.mode, row.ranks, row.ppn), []).append(row)
    for some in outputs.values():
        yield from _output(study, some, full=full)


def _output(study: Study, rows: Sequence[Time], *, full: bool) -> Iterator[str]:
    benchmark, row = study.benchmark, rows[0]
    columns = [one for one in benchmark.columns if full or not one.full]
    yield ""
    yield f"# simulated by weft: {labels(rows, row.mode)} on {row.fabric}"
    yield f"# mpiexec -n {row.ranks} -ppn {row.ppn} osu_{benchmark.name}"
    yield f"# OSU {benchmark.osu} v{OSU_VERSION}"
    yield from _about(study, row)
    yield _head(study, row, columns, full=full)
    for one in rows:
        yield _line(study, one, columns, full=full)


def _about(study: Study, row: Time) -> Iterator[str]:
    benchmark, datatype = study.benchmark, f"# Datatype: MPI_{study.type.upper()}."
    if benchmark.family.startswith("one-sided"):
        yield "# Window creation: MPI_Win_allocate"
        yield f"# Synchronization: {_SYNCHRONIZED.get(benchmark.name, 'MPI_Win_flush')}"
    if benchmark.family == "non-blocking":
        yield _NBC
        yield ""
    if benchmark.family == "rate":
        yield f"# [ pairs: {row.ranks // 2} ] [ window size: {study.window} ]"
    if benchmark.sized != "nothing":
        yield datatype


def _head(study: Study, row: Time, columns: Sequence[Column], *, full: bool) -> str:
    heads = [column.osu for column in columns]
    rest = [f"P{one:g} Tail Lat(us)" for one in row.percentiles_us]
    first = "# Size".ljust(_SIZE) + heads[0].rjust(_WIDTH)
    if study.benchmark.sized == "nothing":
        first = f"# {heads[0]}"
    text = first + "".join(head.rjust(_WIDTH) for head in heads[1:])
    if _counted(study.benchmark, full=full):
        text += "Iterations".rjust(_ITERATIONS)
    return text + "".join(head.rjust(_WIDTH) for head in rest)


def _line(study: Study, row: Time, columns: Sequence[Column], *, full: bool) -> str:
    numbers = [f"{row.figures[column.key]:.2f}" for column in columns]
    if study.benchmark.sized == "nothing":
        first = numbers[0].rjust(_NO_SIZE[study.benchmark.family])
    else:
        first = str(row.bytes).ljust(_SIZE) + numbers[0].rjust(_WIDTH)
    text = first + "".join(number.rjust(_WIDTH) for number in numbers[1:])
    if _counted(study.benchmark, full=full):
        text += str(study.iterations).rjust(_ITERATIONS)
    return text + "".join(f"{time:.2f}".rjust(_WIDTH) for time in row.percentiles_us.values())


def _counted(benchmark: Benchmark, *, full: bool) -> bool:
    """Return True if a column shows the number of timed calls."""
    return full and benchmark.family == "blocking"
