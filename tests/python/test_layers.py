# SPDX-License-Identifier: LGPL-2.1-only
"""Who includes whom in src/: ARCHITECTURE.md's list of parts, and a line within the binding.

A part includes only parts above it in that list, and the core nothing of SimGrid's. In src/simgrid
a unit is a header with its source file: what its source includes counts too, since circles among
sources make parts that can only be understood, changed and tested together.
"""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
CORE_ENDS = "up to here the core"
# Beside what stands above them, and instead of it: what ARCHITECTURE.md says in words.
ONLY = {"allocator": set[str](), "mpi": {"mpi"}, "replay": {"mpi", "replay", "trace"}}
NOT = {"python": {"mpi", "simgrid", "compilers", "replay"}}
_INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def parts() -> list[str]:
    """Return src/'s parts in the order of ARCHITECTURE.md, and where the core ends."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = text.split("\nsrc/ ", 1)[1].split("\npython/weft/", 1)[0]
    return [
        match[1] or CORE_ENDS
        for match in re.finditer(rf"^  (\w+)/ |{CORE_ENDS}", listed, re.MULTILINE)
    ]


def sources(part: str) -> list[Path]:
    return [path for path in sorted((SRC / part).rglob("*")) if path.suffix in {".hpp", ".cpp"}]


def includes(path: Path) -> list[tuple[bool, str]]:
    """Return what a file includes, and whether it is weft's own."""
    return [
        (quote == '"', name) for quote, name in _INCLUDE.findall(path.read_text(encoding="utf-8"))
    ]


def test_the_list_has_all_parts() -> None:
    on_disk = {path.name for path in SRC.iterdir() if path.is_dir()}
    assert set(parts()) - {CORE_ENDS} == on_disk


@pytest.mark.parametrize("part", [part for part in parts() if part != CORE_ENDS])
def test_a_part_includes_only_parts_above_it(part: str) -> None:
    order = parts()
    allowed = ONLY.get(part, set(order[: order.index(part) + 1]) - NOT.get(part, set()))
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources(part)
        for own, name in includes(path)
        if own and name.split("/")[0] not in allowed
    ]
    assert wrong == []


def test_the_core_knows_neither_simgrid_nor_mpi() -> None:
    order = parts()
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for part in order[: order.index(CORE_ENDS)]
        for path in sources(part)
        for own, name in includes(path)
        if not own and name.split("/")[0] in {"simgrid", "smpi", "xbt", "mpi.h"}
    ]
    assert wrong == []


def test_the_units_of_the_binding_are_a_line() -> None:
    graph: dict[str, set[str]] = {}
    for path in sources("simgrid"):
        known = {
            Path(name).stem for own, name in includes(path) if own and name.startswith("simgrid/")
        }
        graph.setdefault(path.stem, set()).update(known - {path.stem})
    assert len(graph) > 20
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail("units that know each other in a circle: " + " -> ".join(circle.args[1]))
