# SPDX-License-Identifier: LGPL-2.1-only
"""Collectives: the algorithms of MPI libraries, and validation against measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weft import _core
from weft.api.fabrics import FabricLike, fabric_and_changes
from weft.api.input_checks import Changes, PathLike, Sizes, call, existing, whole
from weft.api.input_checks import sizes as list_of_sizes
from weft.base.errors import WeftError
from weft.base.units import parse_size
from weft.study import demo as demos
from weft.study import schedules
from weft.study.bench import nccl as nccl_study
from weft.study.validation import errors, gain_report, gain_runs, own_tables
from weft.study.validation import gain as gain_pairs
from weft.study.validation import validate as validations

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

__all__ = [
    "Demo",
    "Schedule",
    "Validation",
    "collective_algorithms",
    "collective_schedule",
    "collective_selections",
    "demo",
    "nccl_choices",
    "validate",
]

OnSize = Callable[[str, int], object]
"""Called with the mode and the bytes after each size."""


@call
def collective_algorithms(collective: str = "") -> "DataFrame":
    """Return the host algorithms of MPI libraries for collectives.

    Args:
        collective: One collective, as `allreduce` or `MPI_Iallreduce`; by default all.

    Returns:
        `collective`, `name`, `number` (Open MPI's, or 0), `source` (the library that it comes
        from), `any_operation` (supports non-commutative operations), `two_ranks` (for exactly two
        ranks), `one_host` (for ranks on a single host).
    """
    import polars

    return polars.DataFrame([row._asdict() for row in schedules.algorithms(collective)])


@call
def collective_selections() -> "DataFrame":
    """Return the selections, each of which models a library's choice: `name`, `description`."""
    import polars

    return polars.DataFrame([dict(one) for one in _core.selections()])


@dataclass(frozen=True)
class Schedule:
    """Messages of one collective call on hosts, in rounds, independent of a network."""

    details: schedules.Schedule

    @property
    def title(self) -> str:
        """Collective, algorithm, ranks, bytes."""
        return schedules.title(self.details)

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.details.algorithm

    @property
    def rounds(self) -> int:
        """Number of rounds; each message takes one."""
        return self.details.rounds

    @property
    def sent_bytes(self) -> int:
        """Total bytes of all messages."""
        return self.details.sent_bytes

    @property
    def busiest_bytes(self) -> int:
        """Bytes sent by the rank that sends the most."""
        return self.details.busiest_bytes

    @call
    def frame(self) -> "DataFrame":
        """Return a row for each message: `round`, `sender`, `receiver`, `bytes`."""
        import polars

        columns = ("round", "sender", "receiver", "bytes")
        return polars.DataFrame(self.details.messages, schema=columns, orient="row")

    @call
    def plot(self, path: PathLike) -> None:
        """Draw ranks as lines and messages as arrows (.png, .svg, .pdf), for up to 64 ranks."""
        schedules.plot(self.details, Path(path), "path")

    @call
    def figure(self) -> "Figure":
        """Return the drawing as a matplotlib figure."""
        return schedules.figure(self.details)

    def __repr__(self) -> str:
        """Return a one-line summary."""
        return f"<Schedule: {self.title}: {len(self.details.messages)} messages>"


@call
def collective_schedule(
    collective: str,
    ranks: int,
    bytes: int | str = "1KiB",
    *,
    root: int = 0,
    element: int = 1,
    selection: PathLike = schedules.DEFAULT_SELECTION,
    algorithm: str = "",
    segment: int | str | None = None,
    fan_out: int = 0,
    ordered: bool = False,
    nonblocking: bool = False,
    ranks_per_host: int = 0,
) -> Schedule:
    """Compute the messages of one collective call on hosts, round by round.

    Args:
        collective: A name of `weft.collective_algorithms()`, or MPI's: `MPI_Iallreduce`.
        ranks: Number of ranks, at least 2.
        bytes: Size of the vector for a Bcast or reduction, else of one rank's block.
        root: Root of a rooted collective.
        element: Element size in bytes: vectors are split between elements.
        selection: Selection of algorithms: a library's name, or a file.
        algorithm: Algorithm to use instead of the selected one.
        segment: Segment size of the named algorithm.
        fan_out: Children per vertex in the named algorithm's tree.
        ordered: The operation does not commute.
        nonblocking: The non-blocking form of the collective.
        ranks_per_host: Consecutive ranks that share a host; 0: one rank per host.
    """
    name, blocks = schedules.collective_of(collective)
    size = 0 if name == "barrier" else parse_size(str(bytes), "bytes")
    case = schedules.Case(
        collective=name,
        ranks=whole("ranks", ranks, 2, 4096),
        bytes=size,
        root=root,
        element_bytes=whole("element", element, 1, 1 << 20),
        selection=str(selection),
        algorithm=algorithm,
        segment_bytes=0 if segment is None else parse_size(str(segment), "segment"),
        fan_out=whole("fan_out", fan_out, 0, 4096),
        commutative=not ordered,
        blocking=blocks and not nonblocking,
        ranks_per_host=whole("ranks_per_host", ranks_per_host, 0, 4096),
    )
    return Schedule(schedules.schedule(case))


