# SPDX-License-Identifier: LGPL-2.1-only
"""Includes in src/: they follow ARCHITECTURE.md's list of rooms, without cycles within a room.

A room is a folder with sources. It includes only rooms above it in the list, and rooms of the core
do not include SimGrid. Within a room, a unit is a header with its source file. Includes of the
source file count too, because units with cyclic dependencies can only be understood, changed and
tested together.
"""

import re
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from studies.rooms import CORE_ENDS, PACKAGE, SRC, includes, own_rooms, rooms, sources, used_rooms
from tests.support.places import ROOT
from weft.base.process import PARENT
from weft.runs.options import run_options
from weft.runs.settings import FOR_TESTS, Settings, variable

# Exceptions to the order, which ARCHITECTURE.md states in words.
ONLY = {
    "allocator": set[str](),
    "host_rates": set[str](),
    "mpi": {"mpi"},
    "replay": {"mpi", "replay", "trace"},
}
NOT = {"python": ("mpi", "binding", "compilers", "replay")}
MOST_FILES = 20


def allowed(room: str) -> set[str]:
    """Return the rooms that a room may include: itself and the rooms above it."""
    order = [one for one in rooms() if one != CORE_ENDS]
    if room in ONLY:
        return ONLY[room]
    known = order[: order.index(room) + 1]
    return {one for one in known if not one.startswith(NOT.get(room, ("/",)))}


def test_the_list_has_all_rooms() -> None:
    on_disk = {str(path.parent.relative_to(SRC)) for path in SRC.rglob("*.?pp")}
    listed = set(rooms()) - {CORE_ENDS}
    assert on_disk <= listed
    assert all((SRC / room).is_dir() for room in listed)


@pytest.mark.parametrize("room", [room for room in rooms() if room != CORE_ENDS])
def test_a_room_includes_only_rooms_above_it(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} includes {other}"
        for path in sources(room)
        for other in sorted(own_rooms(path) - allowed(room))
    ]
    assert wrong == []


@pytest.mark.parametrize("room", [room for room in rooms() if room != CORE_ENDS])
def test_a_room_is_small_and_says_what_it_owns(room: str) -> None:
    files = sources(room)
    assert len(files) <= MOST_FILES
    if files:
        assert (SRC / room / "README.md").is_file()


def test_the_core_knows_neither_simgrid_nor_mpi() -> None:
    order = rooms()
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for room in order[: order.index(CORE_ENDS)]
        for path in sources(room)
        for own, name in includes(path)
        if not own and name.split("/")[0] in {"simgrid", "smpi", "xbt", "mpi.h"}
    ]
    assert wrong == []


def test_no_two_rooms_know_each_other() -> None:
    graph = {room: used_rooms(room) for room in rooms() if room != CORE_ENDS}
    assert len(graph) > 30
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail("rooms that know each other in a circle: " + " -> ".join(circle.args[1]))


@pytest.mark.parametrize("room", [room for room in rooms() if room.startswith("binding")])
def test_the_units_of_a_room_of_the_binding_form_no_circle(room: str) -> None:
    graph: dict[str, set[str]] = {}
    for path in sources(room):
        known = {
            Path(name).stem
            for own, name in includes(path)
            if own and str(Path(name).parent) == room
        }
        graph.setdefault(path.stem, set()).update(known - {path.stem})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail("units that know each other in a circle: " + " -> ".join(circle.args[1]))


def uses(pattern: str, *allowed: str) -> list[str]:
    """Return matching lines of C++, except in the allowed files and folders of src/."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(SRC.rglob("*.?pp"))
        if not str(path.relative_to(SRC)).startswith(allowed)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


def test_code_that_is_kept_out_of_line_says_why() -> None:
    """Tunings state the reason in their descriptions; elsewhere, a comment above states it."""
    reason = re.compile(r"out of line", re.IGNORECASE)
    without = []
    for path in sorted(SRC.rglob("*.?pp")):
        lines = path.read_text(encoding="utf-8").splitlines()
        without += [
            f"{path.relative_to(ROOT)}:{at + 1}"
            for at, line in enumerate(lines)
            if "gnu::noinline" in line
            and not path.is_relative_to(SRC / "binding" / "tuning")
            and not reason.search(" ".join(lines[max(0, at - 8) : at]))
        ]
    assert without == []


def test_headers_leave_json_to_sources() -> None:
    """CMakeLists.txt compiles the sources that include it as one, as it takes long to compile."""
    makes = ("binding/observe/json/json_rows.hpp", "binding/observe/record_run.hpp")
    included = re.compile(
        r"^#include .({}).".format("|".join((*makes, "nlohmann/json.hpp"))), re.MULTILINE
    )
    wrong = [
        name
        for name in (str(path.relative_to(SRC)) for path in sorted(SRC.rglob("*.hpp")))
        if name not in makes and included.search((SRC / name).read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_only_entries_from_mpi_look_up_the_run() -> None:
    entries = ("binding/entries/", "binding/dynamic/", "binding/launch/", "binding/platform.cpp")
    assert uses(r"\b(current_run|begin_run)\(|current_run\.hpp\"", *entries) == []
    assert len(uses(r"\bbegin_run\(", "binding/entries/")) == 1
    assert uses(r"RunContext\s*[*&]+\s*\w+\(\)", *entries) == []  # another global of this kind


def test_the_number_of_ranks_is_that_of_the_jobs() -> None:
    assert uses(r"smpi/np|smpi_process_count|universe_size", "binding/platform.cpp") == []


SETTINGS = SRC / "binding" / "settings" / "settings.cpp"


def test_one_file_reads_the_environment() -> None:
    reads = re.compile(r"\b(?:secure_)?getenv\s*\(")
    found = {path for path in SRC.rglob("*.[chi]*") if reads.search(path.read_text("utf-8"))}
    assert found == {SETTINGS}


def test_python_sets_the_variables_that_the_library_reads() -> None:
    text = SETTINGS.with_suffix(".hpp").read_text("utf-8")
    read = set(re.findall(r'"(WEFT_\w+)"', text))
    members = re.findall(r'^  /// .+\n  [\w:]+ (\w+) = .*"(WEFT_\w+)"', text, re.MULTILINE)
    assert {name for _, name in members} == read, "a comment before each"
    assert all(name == variable(member) for member, name in members)
    own = {field.name for field in fields(Settings)} - {"options"}
    options = {one.field for one in run_options() if one.option.library}
    assert not own & options
    own |= options
    assert {*map(variable, own), PARENT, *FOR_TESTS} == read
    assert len(own) > 10


def named_files() -> list[tuple[Path, str]]:
    """Return the files and folders that the map and the rooms' READMEs mention as code."""
    pages = [ROOT / "ARCHITECTURE.md", *SRC.rglob("README.md")]
    return [
        (page, name)
        for page in pages
        for name in re.findall(r"`((?:[\w.]+/)+[\w.]*)`", page.read_text(encoding="utf-8"))
    ]


def test_files_that_the_map_names_are_there() -> None:
    wrong = [
        f"{page.relative_to(ROOT)} names {name}"
        for page, name in named_files()
        if not any(
            [*base.glob(f"{name}*")]
            for base in (page.parent, SRC / "collective" / "host", ROOT, SRC, PACKAGE)
        )
    ]
    assert len(named_files()) > 30
    assert wrong == []
