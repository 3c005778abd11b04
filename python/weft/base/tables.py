# SPDX-License-Identifier: LGPL-2.1-only
"""Tables on terminals and in files, and the formatting of their numbers."""

import io
import sys
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

_PLAIN_WIDTH = 1000
_USUAL_WIDTH = 80


def console(*, stderr: bool = False) -> Console:
    """Return a console; outside a terminal, lines are not limited in width."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    made = Console(file=stream, width=width, highlight=False, markup=False)
    if made.width < 1:  # With COLUMNS=0, rich would print nothing.
        made.width = _USUAL_WIDTH
    return made


def printed(write: Callable[[Console], None]) -> list[str]:
    """Return the lines written to a console outside a terminal."""
    on = Console(file=io.StringIO(), width=_PLAIN_WIDTH, highlight=False, markup=False)
    write(on)
    file = on.file
    assert isinstance(file, io.StringIO)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def print_title(title: str, on: Console) -> None:
    """Print the line above a table."""
    on.print(title, style="bold", soft_wrap=True)


def new_table(names: Sequence[str], left: Sequence[str] = ()) -> Table:
    """Return an empty table; columns are right-aligned numbers, except those in `left`."""
    table = Table(box=None, pad_edge=False, header_style="underline")
    for name in names:
        if name in left:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def table_of(rows: Sequence[dict[str, str]], left: Sequence[str]) -> Table:
    """Build a table of rows by column."""
    table = new_table(list(rows[0]), left)
    for row in rows:
        table.add_row(*row.values())
    return table


def print_table(table: Table, on: Console) -> None:
    """Print a table; if the terminal is too narrow for its numbers, print one line per cell."""
    if _least_width(table) <= on.width:
        on.print(table)
        return
    names = [str(column.header).strip() for column in table.columns]
    indent = 2 if len(names) > 1 else 0
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        for number, (name, cell) in enumerate(zip(names, cells, strict=True)):
            line = f"{name}: {cell}" if name else str(cell)
            if cell:
                on.print(" " * (indent if number else 0) + line, soft_wrap=True)


def _least_width(table: Table) -> int:
    """Return the smallest width at which rich neither truncates numbers nor splits words."""
    gaps = (table.padding[1] + table.padding[3]) * (len(table.columns) - 1)
    return gaps + sum(_least_column(column) for column in table.columns)


def _least_column(column: Column) -> int:
    texts = [str(column.header), *map(str, column.cells)]
    parts = texts if column.no_wrap else [word for text in texts for word in text.split()]
    return max(map(cell_len, parts), default=0)


_SPARE = 6
"""Spare columns: without them, Rich breaks words even if the longest words of all columns fit."""


def fitting(
    rows: Sequence[dict[str, str]], dispensable: Sequence[str], left: Sequence[str], on: Console
) -> Table:
    """Build a table of rows by column, dropping dispensable columns in order on a narrow terminal.

    If even the remaining columns do not fit, all columns are kept and printed as one line per cell.
    """
    whole = table = table_of(rows, left)
    for name in dispensable:
        if _width(table, on) <= on.width:
            return table
        rows = [{key: cell for key, cell in row.items() if key != name} for row in rows]
        table = table_of(rows, left)
    return table if _least_width(table) + _SPARE <= on.width else whole


def _width(table: Table, on: Console) -> int:
    unlimited = on.options.update(max_width=_PLAIN_WIDTH)
    return table.__rich_measure__(on, unlimited).maximum


def microseconds(time_s: float | None) -> str:
    """Return a time in microseconds as in tables; empty if unknown."""
    return "" if time_s is None else f"{time_s * 1e6:.3f}"


def percent(part: float) -> str:
    """Format a fraction as a percentage in tables."""
    return f"{part:.1%}"
