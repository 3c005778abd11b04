# SPDX-License-Identifier: LGPL-2.1-only
"""Micro-benchmarks of `weft bench`: OSU's names and figures, and the measured calls.

Names, titles and columns follow the OSU micro-benchmarks 7.4 (c/mpi and c/util of its sources),
which examples/benchmark_collectives.c and benchmark_messages.c reimplement. `scan` and `exscan` do
not exist in OSU; they are timed like its collectives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Literal

from weft.base.errors import WeftError, named, suggestion
from weft.benchmarks.bytes_of import BYTES_OF, Meaning

OSU_VERSION = "7.4"
Family = Literal[
    "blocking",
    "non-blocking",
    "latency",
    "bandwidth",
    "rate",
    "one-sided latency",
    "one-sided rate",
]
Sized = Meaning | Literal["message", "element"]
"""Meaning of a row's bytes: for collectives as in all suites, else a message or an element."""
TYPES: Mapping[str, int] = {"char": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8}
"""MPI types without `MPI_`, with their size in bytes."""
OPERATIONS = ("sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor")
"""MPI operations without `MPI_`."""
_OF_BITS = ("band", "bor", "bxor")  # MPI 4.1, 6.9.2: integers and bytes only
_REAL = ("float", "double")


@dataclass(frozen=True)
class Column:
    """Column of the output table: one figure per row."""

    key: str
    """Name in CSV files and tables."""
    osu: str
    """Heading in OSU's output and in weft's tables."""
    full: bool = False
    """True for a figure that OSU prints only with `-f`."""


COLUMNS: Mapping[Family, tuple[Column, ...]] = {
    "blocking": (
        Column("latency_us", "Avg Latency(us)"),
        Column("min_us", "Min Latency(us)", full=True),
        Column("max_us", "Max Latency(us)", full=True),
    ),
    "non-blocking": (
        Column("overall_us", "Overall(us)"),
        Column("compute_us", "Compute(us)"),
        Column("start_us", "Coll. Init(us)", full=True),
        Column("test_us", "MPI_Test(us)", full=True),
        Column("wait_us", "MPI_Wait(us)", full=True),
        Column("pure_us", "Pure Comm.(us)"),
        Column("pure_min_us", "Min Comm.(us)", full=True),
        Column("pure_max_us", "Max Comm.(us)", full=True),
        Column("overlap_percent", "Overlap(%)"),
    ),
    "latency": (Column("latency_us", "Avg Latency(us)"),),
    "bandwidth": (Column("bandwidth_MBps", "Bandwidth (MB/s)"),),
    "rate": (
        Column("bandwidth_MBps", "MB/s"),
        Column("messages_per_s", "Messages/s"),
    ),
    "one-sided latency": (Column("latency_us", "Latency (us)"),),
    "one-sided rate": (Column("bandwidth_MBps", "Bandwidth (MB/s)"),),
}
"""Figures of each family in OSU's order; tables by mode show the first one."""


@dataclass(frozen=True)
class Benchmark:
    """Benchmark: name, figures and kind of call."""

    name: str
    """OSU's name without `osu_`."""
    title: str
    """Title in weft's tables: `MPI_Allreduce`."""
    osu: str
    """Text between `# OSU ` and the version in OSU's header."""
    family: Family
    sized: Sized
    sums: bool = False
    """True if the call takes an operation."""
    offloaded: bool = False
    """True if some switch model executes the collective."""
    pairs: bool = False
    """True if any even number of ranks takes part; False for messages between two ranks."""

    @property
    def collective(self) -> bool:
        """True for collectives."""
        return self.family in ("blocking", "non-blocking")

    @property
    def program(self) -> str:
        """Source of the measuring program in examples/."""
        return f"benchmark_{'collectives' if self.collective else 'messages'}.c"

    @property
    def called(self) -> str:
        """Name of the collective in the record of a run."""
        return self.name.replace("_block", "")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the output table, in OSU's order."""
        return COLUMNS[self.family]

    @property
    def figure(self) -> Column:
        """Main column, for tables with space for a single column."""
        return self.columns[0]

    @property
    def is_rate(self) -> bool:
        """True for bandwidths and message rates, false for times."""
        return self.figure.key == "bandwidth_MBps"

    @property
    def has_window(self) -> bool:
        """True if several messages are in flight at once."""
        return self.is_rate

    @property
    def default_type(self) -> str:
        """Default type: OSU's, or for reductions `int`, which switches can add."""
        return "int" if self.sums and self.collective else "char"

    @property
    def has_equal_parts(self) -> bool:
        """True if each rank gets an equal block of the vector, of at least one element."""
        return self.sized == "split" and self.name.endswith("_block")

    def sizes(self, type_: str, ranks: int = 1) -> str:
        """Return the default sizes, for benchmarks with sizes."""
        if self.sized == "element":
            return str(TYPES[type_])
        most = 1 if self.collective else 4
        if not self.has_equal_parts:
            return f"{TYPES[type_]}:{most}MiB"
        least = TYPES[type_] << (ranks - 1).bit_length()
        return f"{least}:{max(least, most << 20)}"


