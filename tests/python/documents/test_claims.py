# SPDX-License-Identifier: LGPL-2.1-only
"""The papers' claims: each table row contains a command, and its cell matches the command's output.

Cheap commands are run. All other commands are studies, which take minutes: their rows, whose tests
are named `stored`, are compared with the tables in docs/ that these commands write, and parts of
the tables that take only seconds are measured again.
"""

import re
import shlex
import subprocess

import pytest

from studies.all import chosen
from studies.study import read_table
from tests.claims import (
    Claim,
    Repeat,
    belbeisi,
    clauss,
    hirasawa,
    khalilov,
    kuppili,
    numbers_of,
    rows,
)
from tests.support.in_process import run
from tests.support.places import ROOT

PAPERS = (belbeisi, clauss, khalilov, kuppili, hirasawa)
CLAIMS: list[Claim] = [claim for paper in PAPERS for claim in paper.CLAIMS]
REPEATS: list[Repeat] = [one for paper in PAPERS for one in paper.REPEATS]
PAGES: list[str] = [page for paper in PAPERS for page in paper.PAGES]


def given(command: str) -> str:
    """Return the output of a command."""
    words = shlex.split(command)
    assert words[0] == "weft", f"{command}: only weft's own commands are cheap"
    status, out, error = run(words[1:])
    assert status == 0, f"{command}: {error}"
    return out


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_cell_has_the_numbers_of_its_command(claim: Claim) -> None:
    (row,) = (row for row in rows(claim.page) if row.first.startswith(claim.begins))
    assert claim.command in row.commands
    expected = list(claim.numbers("".join(map(given, claim.runs))))
    assert numbers_of(row.cell) == expected, f"{claim.page}: '{claim.begins}' has other numbers"


@pytest.mark.parametrize("page", PAGES)
def test_every_row_is_tested(page: str) -> None:
    found = rows(page)
    assert found
    begins = [claim.begins for claim in CLAIMS if claim.page == page]
    untested = [row.first for row in found if not row.first.startswith(tuple(begins))]
    assert untested == []
    assert len(begins) == len(found)


@pytest.mark.parametrize("repeat", REPEATS, ids=lambda one: f"{one.table.stem}: {one.part}")
def test_a_stored_table_is_what_its_study_measures(repeat: Repeat) -> None:
    kept = read_table(repeat.table)
    measured = repeat.measure()
    assert measured
    for row in measured:
        assert row in kept


MAKES = {claim.command for claim in CLAIMS if claim.command.startswith("make ")}


@pytest.mark.parametrize("command", sorted(MAKES))
def test_a_study_that_a_row_names_exists(command: str) -> None:
    """Expand the Makefile's target without running it."""
    expanded = subprocess.run(
        [*shlex.split(command), "-n"], text=True, capture_output=True, cwd=ROOT, check=True
    ).stdout
    studies = re.findall(r"-m studies (.*)", expanded)
    assert studies or "weft demo" in expanded, f"{command}: runs no study"
    for names in studies:
        assert chosen(names.split())


def test_numbers_are_found_in_words_but_not_in_code_or_links() -> None:
    cell = "[4 times](a-1.md#2), `5`, 1,024 nodes and 27.0 % or +0.3%: 2-level, 16-ary, m3, 7."
    assert numbers_of(cell) == ["4", "1,024", "27.0", "0.3", "2", "16", "7"]
