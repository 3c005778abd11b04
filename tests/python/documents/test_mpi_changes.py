# SPDX-License-Identifier: LGPL-2.1-only
"""docs/mpi-changes.csv: its tests exist, and programs can call the functions that changes add."""

import pytest

from studies.mpi_changes import CHANGES, STATES, name_of
from studies.mpi_functions import called_by_tests, there
from studies.study import read_table
from tests.support.places import ROOT

ROWS = read_table(CHANGES)
# Entries of annex B.1 of each standard: fixes to errata, changes.
LINES = {"4.0": (4, 34), "4.1": (17, 29), "5.0": (4, 4)}


def _name(row: dict[str, str]) -> str:
    return f"{row['standard']} {name_of(row)}"


@pytest.mark.parametrize("standard", LINES)
def test_every_line_has_a_row(standard: str) -> None:
    errata, changes = LINES[standard]
    expected = [f"e{number}" for number in range(1, errata + 1)]
    expected += [str(number) for number in range(1, changes + 1)]
    assert [row["change"] for row in ROWS if row["standard"] == standard] == expected


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_names_what_shows_it(row: dict[str, str]) -> None:
    assert row["weft"] in STATES
    missing = [path for path in row["test"].split() if not (ROOT / path).is_file()]
    assert not missing
    if row["weft"] == "done":
        assert row["test"]
    else:
        assert row["remark"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["functions"]], ids=_name)
def test_functions_that_a_change_adds(row: dict[str, str]) -> None:
    """A test calls each available function, except for event functions, as there are no events."""
    names = row["functions"].split()
    present = [name for name in names if name in there()]
    assert present == names or row["weft"] == "not done"
    uncalled = [name for name in present if name.lower() not in called_by_tests()]
    assert not [name for name in uncalled if not name.startswith(("T_event", "T_source"))]
