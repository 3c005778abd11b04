# SPDX-License-Identifier: LGPL-2.1-only
"""Single version number: pyproject.toml declares it, and all other mentions agree."""

import re
import tomllib

from tests.support.places import ROOT
from tests.support.simulated import weft_says

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_installed_core_has_the_declared_version() -> None:
    assert weft_says("--version").stdout.startswith(f"weft {VERSION}, with SimGrid 4.")


def test_the_citation_names_it() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [VERSION]


def test_the_changelog_begins_with_it() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (.*)$", text, re.MULTILINE)
    assert first and VERSION in first[1].split()


def test_it_has_release_notes() -> None:
    page = (ROOT / "docs" / f"release-{VERSION}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# Release notes of {VERSION}\n")
