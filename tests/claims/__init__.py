# SPDX-License-Identifier: LGPL-2.1-only
"""Evidence of the papers' claims: the command behind a row of a page, and the numbers in its cell.

A row of a table with a column `by` names the command that gives its cell, in backticks. `printed`
says how to find the cell's numbers in what that command prints; tests run it. `stored` does so for
commands that take long: it reads the numbers from the tables in docs/ that the command writes. All
numbers of a cell must be found, in their order; the words around them are free.

A file per paper lists its rows, `CLAIMS`, the pages that must have no other rows, `PAGES`, and
cheap parts of its studies, `REPEATS`, whose rows tests measure anew.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.support.places import ROOT
from weft.base.errors import WeftError

DOCS = ROOT / "docs"
CELLS = ("weft", "what weft gives", "here")
"""Heads of the column with weft's result."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")
_ASIDE = re.compile(r"`[^`]*`|\]\([^)]*\)")
"""Parts of a cell in which numbers are names: code, targets of links."""


@dataclass(frozen=True)
class Claim:
    """A row of a page: its command, and the numbers that the command gives for its cell."""

    page: str
    begins: str
    """Beginning of the row's first cell."""
    command: str
    numbers: Callable[[str], Iterable[str]]
    """Return the numbers, from what the commands print; raise AssertionError for what words say."""
    runs: tuple[str, ...] = ()
    """Commands to run; none if the numbers come from stored tables."""

    @property
    def name(self) -> str:
        """Identify the row in the list of tests."""
        how = "runs" if self.runs else "stored"
        return f"{how}: {self.page}: {self.begins}"


def printed(
    page: str,
    begins: str,
    command: str,
    numbers: Callable[[str], Iterable[str]],
    also: Sequence[str] = (),
) -> Claim:
    """Return a row whose command is cheap: it is run, then the commands in `also`."""
    return Claim(page, begins, command, numbers, (command, *also))


def stored(page: str, begins: str, command: str, numbers: Callable[[], Iterable[str]]) -> Claim:
    """Return a row whose command takes long: the numbers come from the tables that it writes."""
    return Claim(page, begins, command, partial(_of_tables, numbers))


def _of_tables(numbers: Callable[[], Iterable[str]], _: str) -> Iterable[str]:
    return numbers()


@dataclass(frozen=True)
class Repeat:
    """A part of a study that is cheap: its rows must be in the stored table."""

    table: Path
    part: str
    measure: Callable[[], Sequence[Mapping[str, str]]]


# ---- Pages


@dataclass(frozen=True)
class Row:
    """A row of a page's table with a column `by`."""

    first: str
    cell: str
    commands: tuple[str, ...]


def rows(page: str) -> list[Row]:
    """Return the rows of a page that name commands in a column `by`."""
    found = []
    column: dict[str, int] = {}
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        cells = cells_of(line)
        if not line.startswith("|"):
            column = {}
        elif "by" in cells and set(cells) & set(CELLS):
            column = {head: number for number, head in enumerate(cells)}
        elif column and not line.startswith("|-"):
            cell = next(cells[column[head]] for head in CELLS if head in column)
            by = re.findall(r"`([^`]+)`", cells[column["by"]])
            found.append(Row(cells[0], cell, tuple(by)))
    return found


def cells_of(line: str) -> list[str]:
    """Return the cells of a table's line."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def numbers_of(cell: str) -> list[str]:
    """Return the numbers of a cell, except those in code and in the targets of links."""
    return _NUMBER.findall(_ASIDE.sub(" ", cell))


def stored_rows(page: str, begins: str) -> list[list[str]]:
    """Return the cells of a page's table rows that begin so; the command fills in that table."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    found = [cells_of(line) for line in lines if line.startswith(f"| {begins}")]
    if not found:
        raise WeftError(f"{page}: no row begins with '| {begins}'")
    return found
