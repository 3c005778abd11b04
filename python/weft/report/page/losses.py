# SPDX-License-Identifier: LGPL-2.1-only
"""Section about the time lost to faults: sentence, table, and data of the chart."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from weft.base.units import plural
from weft.report.data.losses import Losses, Lost, losses, ways
from weft.report.data.study import Study
from weft.report.page.sections import table
from weft.report.page.words import in_time

_QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_MOST_ROWS = 200
_SECTION = """<section aria-labelledby="h-losses">
<h2 id="h-losses">What faults cost</h2>
<p>{sentence}</p>
<form id="losses-bar" class="controls" aria-label="Choose whose losses are shown" hidden></form>
<figure>
<div id="losses" class="chart"></div>
<figcaption id="losses-about"></figcaption>
</figure>
<details><summary>These numbers as a table</summary>{table}</details>
{budget}</section>
"""

_BUDGET = """<h3>Budget of faults</h3>
<p>{sentence}</p>
{table}
"""


def section(study: Study) -> str:
    """Return the section; empty if no run had faults."""
    found = losses(study)
    if found is None:
        return ""
    return _SECTION.format(
        sentence=escape(" ".join(_sentences(found))), table=_table(found), budget=_budget(found)
    )


def _budget(found: Losses) -> str:
    """Return the budget of faults; empty if the failure rate is unknown."""
    rows = [
        one
        for one in found.rows
        if (one.without_s or not one.lost_s) and one.budget.per_day_s is not None
    ]
    if not rows:
        return ""
    across = [found.across.name] if found.across else []
    heads = (
        *(*found.others, "mode", *across, "failures in the runs"),
        *("cost of one", "failures per day", "of these end the job"),
        *("lost per day", "fraction of the time"),
    )
    shown = table(
        heads, [_budget_row(found, one) for one in rows[:_MOST_ROWS]], left=len(found.others) + 1
    )
    return _BUDGET.format(sentence=escape(_budget_sentence(rows)), table=shown)


def _budget_sentence(rows: Sequence[Lost]) -> str:
    worst = max(rows, key=lambda one: one.budget.per_day_s or 0.0)
    ends = ""
    if any(one.ended_s for one in rows):
        ends = (
            " A failure that ends the job costs the run until then; with checkpoints, it would be"
            " the time since the last one."
        )
    return (
        f"At the real rates, failures cost at most {_time(worst.budget.per_day_s or 0.0)} a day"
        f" ({worst.budget.fraction or 0.0:.2g} of the time), with {worst.way}: the mean cost of a"
        " failure in these runs, times the failures per day. All failures count alike, and must be"
        f" so rare that they do not overlap.{ends}"
    )


def _budget_row(found: Losses, one: Lost) -> list[str]:
    budget = one.budget
    return [
        *(*one.others.values(), one.way, *([one.x] if found.across else [])),
        f"{budget.failures:,}",
        _time(budget.per_failure_s or 0.0),
        f"{budget.per_day or 0.0:.3g}",
        f"{one.ends_per_day or 0.0:.3g}",
        _time(budget.per_day_s or 0.0),
        f"{budget.fraction or 0.0:.2g}",
    ]


def _sentences(found: Losses) -> list[str]:
    known = [one for one in found.rows if one.without_s is not None]
    runs = sum(len(one.lost_s) for one in found.rows)
    said = []
    if known:
        said.append(
            f"{plural(runs, 'run')} with faults are compared with the same runs without: without"
            " a fault file, or with fault.scale 0. The difference is what faults cost."
        )
    if len(known) < len(found.rows):
        said.append(
            "Where there is no such run, the time counts that collectives in the network have lost,"
            " as the records have it; what messages have waited does not count then."
        )
    if ended := sum(one.ended for one in found.rows):
        said.append(f"Faults ended {plural(ended, 'more run')}; the quantiles omit them.")
    return said


def _table(found: Losses) -> str:
    across = [found.across.name] if found.across else []
    heads = (
        *(*found.others, "mode", *across, "runs", "without faults"),
        *("least", "5 %", "median", "95 %", "most", "ended"),
    )
    rows = [_row(found, one) for one in found.rows[:_MOST_ROWS]]
    return table(heads, rows, left=len(found.others) + 1)


def _row(found: Losses, one: Lost) -> list[str]:
    times = [_time(one.quantile(part)) for part in _QUANTILES] if one.lost_s else [""] * 5
    return [
        *(*one.others.values(), one.way, *([one.x] if found.across else [])),
        f"{len(one.lost_s):,}",
        "" if one.without_s is None else in_time(one.without_s),
        *times,
        f"{one.ended:,}",
    ]


def _time(lost_s: float) -> str:
    return f"-{in_time(-lost_s)}" if lost_s < 0 else in_time(lost_s)


def payload(study: Study) -> dict[str, Any] | None:
    """Return the data of the chart; None if no run had faults."""
    found = losses(study)
    if found is None:
        return None
    return {
        "across": found.across.name if found.across else "",
        "others": ", ".join(found.others),
        "ways": ways(found.rows),
        "meaning": "Simulated time that faults cost",
        "rows": [_point(found, one) for one in found.rows],
    }


def _point(found: Losses, one: Lost) -> dict[str, Any]:
    lost = [float(f"{one.quantile(part):.6g}") for part in _QUANTILES] if one.lost_s else []
    return {
        "x": one.x,
        "xi": found.across.values.index(one.x) if found.across else 0,
        "way": one.way,
        "of": _named(one.others),
        "runs": len(one.lost_s),
        "lost": lost,
    }


def _named(others: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in others.items() if value)
