# SPDX-License-Identifier: LGPL-2.1-only
"""docs/campaign-files.md: what the columns of its tables are, as the program knows them.

Nothing is measured.
"""

from collections.abc import Mapping

from studies.study import DOCS, Study, markdown
from weft.campaign.file.columns import COLLECTIVE_COLUMNS, COLUMNS, Column

PAGE = DOCS / "campaign-files.md"


def _table(columns: Mapping[str, Column]) -> str:
    rows = [(f"`{name}`", one.unit, one.meaning) for name, one in columns.items()]
    return markdown(("column", "unit", ""), rows, 3)


def texts() -> dict[str, str]:
    """Return the text of each place."""
    return {"table: runs": _table(COLUMNS), "table: collectives": _table(COLLECTIVE_COLUMNS)}


STUDY = Study(
    "campaigns",
    "the columns of a campaign's tables, as the program knows them",
    measure=lambda: None,
    page=PAGE,
    texts=texts,
)
