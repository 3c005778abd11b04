# SPDX-License-Identifier: LGPL-2.1-only
"""The testbed is a separate distribution, which weft knows only through its entry point."""

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import weft
from studies.rooms import PACKAGE, imports
from tests.support.places import ROOT
from weft.base import extras

TESTBED = ROOT / "testbed" / "weft_testbed"
USED = {"_core", "api", "base", "cli", "fabric"}
"""Rooms of weft that the testbed uses."""
# In dependency order: a folder imports only folders before it.
FOLDERS = ("hardware", "plan", "tables", "p4", "running")
MOST_FILES = 20


def module(file: Path) -> str:
    name = ".".join(file.relative_to(TESTBED.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


MODULES = {module(file): file for file in sorted(TESTBED.rglob("*.py"))}


def imported(file: Path) -> set[str]:
    """Return the modules of the testbed that a file imports anywhere."""
    names = {name if name in MODULES else name.rpartition(".")[0] for name in imports(file)}
    return names & MODULES.keys() - {module(file)}


def test_weft_imports_nothing_of_the_testbed() -> None:
    """The exception is names for type checkers, which the interpreter does not read."""
    users = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if any(one.startswith("weft_testbed") for one in imports(file))
    ]
    assert users == ["__init__.py"]
    for node in ast.parse((PACKAGE / "__init__.py").read_text("utf-8")).body:
        assert "weft_testbed" not in ast.unparse(node) or ast.unparse(node).startswith(
            ("if TYPE_CHECKING:", '"""')
        )


def test_the_testbed_uses_few_rooms_of_weft() -> None:
    found = {
        one.split(".")[1]
        for file in MODULES.values()
        for one in imports(file)
        if one.startswith("weft.")
    }
    assert found == USED


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert len(MODULES) > 50
    graph = {name: imported(file) for name, file in MODULES.items()}
    TopologicalSorter(graph).prepare()


def test_a_folder_knows_only_those_before_it_and_is_small() -> None:
    for number, folder in enumerate(FOLDERS):
        later = tuple(f"weft_testbed.{one}" for one in (*FOLDERS[number + 1 :], "cli", "api"))
        files = list((TESTBED / folder).glob("*.py"))
        assert len(files) <= MOST_FILES
        assert [
            (file, one) for file in files for one in imported(file) if one.startswith(later)
        ] == []


def test_the_map_names_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^testbed/weft_testbed/ (.*)$", text, re.MULTILINE)
    folders = {file.parent.name for file in MODULES.values()} - {"weft_testbed"}
    assert set(re.findall(r"(\w+)/", line)) == folders | {"inventories"}


def test_both_distributions_have_one_version_and_require_it() -> None:
    def project(folder: Path) -> dict[str, object]:
        loaded = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        found = loaded["project"]
        assert isinstance(found, dict)
        return found

    own, its = project(ROOT), project(ROOT / "testbed")
    assert its["version"] == own["version"]
    needed, optional = its["dependencies"], own["optional-dependencies"]
    assert isinstance(needed, list)
    assert isinstance(optional, dict)
    assert f"weft=={own['version']}" in needed
    assert optional["testbed"] == [f"weft-testbed=={own['version']}"]


def test_it_registers_its_command_and_its_calls() -> None:
    assert extras.commands()["testbed"][0] == "weft_testbed.cli"
    names = extras.calls()
    assert {"testbed_plan", "TestbedPlan", "P4Switch"} <= names.keys()
    assert not names.keys() & set(weft.__all__)
    assert names.keys() <= set(dir(weft))
    assert all(getattr(weft, name).__module__ == module for name, module in names.items())
