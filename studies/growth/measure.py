# SPDX-License-Identifier: LGPL-2.1-only
"""Runs the series round by round, and reads their costs.

CPU time is the simulator process's user and system time, memory its peak RSS. The minimum over the
rounds is used, as other load on the machine only increases both quantities.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from studies.growth.fit import Fit, fit
from studies.growth.series import SERIES, Programs, Series
from studies.resume import digest, kept_rows
from studies.study import DOCS, OPTION, Table, read_table, write_table
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.toolchain import compile_c

TABLE = DOCS / "growth.csv"
ROUNDS = 3
RESOLUTION = {"cpu_s": 0.02, "memory_mib": 1.0}
"""Differences below this, after subtraction of the base run, are noise."""
_SOURCE = Path(__file__).with_name("growth.c")
_VARIABLE = "\nint weft_counter;\n"

Points = Mapping[float, float]


@dataclass(frozen=True)
class Grown:
    """Cost of a series in excess of its base run, by the growing number."""

    series: Series
    cpu_s: Points
    memory_mib: Points

    def fit(self, quantity: str) -> Fit | None:
        """Fit one of the two quantities."""
        return fit(getattr(self, quantity), RESOLUTION[quantity])


def write(rounds: int = ROUNDS) -> None:
    """Execute missing measurements, and write the table."""
    write_table(TABLE, measure(SERIES, rounds))


def measure(series: Sequence[Series], rounds: int) -> Table:
    """Run all series once per round, so that temporary load affects all of them."""
    with work_directory() as work:
        programs = cache(partial(compile_programs, work))
        parts = [
            (_part_name(number, one), partial(_run_all, one, programs, number))
            for number in range(1, rounds + 1)
            for one in series
        ]
        return kept_rows("growth", parts)


def _part_name(number: int, series: Series) -> str:
    what = digest(repr(series), _SOURCE.read_bytes())
    return f"{number}-{series.axis}-{series.name.replace(' ', '-').replace(',', '')}-{what}"


def _run_all(series: Series, programs: Callable[[], Programs], round_: int) -> Table:
    return [_run(series, programs(), number, round_) for number in series.numbers]


def compile_programs(work: Path) -> Programs:
    """Compile the program with and without a global variable."""
    programs = Programs(work / "growth", work / "growth_with_variable")
    compile_c(_SOURCE, programs.plain)
    other = work / "with_variable.c"
    other.write_text(_SOURCE.read_text(encoding="utf-8") + _VARIABLE, encoding="utf-8")
    compile_c(other, programs.with_variable)
    return programs


def _run(series: Series, programs: Programs, number: int, round_: int) -> dict[str, str]:
    record = launch.run(launch.prepare(series.request(programs, number)), lambda _: None)
    if record.failed:
        raise WeftError(f"{OPTION}: growth: {series.axis} {number}: {record.outcome.message}")
    return {
        "axis": series.axis,
        "series": series.name,
        "number": str(number),
        "round": str(round_),
        "cpu_s": f"{record.cpu_time_s:.3f}",
        "memory_mib": f"{record.peak_memory_bytes / 2**20:.2f}",
    }


def grown(rows: Table, all_series: Sequence[Series] = SERIES) -> list[Grown]:
    """Return each series of the table, with its base run subtracted."""
    costs = {quantity: _least(rows, quantity) for quantity in RESOLUTION}
    present = {(row["axis"], row["series"]) for row in rows}
    return [
        Grown(one, *(_beyond(one, costs[quantity]) for quantity in RESOLUTION))
        for one in all_series
        if (one.axis, one.name) in present
    ]


Costs = Mapping[tuple[str, str, int], float]


def _least(rows: Table, quantity: str) -> Costs:
    least: dict[tuple[str, str, int], float] = {}
    for row in rows:
        key = row["axis"], row["series"], int(row["number"])
        least[key] = min(least.get(key, float("inf")), float(row[quantity]))
    return least


def _beyond(series: Series, costs: Costs) -> Points:
    """Subtract the base run of the same number, or the smallest run."""
    whole = {n: cost for (a, s, n), cost in costs.items() if (a, s) == (series.axis, series.name)}
    if series.base:
        base = {n: costs[series.axis, series.base, n] for n in whole}
        return {n: cost - base[n] for n, cost in whole.items()}
    first = min(whole)
    return {n - first: cost - whole[first] for n, cost in whole.items() if n > first}


def read() -> list[Grown]:
    """Return the series of the table in docs/."""
    return grown(read_table(TABLE))
