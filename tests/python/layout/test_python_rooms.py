# SPDX-License-Identifier: LGPL-2.1-only
"""Imports in python/weft: they follow ARCHITECTURE.md's list of rooms, without cycles of modules.

Imports inside functions and for type checkers also count: they save start-up time, but do not
remove a dependency.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from studies.rooms import PACKAGE, folders, group, groups, imports
from tests.support.places import ROOT

MOST_FILES = 20
LOADED_BY_NAME = {"weft"}
"""The package itself, which loads its names lazily."""


def module(file: Path) -> str:
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


MODULES = {module(file): file for file in sorted(PACKAGE.rglob("*.py"))}
ROOMS = sorted({file.parent for file in MODULES.values()} - {PACKAGE})


def room_of(name: str) -> str:
    """Return the folder of a module."""
    return str(MODULES[name].parent.relative_to(PACKAGE))


def imported(file: Path) -> set[str]:
    """Return the modules of weft that a file imports anywhere."""
    names = {name if name in MODULES else name.rpartition(".")[0] for name in imports(file)}
    return names & MODULES.keys() - LOADED_BY_NAME - {module(file)}


GRAPH = {name: imported(file) for name, file in MODULES.items() if name not in LOADED_BY_NAME}


def check_no_cycle(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as cycle:
        pytest.fail(" imports ".join(cycle.args[1]))


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert len(GRAPH) > 200
    check_no_cycle(GRAPH)


def test_no_room_imports_itself_by_way_of_others() -> None:
    rooms: dict[str, set[str]] = {}
    for name, others in GRAPH.items():
        known = {room_of(other) for other in others}
        rooms.setdefault(room_of(name), set()).update(known - {room_of(name)})
    check_no_cycle(rooms)


def test_the_map_names_every_room() -> None:
    listed = {*groups(), *(f"{name}/{folder}" for name in groups() for folder in folders(name))}
    assert listed == {str(room.relative_to(PACKAGE)) for room in ROOMS}
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == ["__init__.py", "entry.py"]


def test_a_group_knows_only_those_above_it() -> None:
    line = groups()
    wrong = [
        f"{file.relative_to(ROOT)} imports {one}"
        for place, name in enumerate(line)
        for file in sorted((PACKAGE / name).rglob("*.py"))
        for one in imports(file)
        if group(one) in line[place + 1 :]
    ]
    assert wrong == []


@pytest.mark.parametrize("name", [name for name in groups() if len(folders(name)) > 1])
def test_a_folder_knows_only_those_before_it(name: str) -> None:
    line = folders(name)
    wrong = [
        f"{one} imports {other}"
        for place, folder in enumerate(line)
        for one, others in GRAPH.items()
        if room_of(one) == f"{name}/{folder}"
        for other in others
        if room_of(other) in {f"{name}/{later}" for later in line[place + 1 :]}
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_a_room_is_small_and_says_what_it_owns_and_who_may_use_it(room: Path) -> None:
    files = [path for path in room.glob("*.py") if path.name != "__init__.py"]
    assert len(files) <= MOST_FILES
    head = ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or ""
    assert len(head.partition("\n")[0]) > len("`weft cache`.")
    own = str(room.relative_to(PACKAGE))
    if own.startswith("cli"):  # commands, which only `weft` itself loads
        return
    users = {
        room_of(name)
        for name, others in GRAPH.items()
        for other in others
        if own in {room_of(other), room_of(other).partition("/")[0]}
    }
    allowed = re.search(r"Users: ([^.]*)\.", head)
    assert allowed is not None or own == "api"
    if allowed is not None and allowed[1] != "all rooms":
        names = {name.strip() for name in re.split(r",\s", allowed[1])}
        wrong = {
            user
            for user in users
            if not user.startswith(own) and not {user, user.partition("/")[0]} & names
        }
        assert wrong == set()


def test_every_module_of_a_group_is_found() -> None:
    found = {group(one) for file in PACKAGE.rglob("*.py") for one in imports(file)}
    assert found - {""} == {*groups(), "_core"}
