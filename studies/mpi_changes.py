# SPDX-License-Identifier: LGPL-2.1-only
"""docs/conformance.md: the changes of MPI 4.0, 4.1 and 5.0, and weft's support for them.

docs/mpi-changes.csv is hand-written, with a row for each entry of the standards' change-logs and
the test that covers it. The study measures nothing.
"""

from studies.study import DOCS, Study, Table, markdown, read_table

CHANGES = DOCS / "mpi-changes.csv"
STATES = ("done", "not done", "not applicable")


def measure() -> None:
    """Do nothing: the table is hand-written."""


def name_of(row: dict[str, str]) -> str:
    """Return a change's number as in the standard's change-log."""
    number = row["change"]
    return f"erratum {number[1:]}" if number.startswith("e") else f"change {number}"


def by_standard(rows: Table) -> str:
    """Return a table with a row per standard: the number of changes by state."""
    cells = []
    for standard in dict.fromkeys(row["standard"] for row in rows):
        states = [row["weft"] for row in rows if row["standard"] == standard]
        counts = (str(states.count(state)) for state in STATES)
        cells.append((f"MPI {standard}", str(len(states)), *counts))
    return markdown(("standard", "changes", *STATES), cells, left=1)


def not_done(rows: Table) -> str:
    """Return a table of the changes that weft lacks."""
    cells = [
        (f"MPI {row['standard']}, {name_of(row)}", row["says"], row["remark"])
        for row in rows
        if row["weft"] == "not done"
    ]
    return markdown(("change", "says", "weft"), cells, left=3)


def texts() -> dict[str, str]:
    """Return the tables of the page."""
    rows = read_table(CHANGES)
    return {
        "table: changes of MPI": by_standard(rows),
        "table: changes not done": not_done(rows),
    }


STUDY = Study(
    name="mpi-changes",
    about="the changes of MPI 4.0, 4.1 and 5.0; kept, not measured",
    measure=measure,
    page=DOCS / "conformance.md",
    texts=texts,
)
