# SPDX-License-Identifier: LGPL-2.1-only
"""Validation of the simulator against every measured table shipped with weft.

data/checks.toml lists the comparisons: a column of a table, the fabric that simulates it, and the
largest allowed error. Each check consists of one or more runs of a shipped program.
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msgspec import field

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.measured import LogError, log_error
from weft.base.models import Model, Number, Whole
from weft.base.plots import Series, plot_by_hosts, plot_by_size
from weft.base.user_files import UnreadableError, read_toml
from weft.calibrate.host.rows import HostRow, check_fits, read_rows, simulate_rows
from weft.calibrate.measurements.samples import PingPong, read_pingpong
from weft.calibrate.measurements.simulated import (
    Calls,
    compiled,
    simulate_bandwidth,
    simulate_calls,
    simulate_ping_pong,
)
from weft.calibrate.measurements.tables import (
    Rows,
    Table,
    TableRow,
    part,
    read_table,
    seconds_per_unit,
    size_column,
)
from weft.calibrate.point_to_point import fabric_file
from weft.calibrate.point_to_point.p2p import calibrate
from weft.runs import offload_modes

SCHEMA = "weft-validate/1"
CHECKS = "checks.toml"
PING_PONG, BANDWIDTH = "pingpong", "bandwidth"
RATE = "_GBps"
Progress = Callable[[str], None]


class Check(Model):
    """One comparison: from data/checks.toml, or for a user's own table (`own_tables`)."""

    table: str
    """Name of a shipped table, or absolute path of another table."""
    column: str
    mode: str
    fitted: str
    rows: Rows = "all"
    fabric: str | None = None
    segments: str | None = None
    collective: str | None = None
    """Collective to select from a table with several."""
    bytes: Whole | None = None
    ranks: Whole = 4
    """Number of ranks, for tables by size."""
    ppn: Whole = 1
    """Ranks per host, for tables by size."""
    settings: tuple[str, ...] = ()
    """SimGrid settings, each as KEY:VALUE."""
    changes: tuple[str, ...] = ()
    """Changes to the fabric, each as TABLE.KEY=VALUE."""
    benchmark: str | None = None
    """Benchmark that produced the table, if the table does not name it."""
    unfitted: bool = False
    """True if no value of the simulation was fitted to this machine."""
    mean: Number | None = None
    worst: Number | None = None

    @property
    def what(self) -> str:
        """Measured quantity: a collective of the table, or the column."""
        return self.collective or self.column

    @property
    def where(self) -> str:
        """Fabric, or the number of segments with which it is fitted."""
        return self.fabric or f"{self.segments} segments"

    @property
    def stem(self) -> str:
        """File name of the table without extension."""
        return Path(self.table).stem

    @property
    def name(self) -> str:
        """Short description of the check."""
        rows = "" if self.rows == "all" else f", {self.rows} rows"
        return f"{self.stem}: {self.what} by {self.mode}, {self.where}{rows}"


@dataclass(frozen=True)
class Point:
    """One row, keyed by bytes or ranks, with the times of one call or message."""

    key: int
    simulated_us: float
    measured_us: float


@dataclass(frozen=True)
class Result:
    """Check and its result."""

    check: Check
    by: Literal["bytes", "ranks"]
    points: tuple[Point, ...]

    @property
    def error(self) -> LogError:
        """Error of the simulation against the measurement."""
        return log_error(self.simulated, self.measured)

    @property
    def title(self) -> str:
        """Simulated mode and fabric."""
        return f"{self.check.mode}, {self.check.where}"

    @property
    def simulated(self) -> dict[int, float]:
        """Simulated times by row."""
        return {point.key: point.simulated_us for point in self.points}

    @property
    def measured(self) -> dict[int, float]:
        """Measured times by row."""
        return {point.key: point.measured_us for point in self.points}

    @property
    def unit(self) -> str:
        """Axis label of the values in figures."""
        return "bandwidth (GB/s)" if self.check.column.endswith(RATE) else "latency (µs)"

    def in_unit(self, times_us: Mapping[int, float]) -> dict[int, float]:
        """Convert times to the measured quantity, which is a rate in some tables."""
        if not self.check.column.endswith(RATE):
            return dict(times_us)
        size = self.check.bytes
        return {key: (size or key) / time * 1e-3 for key, time in times_us.items()}

    @property
    def holds(self) -> bool:
        """True if the error is within its bounds."""
        mean, worst = self.check.mean, self.check.worst
        return self.error.mean <= (math.inf if mean is None else mean) and self.error.worst <= (
            math.inf if worst is None else worst
        )

    def to_json(self) -> dict[str, Any]:
        """Return the content of `--json`."""
        return {
            **self.check.to_json(),
            "by": self.by,
            "mean_error": self.error.mean,
            "worst_error": self.error.worst,
            "holds": self.holds,
            "points": [asdict(point) for point in self.points],
        }


