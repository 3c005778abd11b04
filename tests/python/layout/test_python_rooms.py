# SPDX-License-Identifier: LGPL-2.1-only
"""The groups of the Python package form a line, and the map names them in its order."""

from studies.rooms import PACKAGE, group, groups, imports
from studies.study import ROOT


def test_the_map_names_every_group() -> None:
    there = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(groups()) == sorted(there)
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == ["__init__.py", "entry.py"]


def test_a_group_knows_only_those_above_it() -> None:
    line = groups()
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
    assert found - {""} == {*groups(), "_core"}
