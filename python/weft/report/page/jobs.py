# SPDX-License-Identifier: LGPL-2.1-only
"""Sections about the jobs of jobs files: time, gain from offloading, slowdown by other jobs."""

from collections.abc import Mapping
from typing import Any

from weft.base.units import format_ratio, plural
from weft.benchmarks.certainty import CANNOT_TELL, shown
from weft.campaign.file.columns import JOB_COLUMNS, NOT_MEASURED, job_name
from weft.report.data.study import Study
from weft.report.page.sections import table
from weft.report.page.words import in_time
from weft.runs.tables import FOR_THIS_PLACEMENT

_MOST_ROWS, _MOST_OPEN = 200, 12
_ALONE = """<section aria-labelledby="h-alone">
<h2 id="h-alone">Slowdown by other jobs</h2>
<p>{sentence}</p>
{jobs}
<p>{of_calls}</p>
{calls}
</section>
"""
_GAINS = """<section aria-labelledby="h-job-gains">
<h2 id="h-job-gains">Gain of each job</h2>
<p>All jobs also ran together without offloading{best}. {first} {each}</p>
{table}
</section>
"""
_WITH_BEST = ", and with the hosts' fastest algorithms"
_RATIOS = ("mean", "p50", "p95", "p99", "max")
_FIRST = (
    "A run of a jobs file counts everywhere on this page by its first job: its time from start to"
    " end, its calls and its gain."
)
_EACH = (
    "Gains here compare each job with itself in the run without offloading, with the interval of"
    " similar measured calls. "
) + FOR_THIS_PLACEMENT
_SECTION = """<section aria-labelledby="h-jobs">
<h2 id="h-jobs">Each job</h2>
<p>{sentence}</p>
{table}
</section>
"""


def section(study: Study) -> str:
    """Return the sections; empty if no run was of a jobs file."""
    return _each_job(study) + _gains(study) + _slowdowns(study)


def _gain(row: Mapping[str, Any], names: Mapping[str, str], column: str) -> tuple[str, str]:
    """Return a gain and its interval; empty if unknown."""
    low, high, says = (row[names[f"{column}_{part}"]] for part in ("low", "high", "says"))
    return format_ratio(row[names[column]]), _interval(low, high, says)


def _interval(low: float | None, high: float | None, says: str | None) -> str:
    if low is None or high is None:
        return ""
    return shown(low, high) + (f": {CANNOT_TELL}" if says == CANNOT_TELL else "")


def _gains(study: Study) -> str:
    """Return the gains of jobs that single records contain."""
    if study.job_gains.is_empty():
        return ""
    several = study.job_gains["run"].n_unique() > 1
    rows = [
        [
            *_run(row, several=several),
            f"{row['ranks']:,}",
            "failed" if row["time_s"] is None else in_time(row["time_s"]),
            format_ratio(row["speed_up"]),
            _interval(row["low"], row["high"], row["says"]),
            format_ratio(row["speed_up_over_best"]),
            _interval(row["low_over_best"], row["high_over_best"], row["says_over_best"]),
            row["not_measured"] or "",
        ]
        for row in study.job_gains.head(_MOST_ROWS).iter_rows(named=True)
    ]
    run = ("run",) if several else ()
    heads = (
        *(*run, "job", "ranks", "time", "times as fast as off", "interval"),
        *("over best", "its interval", "not measured"),
    )
    over_best = study.job_gains["speed_up_over_best"]
    best = "" if over_best.null_count() == len(over_best) else _WITH_BEST
    return _GAINS.format(
        best=best, first=_FIRST, each=_EACH, table=table(heads, rows, left=len(run) + 1)
    )


def _slowdowns(study: Study) -> str:
    if study.alone.is_empty():
        return ""
    several = study.alone["run"].n_unique() > 1
    jobs = [
        [
            *_run(row, several=several),
            f"{row['ranks']:,}",
            in_time(row["alone_s"]) if row["alone_s"] is not None else "failed",
            in_time(row["time_s"]) if row["time_s"] is not None else "failed",
            format_ratio(row["slowdown"]),
        ]
        for row in study.alone.head(_MOST_ROWS).iter_rows(named=True)
    ]
    calls = [
        [
            *_run(row, several=several),
            row["collective"],
            f"{row['communicator_size']:,}",
            f"{row['rank_calls']:,}",
            *(format_ratio(row[name]) for name in _RATIOS),
        ]
        for row in study.slowdowns.head(_MOST_ROWS).iter_rows(named=True)
    ]
    run = ("run",) if several else ()
    left = len(run) + 1
    return _ALONE.format(
        sentence="Each job also ran alone, on the same hosts. The slowdown is its time among the"
        " others divided by its time alone.",
        jobs=table((*run, "job", "ranks", "alone", "together", "slowdown"), jobs, left=left),
        of_calls="Each call of a rank is compared with the same call alone; the table shows the"
        " distribution of these ratios.",
        calls=table(
            (*run, "job", "collective", "ranks", "calls of ranks", *_RATIOS), calls, left=left + 1
        ),
    )


def _run(row: Mapping[str, Any], *, several: bool) -> list[str]:
    return [*([str(row["run"])] if several else []), row["job"]]


def _each_job(study: Study) -> str:
    if study.jobs.is_empty():
        return ""
    keys = study.jobs.columns[: study.jobs.columns.index("run")]
    names = {name: job_name(name, keys) for name in JOB_COLUMNS}
    varying = [axis.name for axis in study.varying if axis.name in keys]
    heads = (
        *(*varying, "job", "ranks", "hosts", "start", "time"),
        *("times as fast as off", "interval", "over best", "its interval", "not measured"),
    )
    rows = [
        [
            *("" if row[key] is None else str(row[key]) for key in varying),
            row[names["job"]],
            f"{row[names['job_ranks']]:,}",
            f"{row[names['hosts_used']]:,}",
            in_time(row[names["start_s"]]),
            "failed" if row[names["time_s"]] is None else in_time(row[names["time_s"]]),
            *_gain(row, names, "job_speed_up"),
            *_gain(row, names, "job_speed_up_over_best"),
            row[names[NOT_MEASURED]] or "",
        ]
        for row in study.jobs.head(_MOST_ROWS).iter_rows(named=True)
    ]
    shown = table(heads, rows, left=len(varying) + 1)
    if len(rows) > _MOST_OPEN:
        summary = f"<summary>{plural(len(study.jobs), 'row')}</summary>"
        shown = f"<details>{summary}{shown}</details>"
    return _SECTION.format(sentence=f"{_FIRST} {_EACH}", table=shown)