@call
def nccl_choices(
    collective: str,
    fabric: FabricLike,
    ranks: int,
    sizes: Sizes = "1KiB:1GiB",
    *,
    version: str = nccl_study.DEFAULT_VERSION,
    set: Changes | None = None,
) -> "DataFrame":
    """Return NCCL's choices for a collective with one rank per GPU, by size.

    Args:
        collective: `allreduce`, `allgather`, `reduce_scatter_block`, `bcast` or `reduce`.
        fabric: A fabric with a table `[nccl]`: a shipped name, a file or a `weft.Fabric`.
        ranks: Number of ranks, which fill the nodes in order.
        sizes: Sizes of the larger buffer, as nccl-tests counts them.
        version: Version of NCCL: "2.18" or "2.29".
        set: Values that override keys of the fabric file, such as `{"nccl.NCCL_ALGO": "ring"}`.

    Returns:
        `bytes`, `algorithm`, `protocol`, `channels`, `threads`, `chunk_bytes`, `predicted_us`
        (NCCL's own estimate, on which its choice is based).
    """
    import polars

    where, changed = fabric_and_changes(fabric, set)
    number = whole("ranks", ranks, 2, 1 << 20)
    many = list_of_sizes("sizes", sizes)
    one = nccl_study.Call(collective, where, number, many, version, changed)
    return polars.DataFrame([vars(row) for row in nccl_study.choices(one)])


# ---- Validation against measurements


@dataclass(frozen=True)
class Validation:
    """Deviation of the simulator from measured tables."""

    results: Sequence[validations.Result]
    gains: Sequence[gain_pairs.GainResult] = ()
    """Results for tables with measurements of both sides."""

    @property
    def holds(self) -> bool:
        """True if every error is within its bounds."""
        return all(one.holds for one in self.gains) and all(one.holds for one in self.results)

    @call
    def factors(self) -> "DataFrame":
        """Return a row for each pair of measured switch and host times.

        `measured` (table and columns), `by` (bytes or ranks), `key` (their number), the speed-ups
        `measured_factor` and `simulated_factor` of offloading, `right` (both factors are on the
        same side of 1), and `near` (the measured times are within 10 % of each other).
        """
        import polars

        return polars.DataFrame(
            [
                {
                    "measured": one.gain.name,
                    "by": one.by,
                    "key": pair.key,
                    "measured_factor": pair.measured.factor,
                    "simulated_factor": pair.simulated.factor,
                    "right": pair.right,
                    "near": pair.near,
                }
                for one in self.gains
                for pair in one.pairs
            ],
            infer_schema_length=None,
        )

    @call
    def frame(self) -> "DataFrame":
        """Return a row for each check.

        `measured` (table and column), `simulated`, `rows`, the logarithmic errors `mean` and
        `worst` (0.1 is 10 %), their bounds `mean_bound` and `worst_bound`, if any, and `holds`.
        """
        import polars

        return polars.DataFrame(
            [
                {
                    "measured": f"{one.check.stem} {one.check.what}",
                    "simulated": one.title,
                    "rows": len(one.points),
                    "mean": one.error.mean,
                    "mean_bound": one.check.mean,
                    "worst": one.error.worst,
                    "worst_bound": one.check.worst,
                    "holds": one.holds,
                }
                for one in self.results
            ],
            infer_schema_length=None,
        )

    @call
    def rows(self) -> "DataFrame":
        """Return a row for each row of the tables.

        `measured_by` (table and column), `by` (bytes or ranks), `key` (their number), and the times
        `measured_us` and `simulated_us` in microseconds.
        """
        import polars

        return polars.DataFrame(
            [
                {
                    "measured_by": f"{one.check.stem} {one.check.what}",
                    "by": one.by,
                    "key": point.key,
                    "measured_us": point.measured_us,
                    "simulated_us": point.simulated_us,
                }
                for one in self.results
                for point in one.points
            ],
            infer_schema_length=None,
        )

    @call
    def write_errors(self, path: PathLike) -> None:
        """Write the error of every collective, as `weft validate --errors`."""
        errors.write(Path(path), self.results, self.gains)

    @call
    def plot(self, directory: PathLike) -> None:
        """Draw one figure per table, and one of the gains if there are any."""
        validations.plot(self.results, Path(directory))
        if self.gains:
            gain_report.plot(self.gains, Path(directory))


