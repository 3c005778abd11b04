# SPDX-License-Identifier: LGPL-2.1-only
"""Collectives: how libraries execute them, and how near weft is to measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weft import _core
from weft.api.asking import PathLike, call, existing, whole
from weft.base.errors import WeftError
from weft.base.units import parse_size
from weft.study import demo as demos
from weft.study import schedules
from weft.study.validation import gain as gain_pairs
from weft.study.validation import gain_report, gain_runs, own_tables
from weft.study.validation import validate as validations

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

OnSize = Callable[[str, int], object]
"""Called with the mode and the bytes whenever one size is done."""


@call
def collective_algorithms(collective: str = "") -> "DataFrame":
    """Return the algorithms by which MPI libraries execute collectives on hosts.

    Args:
        collective: Of this one, as `allreduce` or `MPI_Iallreduce`; by default of all.

    Returns:
        `collective`, `name`, `number` (Open MPI's, or 0), `source` (whose it is), `any_operation`
        (whether also for operations that do not commute), `two_ranks` (whether for two ranks only),
        `one_host` (whether for ranks of one host only).
    """
    import polars

    return polars.DataFrame([row._asdict() for row in schedules.algorithms(collective)])


@call
def collective_selections() -> "DataFrame":
    """Return the selections that say which algorithm a library takes: `name`, `description`."""
    import polars

    return polars.DataFrame([dict(one) for one in _core.selections()])


@dataclass(frozen=True)
class Schedule:
    """The messages of one call of a collective on hosts, in rounds, without a network."""

    details: schedules.Schedule

    @property
    def title(self) -> str:
        """Collective, algorithm, ranks, bytes."""
        return schedules.title(self.details)

    @property
    def algorithm(self) -> str:
        """The algorithm's name."""
        return self.details.algorithm

    @property
    def rounds(self) -> int:
        """How many rounds it takes; each message takes one."""
        return self.details.rounds

    @property
    def sent_bytes(self) -> int:
        """Bytes of all messages."""
        return self.details.sent_bytes

    @property
    def busiest_bytes(self) -> int:
        """Bytes that the rank sends that sends most."""
        return self.details.busiest_bytes

    @call
    def frame(self) -> "DataFrame":
        """Return a row for each message: `round`, `sender`, `receiver`, `bytes`."""
        import polars

        columns = ("round", "sender", "receiver", "bytes")
        return polars.DataFrame(self.details.messages, schema=columns, orient="row")

    @call
    def plot(self, path: PathLike) -> None:
        """Draw ranks as lines and messages as arrows (.png, .svg, .pdf); of 64 ranks at most."""
        schedules.plot(self.details, Path(path), "path")

    @call
    def figure(self) -> "Figure":
        """Return the same drawing as a figure of matplotlib's."""
        return schedules.figure(self.details)

    def __repr__(self) -> str:
        """Return what it is, in a line."""
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
    """Compute the messages of one call of a collective on hosts, round by round.

    Args:
        collective: A name of `weft.collective_algorithms()`, or MPI's: `MPI_Iallreduce`.
        ranks: Number of ranks, at least 2.
        bytes: Of the vector of a Bcast or a reduction; of others of one rank's block.
        root: Its root, where there is one.
        element: Size of an element: vectors are cut between elements.
        selection: Whose choice of algorithms: a library's name, or a file.
        algorithm: This one in the place of its choice.
        segment: Pieces that the named algorithm cuts messages into.
        fan_out: Children of a vertex in the named algorithm's tree.
        ordered: The operation does not commute.
        nonblocking: The form that does not block.
        ranks_per_host: Consecutive ranks that share a host; 0: each has one of its own.
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


# ---- Against measurements


@dataclass(frozen=True)
class Validation:
    """How far the simulator is from measured tables."""

    results: Sequence[validations.Result]
    gains: Sequence[gain_pairs.GainResult] = ()
    """Where both sides were measured."""

    @property
    def holds(self) -> bool:
        """Whether every error is within its bounds."""
        return all(one.holds for one in self.gains) and all(one.holds for one in self.results)

    @call
    def factors(self) -> "DataFrame":
        """Return a row for each pair of measured times, switches' and hosts'.

        `measured` (table and columns), `by` (bytes or ranks), `key` (how many), the factors
        `measured_factor` and `simulated_factor` by which offloading is faster, `right` (whether
        both are on the same side of 1), and `near` (whether the measured times are within 10 % of
        each other).
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
        `worst` (0.1 is 10 %), their bounds `mean_bound` and `worst_bound` where there are any, and
        `holds`.
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

        `measured_by` (table and column), `by` (bytes or ranks), `key` (how many), and the times
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
    def plot(self, directory: PathLike) -> None:
        """Draw one figure per table, and one of the gains where there are any."""
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
    mean: float | None = None,
    worst: float | None = None,
) -> Validation:
    """Run the simulator on measured tables, and say how far it is from each.

    Without tables: those that ship with weft, and the gains of those with both sides, in about a
    minute. The other arguments are for
    tables of your own, and mean what `weft validate --help` says.

    Args:
        tables: CSV, or what the OSU benchmarks, IMB or SKaMPI print.
        fabric: What they are compared with.
        mode: A mechanism ("stream"), what hosts did ("openmpi-5.0"), "pingpong" or "bandwidth".
        column: Column of the times, where there are several.
        ranks: Of tables by size: hosts, one rank each.
        bytes: Of tables by ranks: size of the Allreduce.
        rows: "even" or "odd", where the fabric was fitted to the others.
        mean: Bound of the mean error: 0.1 is 10 %.
        worst: Bound of the worst error.
    """
    given: dict[str, Any] = {
        "column": column,
        "ranks": ranks,
        "rows": rows,
        "mean": mean,
        "worst": worst,
        "bytes": None if bytes is None else parse_size(str(bytes), "bytes"),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if not tables:
        named = [*asked, *(["fabric"] if fabric else []), *(["mode"] if mode else [])]
        if named:
            raise WeftError(f"{named[0]}: is for a table of your own; give one")
        found = gain_runs.run(gain_pairs.read_gains())
        return Validation(validations.run(validations.read_checks()), found)
    if fabric is None or mode is None:
        lacking = "fabric" if fabric is None else "mode"
        raise WeftError(f"{lacking}: is missing; a table of your own is compared with one")
    paths = [existing("tables", table) for table in tables]
    own = own_tables.Asked(mode=mode, fabric=str(fabric), **asked)
    return Validation(validations.run(own_tables.own_checks(paths, own)))


@dataclass(frozen=True)
class Demo:
    """Simulated Allreduce latencies beside those measured on a real Tofino."""

    results: demos.Results
    files: Sequence[Path]
    """Tables and figures that were written."""

    @call
    def frame(self) -> "DataFrame":
        """Return `mode`, `measured` (of what), `bytes`, `simulated_us` and `measured_us`."""
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
    """Compare simulated Allreduce latencies with those measured on a real Tofino.

    Args:
        directory: Where its tables and figures go.
        on_size: Called with the mode and the bytes whenever one size is done.
    """
    results = demos.run(on_size)
    return Demo(results, demos.write_files(results, Path(directory)))
