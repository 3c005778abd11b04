# SPDX-License-Identifier: LGPL-2.1-only
"""The groups of the Python package form a line, and the map names them in its order."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "weft"


def named_in_the_map() -> list[str]:
    """Return the groups in the order of ARCHITECTURE.md's list of parts."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    return re.findall(
        r"^  (\w+)/ .*", text.partition("\npython/weft/ ")[2].partition("\n```")[0], re.M
    )


def imports(file: Path) -> Iterator[str]:
    """Yield the modules of weft that a file imports anywhere, those for the type checker too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: imports are absolute"
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def group(module: str) -> str:
    """Return the group of a module of weft."""
    return module.split(".")[1] if module.startswith("weft.") else ""


def test_the_map_names_every_group() -> None:
    there = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(named_in_the_map()) == sorted(there)
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == ["__init__.py", "entry.py"]


def test_a_group_knows_only_those_above_it() -> None:
    line = named_in_the_map()
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for place, name in enumerate(line)
        for file in sorted((PACKAGE / name).rglob("*.py"))
        for module in imports(file)
        if group(module) in line[place + 1 :]
    ]
    assert wrong == []


def test_every_module_of_a_group_is_found() -> None:
    found = {group(module) for file in PACKAGE.rglob("*.py") for module in imports(file)}
    assert found - {""} == {*named_in_the_map(), "_core"}
