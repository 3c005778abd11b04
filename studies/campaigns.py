# SPDX-License-Identifier: LGPL-2.1-only
"""docs/campaign-files.md: keys and result columns, as defined by the program.

The study measures nothing.
"""

from collections.abc import Mapping

from studies.command_line import marked_up
from studies.study import DOCS, Study, markdown
from weft.campaign.file.columns import (
    COLLECTIVE_COLUMNS,
    COLUMNS,
    ITERATION_COLUMNS,
    JOB_COLUMNS,
    JOB_GAINS,
    PART_COLUMNS,
    Column,
)
from weft.campaign.file.keys import AXES, CAMPAIGN, OTHERS, PROGRAM, RULES, RUNS

PAGE = DOCS / "campaign-files.md"


def _table(columns: Mapping[str, Column]) -> str:
    rows = [(f"`{name}`", one.unit, one.meaning) for name, one in columns.items()]
    return markdown(("column", "unit", ""), rows, 3)


def _keys(meanings: Mapping[str, str]) -> str:
    rows = [
        (one if " " in one else f"`{one}`", marked_up(text) if one in AXES else text)
        for one, text in meanings.items()
    ]
    return markdown(("key", ""), rows, 2)


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    gains = {name: JOB_COLUMNS[name] for name in JOB_GAINS}
    others = {name: one for name, one in JOB_COLUMNS.items() if name not in gains}
    return {
        "table: keys of campaign": _keys(CAMPAIGN),
        "table: keys of programs": _keys(PROGRAM),
        "table: keys of runs": _keys({**RUNS, **OTHERS, **RULES}),
        "table: runs": _table(COLUMNS),
        "table: iterations": _table(ITERATION_COLUMNS),
        "table: parts": _table(PART_COLUMNS),
        "table: jobs": _table(others),
        "table: gains of jobs": _table(gains),
        "table: collectives": _table(COLLECTIVE_COLUMNS),
    }


STUDY = Study(
    "campaigns",
    "the keys of a campaign's file and the columns of its tables, as the program knows them",
    measure=lambda: None,
    page=PAGE,
    texts=texts,
)
