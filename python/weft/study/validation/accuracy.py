# SPDX-License-Identifier: LGPL-2.1-only
"""Results of `weft validate` in pages (docs/accuracy.md, its appendix, README.md) and as rows.

Each result is written between `<!-- NAME -->` and `<!-- end -->`, where NAME is `verdict`, `gain`,
`summary` or a table of data/.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.base import inputs, pages
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.study.validation import gain_report, verdict
from weft.study.validation.gain import GainResult
from weft.study.validation.gain_report import limited
from weft.study.validation.validate import Result

VERDICT = "verdict"
GAIN = "gain"
SUMMARY = "summary"
_COLUMNS = ("table", "column", "simulated", "by", "key", "measured_us", "simulated_us", "error")


def render(results: Sequence[Result], gains: Sequence[GainResult] = ()) -> dict[str, str]:
    """Return the text by placeholder name."""
    texts: dict[str, str] = {}
    if gains:
        texts[VERDICT] = _lines(verdict.lines(gains))
        texts[GAIN] = _lines(gain_report.lines(gains))
    texts[SUMMARY] = _lines(_summary(results))
    for table in dict.fromkeys(result.check.table for result in results):
        stem = Path(table).stem
        texts[Path(table).name] = f"![{stem}](figures/{stem}.png)\n"
    return texts


def on_page(page: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that have a placeholder on a page."""
    return {name: text for name, text in texts.items() if f"<!-- {name} -->\n" in page}


def write(
    documents: Sequence[Path], results: Sequence[Result], gains: Sequence[GainResult] = ()
) -> None:
    """Fill the placeholders of documents, which together must contain every placeholder."""
    texts = render(results, gains)
    with inputs.unobserved():
        parts = [on_page(one.read_text(encoding="utf-8"), texts) for one in documents]
    if missing := [name for name in texts if not any(name in some for some in parts)]:
        listed = ", ".join(map(str, documents))
        raise WeftError(f"{named('document')}: {listed}: no place `<!-- {missing[0]} -->`; add it")
    for document, some in zip(documents, parts, strict=True):
        pages.fill(named("document"), document, some)


def write_rows(target: Path, results: Sequence[Result]) -> None:
    """Write every row of the checks as CSV; omit checks of half the rows, which are redundant."""
    with whole_file(named("csv"), target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for one in results:
            if one.check.rows != "all":
                continue
            for point in one.points:
                off = point.simulated_us / point.measured_us - 1
                values = f"{point.measured_us:.6g}", f"{point.simulated_us:.6g}", f"{off:.3f}"
                writer.writerow(
                    [one.check.stem, one.check.what, one.title, one.by, point.key, *values]
                )


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
            f" {check.fitted} | {count} | {limited(error.mean, check.mean)} |"
            f" {limited(error.worst, check.worst)} |"
        )
    return rows
