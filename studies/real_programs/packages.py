# SPDX-License-Identifier: LGPL-2.1-only
"""Tests of released packages and clocks of programs: two tables of docs/real-programs.md.

The tables record manual runs, which the study does not repeat: packages take hours to build, and
the programs are not part of the project.
"""

from studies.study import DOCS, Study, Table, markdown, read_table

PACKAGES = DOCS / "real-programs-packages.csv"
CLOCKS = DOCS / "real-programs-clocks.csv"


def measure() -> None:
    """Do nothing: the tables are records."""


def packages(rows: Table) -> str:
    """Return the table of packages: tests passed with weft and with another MPI library."""
    heads = ("package", "tests", "passed with weft", "passed with Open MPI", "weft, s", "remarks")
    cells = [
        (
            f"{row['package']} {row['version']}",
            row["tests"],
            row["weft_passed"],
            row["openmpi_passed"] or "not run",
            row["weft_s"],
            row["remarks"],
        )
        for row in rows
    ]
    return markdown(heads, cells, left=len(heads))


def clocks(rows: Table) -> str:
    """Return the table of programs that read other clocks than MPI_Wtime."""
    heads = ("program", "language", "clock", "prints", "printed", "simulated, s")
    cells = [
        (
            row["program"],
            row["language"],
            f"`{row['clock']}`",
            row["prints"],
            _both(row["printed_slow"], row["printed_fast"]),
            _both(row["simulated_slow_s"], row["simulated_fast_s"]),
        )
        for row in rows
    ]
    return markdown(heads, cells, left=len(heads))


def _both(slow: str, fast: str) -> str:
    return "; ".join(one or "-" for one in (slow, fast))


STUDY = Study(
    name="packages",
    about="tests of released packages, and clocks of programs; kept, not measured",
    measure=measure,
    page=DOCS / "real-programs.md",
    texts=lambda: {
        "table: packages": packages(read_table(PACKAGES)),
        "table: program-clocks": clocks(read_table(CLOCKS)),
    },
)
