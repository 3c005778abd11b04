# SPDX-License-Identifier: LGPL-2.1-only
"""Fills docs/accuracy.md with the results of `weft validate`.

Each result goes between `<!-- NAME -->` and `<!-- end -->`, where NAME is `gain`, `summary` or a
table of data/.
"""

from collections.abc import Sequence
from pathlib import Path

from weft.base import pages
from weft.base.errors import named
from weft.study.validation import gain_report
from weft.study.validation.gain import GainResult
from weft.study.validation.validate import Result

_MOST_ROWS = 30
SUMMARY = "summary"
GAIN = "gain"


def render(results: Sequence[Result], gains: Sequence[GainResult] = ()) -> dict[str, str]:
    """Return the text by placeholder name."""
    texts = {GAIN: _lines(gain_report.lines(gains))} if gains else {}
    texts[SUMMARY] = _lines(_summary(results))
    for table in dict.fromkeys(result.check.table for result in results):
        texts[Path(table).name] = _lines(
            _table([one for one in results if one.check.table == table])
        )
    return texts


def update(text: str, results: Sequence[Result], gains: Sequence[GainResult] = ()) -> str:
    """Return a document with its placeholders filled."""
    return pages.update(text, render(results, gains), f"{named('document')}: it")


def write(document: Path, results: Sequence[Result], gains: Sequence[GainResult] = ()) -> None:
    """Fill the placeholders of a document."""
    pages.fill(named("document"), document, render(results, gains))


def _lines(rows: Sequence[str]) -> str:
    return "\n".join(rows) + "\n"


def _summary(results: Sequence[Result]) -> list[str]:
    rows = [
        "| measured | column | simulated | fitted to it | rows | mean | worst |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    for one in results:
        check, error = one.check, one.error
        count = f"{len(one.points)}" if check.rows == "all" else f"{len(one.points)} {check.rows}"
        rows.append(
            f"| `{check.stem}` | {check.what} | {one.title} |"
            f" {check.fitted} | {count} | {_limited(error.mean, check.mean)} |"
            f" {_limited(error.worst, check.worst)} |"
        )
    return rows


def _limited(error: float, bound: float | None) -> str:
    text = f"{error:.1%}".replace("%", " %")
    return text if bound is None else f"{text} (≤ {bound:.1%})".replace("%)", " %)")


def _table(results: Sequence[Result]) -> list[str]:
    shown = [one for one in results if one.check.rows == "all"]
    name = results[0].check.stem
    figure = ["", f"![{name}](figures/{name}.png)"]
    keys = list(shown[0].measured)
    if len(keys) > _MOST_ROWS:
        return figure[1:]
    columns = list(dict.fromkeys(one.check.what for one in shown))
    heads: list[str] = [shown[0].by]
    for column in columns:
        heads.append(_measured_head(column))
        for one in shown:
            if one.check.what == column:
                heads += [one.title, "error"]
    rows = [f"| {' | '.join(heads)} |", f"|{'---:|' * len(heads)}"]
    for key in keys:
        cells = [str(key)]
        for column in columns:
            own = [one for one in shown if one.check.what == column]
            cells.append(f"{own[0].measured[key]:.2f}")
            for one in own:
                off = one.simulated[key] / one.measured[key] - 1
                cells += [f"{one.simulated[key]:.2f}", f"{off:+.1%}".replace("%", " %")]
        rows.append(f"| {' | '.join(cells)} |")
    return [*rows, *figure]


def _measured_head(column: str) -> str:
    return f"**{column.removesuffix('_us').removesuffix('_GBps')}**"