@call
def validate(
    *tables: PathLike,
    fabric: PathLike | None = None,
    mode: str | None = None,
    column: str | None = None,
    ranks: int | None = None,
    bytes: int | str | None = None,
    rows: Literal["all", "even", "odd"] | None = None,
    benchmark: str | None = None,
    mean: float | None = None,
    worst: float | None = None,
) -> Validation:
    """Simulate measured tables, and report the deviation from each.

    Without tables, all shipped tables are validated, and the gains of tables with both sides, in
    about a minute. All other arguments are for your own tables; see `weft validate --help`.

    Args:
        tables: CSV, or output of the OSU benchmarks, IMB, SKaMPI, nccl-tests or a perftest.
        fabric: Fabric to compare the tables with.
        mode: A mechanism ("stream"), the hosts' algorithms ("openmpi-5.0"), "pingpong" or
            "bandwidth".
        column: Column of the times, if there are several.
        ranks: For tables by size: number of hosts, one rank each.
        bytes: For tables by ranks: size of the Allreduce.
        rows: "even" or "odd", if the fabric was fitted to the other rows.
        benchmark: Benchmark that produced tables of collectives which do not name it: "osu", "imb",
            "ucc_perftest", "nccl-tests" or "loop".
        mean: Bound of the mean error: 0.1 is 10 %.
        worst: Bound of the worst error.
    """
    given: dict[str, Any] = {
        "column": column,
        "ranks": ranks,
        "rows": rows,
        "benchmark": benchmark,
        "mean": mean,
        "worst": worst,
        "bytes": None if bytes is None else parse_size(str(bytes), "bytes"),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if not tables:
        named = [*asked, *(["fabric"] if fabric else []), *(["mode"] if mode else [])]
        if named:
            raise WeftError(f"{named[0]}: applies to your own table; give one")
        found = gain_runs.run(gain_pairs.read_gains())
        return Validation(validations.run(validations.read_checks()), found)
    if fabric is None or mode is None:
        lacking = "fabric" if fabric is None else "mode"
        raise WeftError(f"{lacking}: is missing; a table of your own is compared with one")
    paths = [existing("tables", table) for table in tables]
    own = own_tables.TableSimulation(mode=mode, fabric=str(fabric), **asked)
    return Validation(validations.run(own_tables.own_checks(paths, own)))


@dataclass(frozen=True)
class Demo:
    """Simulated Allreduce latencies compared with measurements on a real Tofino."""

    results: demos.Results
    files: Sequence[Path]
    """Tables and figures that were written."""

    @call
    def frame(self) -> "DataFrame":
        """Return `mode`, `measured` (the variant), `bytes`, `simulated_us` and `measured_us`."""
        import polars

        return polars.DataFrame(
            [
                {
                    "mode": one.mode,
                    "measured": one.measured.removesuffix("_us"),
                    "bytes": size,
                    "simulated_us": self.results.simulated(one.mode)[size],
                    "measured_us": real,
                }
                for one in demos.COMPARISONS
                for size, real in self.results.real[one.measured].items()
            ]
        )


@call
def demo(directory: PathLike = "weft-demo", *, on_size: OnSize | None = None) -> Demo:
    """Compare simulated Allreduce latencies with measurements on a real Tofino.

    Args:
        directory: Directory for tables and figures.
        on_size: Called with the mode and the bytes after each size.
    """
    results = demos.run(on_size)
    return Demo(results, demos.write_files(results, Path(directory)))
