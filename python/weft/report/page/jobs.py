# SPDX-License-Identifier: LGPL-2.1-only
"""Section about the jobs of jobs files: the time of each job, and its gain from offloading."""

from html import escape

from weft.base.units import format_ratio, plural
from weft.campaign.file.columns import JOB_COLUMNS, job_name
from weft.report.data.study import Study
from weft.report.page.sections import table
from weft.report.page.words import in_time

_MOST_ROWS, _MOST_OPEN = 200, 12
_SECTION = """<section aria-labelledby="h-jobs">
<h2 id="h-jobs">Each job</h2>
<p>{sentence}</p>
{table}
</section>
"""


def section(study: Study) -> str:
    """Return the section; empty if no run executed a jobs file."""
    if study.jobs.is_empty():
        return ""
    keys = study.jobs.columns[: study.jobs.columns.index("run")]
    names = {name: job_name(name, keys) for name in JOB_COLUMNS}
    varying = [axis.name for axis in study.varying if axis.name in keys]
    heads = (*varying, "job", "ranks", "hosts", "start", "time", "times as fast as off")
    rows = [
        [
            *("" if row[key] is None else str(row[key]) for key in varying),
            row[names["job"]],
            f"{row[names['job_ranks']]:,}",
            f"{row[names['hosts_used']]:,}",
            in_time(row[names["start_s"]]),
            "failed" if row[names["time_s"]] is None else in_time(row[names["time_s"]]),
            "" if row[names["job_speed_up"]] is None else format_ratio(row[names["job_speed_up"]]),
        ]
        for row in study.jobs.head(_MOST_ROWS).iter_rows(named=True)
    ]
    shown = table(heads, rows, left=len(varying) + 1)
    if len(rows) > _MOST_OPEN:
        summary = f"<summary>{plural(len(study.jobs), 'row')}</summary>"
        shown = f"<details>{summary}{shown}</details>"
    sentence = (
        "A run of a jobs file counts everywhere on this page by its first job: its time from start"
        " to end, its calls and its gain. Gains here compare each job with itself in the run"
        " without offloading."
    )
    return _SECTION.format(sentence=escape(sentence), table=shown)
