# SPDX-License-Identifier: LGPL-2.1-only
"""Sizes of pages and tables, and statements about refusals, in the documents.

A page that people read to its end has at most 3,000 words, and a table at most 8 columns and 20
rows. Pages that exceed a limit are listed with their numbers, which may only fall.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.places import ROOT

MOST_WORDS, MOST_COLUMNS, MOST_ROWS = 3000, 8, 20
DOCUMENTS = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
_FENCE = re.compile(r"^(```+).*?^\1", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_REFUSAL = re.compile(r"\b(?:is|are) (?:refused|not supported|unsupported)\b|\bdoes not support\b")
_SECTION = re.compile(r"^##.*$", re.MULTILINE)
_STATUS = re.compile(r"^weft: |^2$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """Sizes of a page beyond the limits."""

    words: int
    """Words outside code blocks; 0 if within the limit."""
    wide: int
    """Tables with too many columns."""
    long: int
    """Tables with too many rows."""


BEYOND = {
    "docs/README.md": Page(0, 0, 1),
    "docs/accuracy-tables.md": Page(3300, 0, 1),
    "docs/accuracy.md": Page(0, 2, 0),
    "docs/campaign-files.md": Page(0, 0, 2),
    "docs/command-line.md": Page(11200, 0, 5),
    "docs/compiling.md": Page(0, 0, 2),
    "docs/contention.md": Page(0, 0, 1),
    "docs/fabric-files.md": Page(8400, 0, 2),
    "docs/faults.md": Page(3500, 0, 0),
    "docs/forwarding-experiment.md": Page(3100, 5, 0),
    "docs/forwarding.md": Page(3500, 0, 0),
    "docs/jobs.md": Page(4000, 1, 1),
    "docs/models.md": Page(10300, 0, 0),
    "docs/multicast.md": Page(5900, 1, 2),
    "docs/nccl.md": Page(0, 0, 1),
    "docs/paper-001.md": Page(0, 1, 1),
    "docs/performance.md": Page(4900, 1, 2),
    "docs/python.md": Page(0, 0, 1),
    "docs/real-programs.md": Page(3700, 2, 2),
    "docs/record.md": Page(4600, 0, 3),
    "docs/simgrid.md": Page(3700, 0, 2),
    "docs/testbed.md": Page(4000, 0, 1),
    "docs/trace-files.md": Page(0, 0, 1),
    "docs/training-models.md": Page(0, 1, 1),
}
"""Pages that exceed a limit, most of which are generated references."""

UNSHOWN = {
    "docs/forwarding-experiment.md": 1,
    "docs/micro-benchmarks.md": 1,
    "docs/offloading.md": 2,
    "docs/simgrid-platforms.md": 1,
    "docs/testbed.md": 3,
    "docs/trace-files.md": 3,
    "docs/traffic.md": 2,
    "docs/training-models.md": 2,
    "docs/training-traces.md": 3,
}
"""Statements about refusals, by page, in sections without a console block that shows a refusal."""


def size_of(text: str) -> Page:
    plain = _FENCE.sub("", text)
    words = len(re.findall(r"[^\s|]*\w[^\s|]*", plain))
    tables = [found[0].splitlines() for found in _TABLE.finditer(plain)]
    return Page(
        words if words > MOST_WORDS else 0,
        sum(len(re.split(r"(?<!\\)\|", table[0])) - 2 > MOST_COLUMNS for table in tables),
        sum(len(table) - 2 > MOST_ROWS for table in tables),
    )


def unshown(text: str) -> Iterator[str]:
    """Yield statements about refusals whose section has no console block with a refusal."""
    for section in _SECTION.split(text):
        if not any(_STATUS.search(block) for block in _CONSOLE.findall(section)):
            for statement in re.split(r"(?<=[.:;])\s", _FENCE.sub("", section)):
                if _REFUSAL.search(statement):
                    yield " ".join(statement.split())


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_pages_and_tables_are_short(document: Path) -> None:
    found = size_of(document.read_text(encoding="utf-8"))
    allowed = BEYOND.get(name_of(document), Page(0, 0, 0))
    said = f"{name_of(document)}: found {found}, allowed {allowed}; split the page, or write a CSV"
    assert found.words <= allowed.words, said
    assert found.wide <= allowed.wide, said
    assert found.long <= allowed.long, said


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_refusals_are_console_blocks(document: Path) -> None:
    found = list(unshown(document.read_text(encoding="utf-8")))
    assert len(found) <= UNSHOWN.get(name_of(document), 0), "\n".join(found)


def test_exceptions_are_still_needed() -> None:
    sizes = {name_of(one): size_of(one.read_text(encoding="utf-8")) for one in DOCUMENTS}
    assert set(BEYOND) == {name for name, one in sizes.items() if one != Page(0, 0, 0)}
    numbers = {
        name_of(one): len(list(unshown(one.read_text(encoding="utf-8")))) for one in DOCUMENTS
    }
    assert {name: number for name, number in numbers.items() if number} == UNSHOWN


def test_limits_are_measured() -> None:
    row = "| " + " | ".join("x" * 9) + " |\n"
    assert size_of("word " * 3001) == Page(3001, 0, 0)
    assert size_of("word " * 3000 + "\n```console\nmore words\n```\n") == Page(0, 0, 0)
    assert size_of(row * 2 + row) == Page(0, 1, 0)
    assert size_of("| a |\n|---|\n" + "| x |\n" * 21) == Page(0, 0, 1)
    text = "## A\n\nWindows are refused.\n\n"
    assert list(unshown(text)) == ["Windows are refused."]
    shown = "```console\n$ weft run x\nweft: x: no\n$ echo $?\n2\n```\n"
    assert list(unshown(text + shown)) == []