def read_checks(path: Path | None = None) -> list[Check]:
    """Read the checks shipped with weft, or the checks in another file."""
    path = path or paths.data(CHECKS)
    return [_check(f"{path}: check {number}", row) for number, row in enumerate(_rows(path), 1)]


def _check(place: str, row: dict[str, Any]) -> Check:
    # before missing keys, as a typo causes both
    if wrong := sorted(set(row) - set(Check.__struct_fields__)):
        raise WeftError(f"{place}: unknown key '{wrong[0]}'")
    try:
        return Check.from_json(row)
    except UnreadableError as error:
        raise WeftError(f"{place}: {error}") from None


class _Checks(Model):
    check: list[dict[str, Any]] = field(default_factory=list)


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return _Checks.from_json(read_toml(path)).check
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None


def cost(check: Check) -> float:
    """Return the relative cost of a check: the sum of the ranks over its rows."""
    table = read_table(paths.data(check.table), "Allreduce")
    ranks = [
        table.number(row, "ranks") if "ranks" in table.names else check.ranks for row in table.rows
    ]
    return sum(max(2, one) for one in ranks[part(check.rows)])


def run(checks: Sequence[Check], progress: Progress | None = None) -> list[Result]:
    """Run all checks."""
    results = []
    for check in checks:
        if progress is not None:
            progress(check.name)
        results.append(_run(check))
    return results


def _run(check: Check) -> Result:
    if check.mode == PING_PONG:
        return _ping_pong(check)
    if check.mode == BANDWIDTH:
        return _bandwidth(check)
    return _allreduce(check) if check.collective is None else _collective(check)


# ---- Collectives of crowded hosts ----------------------------------------------------------------


def _collective(check: Check) -> Result:
    """Simulate the rows of one collective as in its table, with the mode's algorithms."""
    measured = by_collective(check)
    rows = list(measured)[part(check.rows)]
    fabric = _core.load_fabric(_fabric(check))
    check_fits(fabric, dict.fromkeys(rows, 0.0), named("fabric"))
    text = Path(fabric.file).read_text(encoding="utf-8")
    method = read_table(paths.data(check.table), "Allreduce").method(check.benchmark)
    way = way_of(check.mode)
    simulated = simulate_rows(text, rows, method, changes=check.changes, **way)
    points = (Point(row.bytes, simulated[row] * 1e6, measured[row]) for row in rows)
    return Result(check, "bytes", tuple(points))


def by_collective(check: Check) -> dict[HostRow, float]:
    """Return the times of the collective's rows in the table; all rows if the check names none."""
    path = paths.data(check.table)
    table = read_table(path, "Allreduce")
    if "collective" in table.names:
        times = sorted(read_rows(path, check.column).items())
        return {row: time * 1e6 for row, time in times if row.collective == check.collective}
    column = size_column(table)
    return {
        HostRow(check.what, check.ranks, check.ppn, int(table.number(row, column))): _measured_us(
            check, table, row
        )
        for row in table.rows
    }


def _fabric(check: Check) -> str:
    if check.fabric is None:
        raise WeftError(f"{CHECKS}: {check.name}: names no fabric")
    return check.fabric


# ---- Allreduce -----------------------------------------------------------------------------------


def _allreduce(check: Check) -> Result:
    table = read_table(paths.data(check.table), "Allreduce")
    rows = table.rows[part(check.rows)]
    if "ranks" in table.names:
        return Result(check, "ranks", tuple(_by_ranks(check, table, rows)))
    column = size_column(table)
    sizes = tuple(int(table.number(row, column)) for row in rows)
    simulated = _latencies(check, check.ranks, check.ppn, sizes)
    return Result(
        check,
        "bytes",
        tuple(
            Point(size, simulated[size], _measured_us(check, table, row))
            for size, row in zip(sizes, rows, strict=True)
        ),
    )


