# SPDX-License-Identifier: LGPL-2.1-only
"""Notebook view of a record: the table of `weft run`, and anything unusual about the run.

Wall time is omitted, so that rerunning a notebook yields the same output. The only CSS class is
`dataframe`, which all notebooks style for their light and dark themes.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from weft.runs.profile import profile_rows
from weft.runs.record_data import RecordData
from weft.runs.tables import (
    FOR_THIS_PLACEMENT,
    budget_notes,
    budget_rows,
    budgets_of,
    cells_of,
    doubtful_values,
    gain_cells,
    losses,
    reasons,
    summary,
    waits,
)

_LAST_LINES = 20


def record_as_html(record: RecordData) -> str:
    """Return the summary, the collectives, the profile, and the outcome of a failed run."""
    parts = [f"<strong>{escape(summary(record))}</strong>"]
    if record.failed:
        parts.append(f"<p><strong>{escape(record.outcome.kind)}</strong>: {_lines(record)}</p>")
    if record.collectives:
        ordered = sorted(record.collectives, key=lambda row: -(row.total_time_s or 0))
        parts.append(table([cells_of(row) for row in ordered]))
    if record.jobs and any(job.without_offload for job in record.jobs):
        parts.append(f"<p>gain of jobs, --offload {escape(record.offload)} and off for all</p>")
        parts.append(table(gain_cells(record.jobs)))
        parts += [f"<p>{FOR_THIS_PLACEMENT}</p>"] if len(record.jobs) > 1 else []
    lines = (*waits(record), *_reasons(record), *losses(record), *doubtful_values(record))
    parts += [f"<p>{escape(line)}</p>" for line in lines]
    if budgets := budgets_of(record):
        parts.append("<p>budget of faults</p>")
        parts.append(table(budget_rows("job" if record.jobs else "", budgets)))
        parts += [f"<p>{escape(line)}</p>" for line in budget_notes(budgets)]
    if rows := profile_rows(record):
        parts.append(folded("time per rank", table(rows)))
    if record.output:
        parts.append(folded("output of the program", preformatted(_last(record.output))))
    return "<div>" + "".join(parts) + "</div>"


def _lines(record: RecordData) -> str:
    return escape(record.outcome.message).replace("\n", "<br>")


def _reasons(record: RecordData) -> Sequence[str]:
    return () if record.failed and not record.simulated_time_s else reasons(record)


def _last(output: str) -> str:
    lines = output.rstrip("\n").splitlines()
    more = [f"({len(lines) - _LAST_LINES:,} lines before)"] if len(lines) > _LAST_LINES else []
    return "\n".join([*more, *lines[-_LAST_LINES:]])


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return a table of rows by column, with all text escaped."""
    head = _cells("th", rows[0]) if rows else ""
    body = "".join(f"<tr>{_cells('td', row.values())}</tr>" for row in rows)
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cells(kind: str, texts: Iterable[str]) -> str:
    return "".join(f"<{kind}>{escape(text)}</{kind}>" for text in texts)


def folded(title: str, content: str) -> str:
    """Return collapsible content with a title."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def preformatted(text: str) -> str:
    """Return preformatted text."""
    return f"<pre>{escape(text)}</pre>"
