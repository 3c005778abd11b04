# SPDX-License-Identifier: LGPL-2.1-only
"""The pinned packages install on the oldest Python that README promises: Debian 12's."""

import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.support.places import ROOT

OLDEST_PYTHON = "3.11.2"
PINNED = re.compile(r"^([\w.-]+)(\[.*\])?==", re.MULTILINE)


@pytest.mark.parametrize("file", sorted((ROOT / "setup" / "requirements").glob("*.txt")))
def test_pinned_packages_support_the_oldest_python(file: Path) -> None:
    pinned = [match[1] for match in PINNED.finditer(file.read_text(encoding="utf-8"))]
    assert pinned
    asked = {name: distribution(name).metadata["Requires-Python"] or "" for name in pinned}
    wrong = {name: its for name, its in asked.items() if OLDEST_PYTHON not in SpecifierSet(its)}
    assert wrong == {}