def _by_ranks(check: Check, table: Table, rows: Sequence[TableRow]) -> Iterator[Point]:
    if check.bytes is None:
        raise WeftError(f"{CHECKS}: {check.name}: a table by ranks needs bytes")
    for row in rows:
        ranks, nodes = (int(table.number(row, name)) for name in ("ranks", "nodes"))
        simulated = _latencies(check, ranks, ranks // nodes, (check.bytes,))
        yield Point(ranks, simulated[check.bytes], _measured_us(check, table, row))


def _measured_us(check: Check, table: Table, row: TableRow) -> float:
    return time_us(table, row, check.column, check.bytes or 0)


def time_us(table: Table, row: TableRow, column: str, size: int) -> float:
    """Return a measured time in microseconds; rates are converted for calls of `size` bytes."""
    value = table.number(row, column)
    if column.endswith(RATE):
        return size / value * 1e-3
    return value * seconds_per_unit(table, column) * 1e6


def _latencies(check: Check, ranks: int, ppn: int, sizes: tuple[int, ...]) -> Mapping[int, float]:
    method = read_table(paths.data(check.table), "Allreduce").method(check.benchmark)
    calls = Calls("allreduce", ranks, ppn, method)
    return latencies(_fabric(check), check.mode, calls, sizes, check.settings, check.changes)


@cache
def latencies(
    fabric: str,
    mode: str,
    calls: Calls,
    sizes: tuple[int, ...],
    settings: tuple[str, ...],
    changes: tuple[str, ...],
) -> Mapping[int, float]:
    """Return the times of calls by bytes in one mode, cached so that checks share runs."""
    text = Path(_core.load_fabric(fabric).file).read_text(encoding="utf-8")
    with compiled("benchmark_collectives") as program:
        return simulate_calls(
            program, text, calls, sizes, config=settings, changes=changes, **way_of(mode)
        )


def way_of(mode: str) -> dict[str, str]:
    """Return the run options for this mode: a mechanism, or a host algorithm."""
    if mode in offload_modes.OFFLOADS:
        return {"offload": mode}
    return {"offload": "off", "fallback": mode}


# ---- Ping-pong -----------------------------------------------------------------------------------


def _ping_pong(check: Check) -> Result:
    pingpong = read_pingpong(paths.data(check.table), check.column)
    simulated = simulate_ping_pong(_messages(check, pingpong), list(pingpong.one_way.by_size()))
    rows = pingpong.of(check.rows).one_way.by_size()
    points = (Point(size, simulated[size], us) for size, us in rows.items())
    return Result(check, "bytes", tuple(points))


def _bandwidth(check: Check) -> Result:
    table = read_table(paths.data(check.table), "Bandwidth")
    column = size_column(table)
    rows = table.rows[part(check.rows)]
    sizes = [int(table.number(row, column)) for row in rows]
    text = Path(_core.load_fabric(_fabric(check)).file).read_text(encoding="utf-8")
    simulated = simulate_bandwidth(text, sizes)
    points = (
        Point(size, simulated[size], time_us(table, row, check.column, size))
        for size, row in zip(sizes, rows, strict=True)
    )
    return Result(check, "bytes", tuple(points))


def _messages(check: Check, pingpong: PingPong) -> str:
    """Return the text of the fabric: a shipped fabric, or one calibrated to the table."""
    if check.fabric is not None:
        return Path(_core.load_fabric(check.fabric).file).read_text(encoding="utf-8")
    segments = None if check.segments == "auto" else int(check.segments or 0)
    # One half of the rows is held out: the fit uses the other half.
    others: Mapping[Rows, Rows] = {"all": "all", "even": "odd", "odd": "even"}
    calibration = calibrate(pingpong, segments, others[check.rows])
    return fabric_file.render(calibration, "validate", None)


# ---- Figures -------------------------------------------------------------------------------------


def plot(results: Sequence[Result], directory: Path, suffix: str = ".png") -> list[Path]:
    """Draw a figure per table: each measured column with its simulations."""
    directory.mkdir(parents=True, exist_ok=True)
    return [
        _plot_table(table, [one for one in results if one.check.table == table], directory, suffix)
        for table in dict.fromkeys(one.check.table for one in results)
    ]


def _plot_table(name: str, results: Sequence[Result], directory: Path, suffix: str) -> Path:
    target = directory / f"{Path(name).stem}{suffix}"
    shown = [one for one in results if one.check.rows == "all"]
    measured = {one.check.what: one.in_unit(one.measured) for one in shown}
    columns = list(measured)
    series = [
        Series(f"measured: {_column_name(column)}", points, number, measured=True)
        for number, (column, points) in enumerate(measured.items())
    ]
    seen: list[str] = []
    for one in shown:
        # The first simulation of a column shares its colour; later simulations have their own.
        column = one.check.what
        colour = len(columns) + len(seen) if column in seen else columns.index(column)
        seen.append(column)
        label = f"simulated: {one.title} (error {one.error.mean:.1%})"
        series.append(Series(label, one.in_unit(one.simulated), colour))
    title, value = _title(name), shown[0].unit
    if shown[0].by == "bytes":
        plot_by_size([_drawable(one) for one in series], title, [target], named("figures"), value)
    else:
        plot_by_hosts(series, title, [target], named("figures"), "ranks", value)
    return target


def _title(table: str) -> str:
    """Return the title of a figure: from `[titles]` of the checks, else the table's name."""
    titles = tomllib.loads(paths.data(CHECKS).read_text(encoding="utf-8"))["titles"]
    return str(titles.get(table, Path(table).stem))


def _column_name(column: str) -> str:
    """Return the label of a measured column in figures."""
    name = column.removesuffix("_us").removesuffix(RATE)
    return {"openmpi_tuned": "Open MPI, tuned", "openmpi_basic": "Open MPI, basic"}.get(name, name)


def _drawable(series: Series) -> Series:
    """Drop points that logarithmic axes cannot show."""
    return replace(series, points={size: time for size, time in series.points.items() if size > 0})
