# SPDX-License-Identifier: LGPL-2.1-only
"""Public files of other tools that were tested with weft: a table of docs/fabrics.md.

docs/foreign-files.csv is a record of these tests, which the study does not repeat, because the
files are not part of the project.
"""

from collections.abc import Sequence

from studies.study import DOCS, Study, Table, markdown, read_table

FILES = DOCS / "foreign-files.csv"
_MOST_NAMES = 4


def measure() -> None:
    """Do nothing: the table is a record."""


def by_kind(rows: Table) -> str:
    """Return a table with a row per kind of file."""
    kinds = dict.fromkeys(row["kind"] for row in rows)
    cells = [_row(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    return markdown(("kind", "from", "read"), cells, left=2)


def _row(kind: str, rows: Sequence[dict[str, str]]) -> tuple[str, str, str]:
    sources = list(dict.fromkeys(row["repository"] for row in rows))
    named = ", ".join(sources[:_MOST_NAMES])
    if len(sources) > _MOST_NAMES:
        named += f" and {len(sources) - _MOST_NAMES} more"
    return kind, named, f"{sum(row['read'] == 'yes' for row in rows)} of {len(rows)}"


STUDY = Study(
    name="foreign-files",
    about="public files of other tools; kept, not measured",
    measure=measure,
    page=DOCS / "fabrics.md",
    texts=lambda: {"table: foreign-files": by_kind(read_table(FILES))},
)
