# SPDX-License-Identifier: LGPL-2.1-only
"""Every source file states the project's licence."""

from pathlib import Path

from tests.support.places import ROOT

SOURCES = {".c", ".cpp", ".f", ".f90", ".h", ".hpp", ".in", ".p4", ".py", ".pyi"}
LICENCE = "SPDX-License-Identifier: LGPL-2.1-only"


def test_each_source_says_its_licence() -> None:
    folders = (
        "src",
        "python",
        "tests",
        "studies",
        "benchmarks",
        "examples",
        "setup",
        "testbed",
    )
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    scripts = [path for path in sources if path.is_file() and _is_script(path)]
    found = [path for path in sources if path.suffix in SOURCES and path.is_file()] + scripts
    assert len(found) > 600
    without = [path for path in found if LICENCE not in _beginning(path)]
    assert not without


def _is_script(path: Path) -> bool:
    return not path.suffix and path.read_bytes().startswith(b"#!")


def _beginning(path: Path) -> str:
    return path.read_text(encoding="utf-8")[:200]