# By name of the collective: MPI's title, OSU's title, True if it takes an operation, and True if
# switches execute it.
_COLLECTIVES: Mapping[str, tuple[str, str, bool, bool]] = {
    "allgather": ("MPI_Allgather", "Allgather", False, True),
    "allgatherv": ("MPI_Allgatherv", "Allgatherv", False, True),
    "allreduce": ("MPI_Allreduce", "Allreduce", True, True),
    "alltoall": ("MPI_Alltoall", "All-to-All Personalized Exchange", False, True),
    "alltoallv": ("MPI_Alltoallv", "All-to-Allv Personalized Exchange", False, False),
    "alltoallw": ("MPI_Alltoallw", "All-to-Allw Personalized Exchange", False, False),
    "barrier": ("MPI_Barrier", "Barrier", False, True),
    "bcast": ("MPI_Bcast", "Broadcast", False, True),
    "exscan": ("MPI_Exscan", "Exscan", True, False),
    "gather": ("MPI_Gather", "Gather", False, False),
    "gatherv": ("MPI_Gatherv", "Gatherv", False, False),
    "reduce": ("MPI_Reduce", "Reduce", True, True),
    "reduce_scatter": ("MPI_Reduce_scatter", "Reduce_scatter", True, True),
    "reduce_scatter_block": ("MPI_Reduce_scatter_block", "Reduce_scatter_block", True, True),
    "scan": ("MPI_Scan", "Scan", True, False),
    "scatter": ("MPI_Scatter", "Scatter", False, False),
    "scatterv": ("MPI_Scatterv", "Scatterv", False, False),
}
_OSU_NON_BLOCKING = {
    "alltoall": "All-to-All",
    "alltoallv": "All-to-Allv",
    "alltoallw": "All-to-Allw",
}


def _blocking(name: str) -> Benchmark:
    title, osu, sums, offloaded = _COLLECTIVES[name]
    sized = BYTES_OF[name]
    return Benchmark(name, title, f"MPI {osu} Latency Test", "blocking", sized, sums, offloaded)


def _non_blocking(name: str) -> Benchmark:
    title, osu, sums, offloaded = _COLLECTIVES[name]
    word = "Non-Blocking" if name == "bcast" else "Non-blocking"
    return Benchmark(
        f"i{name}",
        f"MPI_I{title.removeprefix('MPI_').lower()}",
        f"MPI {word} {_OSU_NON_BLOCKING.get(name, osu)} Latency Test",
        "non-blocking",
        BYTES_OF[name],
        sums,
        offloaded,
    )


def _one_sided(name: str, mpi: str, word: str, sized: Sized, sums: bool) -> Benchmark:
    title = f"{mpi} {word} Test"
    return Benchmark(f"{name}_latency", mpi, title, "one-sided latency", sized, sums)


_MESSAGES = (
    Benchmark("latency", "message latency", "MPI Latency Test", "latency", "message"),
    Benchmark(
        *("multi_lat", "message latency of several pairs", "MPI Multi Latency Test"),
        *("latency", "message"),
        pairs=True,
    ),
    Benchmark("bw", "bandwidth", "MPI Bandwidth Test", "bandwidth", "message"),
    Benchmark(
        *("bibw", "bidirectional bandwidth", "MPI Bi-Directional Bandwidth Test"),
        *("bandwidth", "message"),
    ),
    Benchmark(
        *(
            "mbw_mr",
            "aggregate bandwidth and message rate of several pairs",
            "MPI Multiple Bandwidth / Message Rate Test",
        ),
        *("rate", "message"),
        pairs=True,
    ),
    *starmap(
        _one_sided,
        (
            ("put", "MPI_Put", "Latency", "message", False),
            ("get", "MPI_Get", "latency", "message", False),
            ("acc", "MPI_Accumulate", "latency", "message", True),
            ("get_acc", "MPI_Get_accumulate", "latency", "message", True),
            ("fop", "MPI_Fetch_and_op", "latency", "element", True),
            ("cas", "MPI_Compare_and_swap", "latency", "element", False),
        ),
    ),
    Benchmark("put_bw", "MPI_Put", "MPI_Put Bandwidth Test", "one-sided rate", "message"),
    Benchmark("get_bw", "MPI_Get", "MPI_Get Bandwidth Test", "one-sided rate", "message"),
    Benchmark(
        *("put_bibw", "bidirectional MPI_Put bandwidth", "MPI_Put Bi-directional Bandwidth Test"),
        *("one-sided rate", "message"),
    ),
)
BENCHMARKS: Mapping[str, Benchmark] = {
    one.name: one
    for one in (
        *map(_blocking, _COLLECTIVES),
        *map(_non_blocking, _COLLECTIVES),
        *_MESSAGES,
    )
}
"""All benchmarks by name."""


def find(name: str) -> Benchmark:
    """Return the benchmark with this name, with or without `osu_`."""
    short = name.lower().removeprefix("osu_")
    if short not in BENCHMARKS:
        raise WeftError(f"benchmark: found '{name}'; {suggestion(short, BENCHMARKS)}")
    return BENCHMARKS[short]


def check_type(benchmark: Benchmark, type_: str, op: str) -> None:
    """Check that MPI defines the operation for the type."""
    if benchmark.sums and op not in OPERATIONS:
        raise WeftError(f"{named('op')}: found '{op}'; {suggestion(op, OPERATIONS)}")
    if benchmark.sums and op in _OF_BITS and type_ in _REAL:
        integers = ", ".join(one for one in TYPES if one not in _REAL)
        raise WeftError(
            f"{named('op')}: found {op} with MPI_{type_.upper()}; MPI combines the bits of integers"
            f" only: give one of the types {integers}, or another operation"
        )
