# SPDX-License-Identifier: LGPL-2.1-only
"""Picture of ARCHITECTURE.md: the rooms of the source tree, and their dependencies in the code."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.study import IMAGES, ROOT, Study
from weft.base.plots import COLOURS

SRC = ROOT / "src"
PACKAGE = ROOT / "python" / "weft"
CORE_ENDS = "the core ends here"
_INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def rooms() -> list[str]:
    """Return src/'s rooms in the order of ARCHITECTURE.md, and the position at which the core ends.

    An indented line is a room within the last line with less indentation.
    """
    listed = _map().split("\nsrc/ ", 1)[1].split("\npython/weft/", 1)[0]
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for match in re.finditer(rf"^( +)([\w/]+)/ |{CORE_ENDS}", listed, re.MULTILINE):
        if match[1] is None:
            found.append(CORE_ENDS)
            continue
        indent = len(match[1])
        above = [one for one in above if one[0] < indent]
        found.append("/".join([*(name for _, name in above), match[2]]))
        above.append((indent, match[2]))
    return found


def groups() -> list[str]:
    """Return the groups of the Python package in the order of ARCHITECTURE.md."""
    listed = _map().partition("\npython/weft/ ")[2].partition("\n```")[0]
    return re.findall(r"^  (\w+)/ .*", listed, re.MULTILINE)


def folders(group: str) -> list[str]:
    """Return the folders of a group in the order of ARCHITECTURE.md."""
    listed = _map().partition("\npython/weft/ ")[2].partition("\n```")[0]
    (line,) = re.findall(rf"^  {group}/ (.*)", listed, re.MULTILINE)
    return re.findall(r"(\w+)/", line)


def sources(room: str) -> list[Path]:
    """Return the source files of a room, without unit tests, which may include anything."""
    return [path for path in sorted((SRC / room).glob("*.?pp")) if not path.stem.endswith("_test")]


def includes(path: Path) -> list[tuple[bool, str]]:
    """Return a file's includes, each with true for weft's own headers."""
    return [
        (quote == '"', name) for quote, name in _INCLUDE.findall(path.read_text(encoding="utf-8"))
    ]


def own_rooms(path: Path) -> set[str]:
    """Return the rooms whose headers a file includes."""
    return {str(Path(name).parent) for own, name in includes(path) if own}


def used_rooms(room: str) -> set[str]:
    """Return the other rooms whose headers a room includes."""
    return {other for path in sources(room) for other in own_rooms(path)} - {room}


def imports(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports anywhere, including imports for type checking."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: imports are absolute"
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def group(module: str) -> str:
    """Return the group of a module of weft."""
    return module.split(".")[1] if module.startswith("weft.") else ""


def used_groups(name: str) -> set[str]:
    """Return the other groups that a group of the Python package imports."""
    files = (PACKAGE / name).rglob("*.py")
    known = {module for file in files for module in imports(file) if module.startswith("weft")}
    # `from weft import run` imports the API.
    return {group(one) if group(one) in {*groups(), "_core"} else "api" for one in known} - {name}


def measure() -> None:
    """Do nothing: the picture shows the sources."""


def figures() -> Mapping[Path, Figure]:
    """Draw a row for each room, with a point in the column of each room that it uses."""
    with_sources = [room for room in rooms() if room != CORE_ENDS and sources(room)]
    figure = Figure(figsize=(9.2, 9.2), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, "src/", with_sources, {room: used_rooms(room) for room in with_sources})
    # No room uses a room below it, so this corner is empty.
    corner = figure.add_axes((0.73, 0.69, 0.27, 0.27))
    _draw(corner, "python/weft/", groups(), {name: used_groups(name) for name in groups()})
    return {IMAGES / "rooms.png": figure}


def _map() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def _draw(axes: Axes, title: str, names: Sequence[str], used: Mapping[str, set[str]]) -> None:
    places = {name: place for place, name in enumerate(names)}
    parts = [*dict.fromkeys(name.split("/")[0] for name in names)]
    for name, row in places.items():
        colour = COLOURS[parts.index(name.split("/")[0]) % len(COLOURS)]
        columns = sorted(places[other] for other in used[name] if other in places)
        axes.plot([-0.5, row], [row, row], color="#dddddd", linewidth=0.6, zorder=1)
        axes.plot([row, row], [row, len(names) - 0.5], color="#dddddd", linewidth=0.6, zorder=1)
        axes.plot(columns, [row] * len(columns), "o", color=colour, markersize=5, zorder=2)
        axes.plot([row], [row], "s", color=colour, markersize=5, markerfacecolor="none", zorder=2)
    axes.set_title(f"{title}, who uses whom", loc="left", fontsize=10)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xticks(range(len(names)), names, fontsize=6, rotation=60, ha="right")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)


STUDY = Study("rooms", "who uses whom in the sources", measure, figures)
