# SPDX-License-Identifier: LGPL-2.1-only
"""Interface of a study: measures into tables, and renders tables as figures and page texts.

The two halves communicate only through the tables, which are kept in docs/. Figures and pages can
therefore be regenerated without measuring, and tests compare them with their tables.
"""

import csv
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from weft.base import pages, plots
from weft.base.errors import WeftError
from weft.base.measured import read_rows
from weft.base.output import whole_file

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
OPTION = "studies"
"""Option name for write errors."""

Row = Mapping[str, object]
Table = list[dict[str, str]]


@dataclass(frozen=True)
class Study:
    """Study: measurement, and rendering of its tables."""

    name: str
    about: str
    measure: Callable[[], None]
    """Executes missing runs, and writes the tables."""
    figures: Callable[[], Mapping[Path, Figure]] = dict
    """Draws the tables."""
    page: Path | None = None
    """Page with sections for texts."""
    texts: Callable[[], Mapping[str, str]] = field(default=dict)
    """Returns the texts of the page from the tables, by section name."""


def show(study: Study) -> None:
    """Write the figures and the texts."""
    for target, figure in study.figures().items():
        plots.save(figure, [target], OPTION)
    if study.page is not None:
        pages.fill(OPTION, study.page, study.texts())


def write_table(target: Path, rows: Sequence[Row], head: str = "") -> None:
    """Write rows below a comment; the first row provides the column names."""
    target.parent.mkdir(exist_ok=True)
    with whole_file(OPTION, target) as file:
        file.write(head)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_table(source: Path) -> Table:
    """Read a table written by `write_table`."""
    return read_rows(source)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table with `left` text columns, followed by number columns."""
    rule = "---|" * left + "---:|" * (len(heads) - left)
    lines = [f"| {' | '.join(heads)} |", f"|{rule}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def run_command(command: Sequence[str]) -> None:
    """Run a command, and show its output if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    result = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
    if result.returncode != 0:
        said = f"{result.stdout}{result.stderr}".rstrip()
        raise WeftError(f"{OPTION}: {' '.join(command)} failed:\n{said}")
