# SPDX-License-Identifier: LGPL-2.1-only
"""Routes compared with SimGrid's own clusters: links, latency, and the time of a message.

`tests/simgrid/zones.cpp` prints SimGrid's routes. Intended differences:
- In SimGrid's torus the hosts are the grid; weft attaches each host to a switch. The hosts' cables
  have no latency here and count as two more links.
- In an even dimension of a torus, both directions between opposite coordinates are equally long.
  SimGrid goes down from the middle to coordinate 0, but up between all other such pairs; weft
  always goes up.
- On the way down a fat tree, SimGrid selects among parallel cables by the source, weft by the
  destination, so that the routes to one vertex form a tree.
- SimGrid merges parallel cables of a Dragonfly into one link with the sum of their bandwidths.
- Inside a Dragonfly group, SimGrid 4.1 assumes after a green cable that the packet is in chassis 0,
  whatever its chassis (DragonflyZone.cpp, `get_local_route`). From any other chassis the route has
  a black cable too many, too few, or one of another router. weft's routes are connected.
- To a group whose number is at least the number of routers per chassis, SimGrid's routes use
  cables that do not exist; such Dragonflies are not compared.
"""

from __future__ import annotations

import math
import re
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import compiled
from tests.support.places import TESTS
from weft import _core

SOURCE = TESTS / "simgrid" / "zones.cpp"
MESSAGE_BYTES = 1e6
BANDWIDTH_BPS = 1e9

STARS = [["5"]]
FAT_TREES = [  # down, up, cables
    ["4", "1", "1"],
    ["3", "2", "1"],
    ["4,4", "1,4", "1,1"],
    ["4,3", "1,2", "1,1"],
    ["4,2", "1,2", "1,2"],
    ["2,3", "2,2", "1,3"],
    ["3,2,4", "1,3,2", "2,1,2"],
    ["2,3,2,2", "1,2,3,1", "1,2,1,1"],
]
TORI = [["5"], ["4"], ["2,2"], ["4,3"], ["3,2,4"], ["6,5"], ["4,4,4"], ["2,3,2,3"]]
DRAGONFLIES = [  # groups,cables chassis,cables routers,cables hosts
    ["1,1", "1,1", "4,1", "2"],
    ["4,1", "1,1", "4,1", "1"],
    ["3,1", "2,1", "3,1", "2"],
    ["3,1", "3,1", "4,1", "1"],
    ["3,2", "2,3", "4,4", "2"],
]
SMALL = [
    (kind, words)
    for kind, all_words in {
        "star": STARS,
        "fat_tree": FAT_TREES,
        "torus": TORI,
        "dragonfly": DRAGONFLIES,
    }.items()
    for words in all_words
]
LARGE = [
    ("star", ["2000"]),
    ("fat_tree", ["16,16,8", "1,16,16", "1,1,1"]),
    ("torus", ["4,4,4,4"]),
    ("torus", ["16,9,10"]),
    ("dragonfly", ["16,1", "1,1", "16,1", "1"]),
    ("dragonfly", ["12,1", "4,1", "16,1", "4"]),
]


@dataclass(frozen=True)
class Row:
    """Route of a SimGrid cluster."""

    source: int
    destination: int
    latency_s: float
    message_s: float
    links: list[str]


@pytest.fixture(scope="session")
def zones() -> Path:
    """Compile the program that prints SimGrid's routes."""
    return compiled.with_simgrid(SOURCE)


def simgrid_routes(zones: Path, kind: str, words: list[str], pairs: str) -> list[Row]:
    command = [str(zones), kind, *words, pairs, "--log=root.thres:warning"]
    text = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout
    rows = []
    for line in text.splitlines():
        source, destination, latency, message, *links = line.split()
        ends = [int(name.removeprefix("host-")) for name in (source, destination)]
        rows.append(Row(ends[0], ends[1], float(latency), float(message), links))
    assert rows
    return rows


def topology_text(kind: str, words: list[str]) -> str:
    lists = [f"[{word}]" for word in words]
    if kind == "star":
        return f"hosts = {words[0]}"
    if kind == "fat_tree":
        return f"down = {lists[0]}\nup = {lists[1]}\ncables = {lists[2]}"
    if kind == "torus":
        return f"dimensions = {lists[0]}"
    (groups, blue), (chassis, black), (routers, green) = (word.split(",") for word in words[:3])
    return f"""
        groups = {groups}
        chassis = {chassis}
        routers = {routers}
        hosts = {words[3]}
        global_cables = {blue}
        chassis_cables = {black}
        router_cables = {green}
    """


def load(folder: Path, kind: str, words: list[str]) -> _core.Fabric:
    """Load a fabric with the same parameters whose switches and hosts add no time."""
    file = folder / "fabric.toml"
    file.write_text(f"""
        [fabric]
        name = "same"
        [topology]
        kind = "{kind}"
        {topology_text(kind, words)}
        [host]
        preset = "xeon-8360"
        [nic]
        preset = "connectx-6-dx"
        [link]
        bandwidth = "1GBps"
        latency = "1us"
        [[links]]
        match = "host-*"
        latency = "{"0us" if kind == "torus" else "1us"}"
        [switch]
        preset = "l2"
        forwarding_latency = "0s"
        max_ports = 100000
    """)
    return _core.load_fabric(str(file))


def simgrid_step(link: str) -> tuple[int, str]:
    """Return SimGrid's number for a link's cable, and the link's direction."""
    found = re.search(r"_(\d+)_(UP|DOWN)$", link)
    assert found
    return int(found[1]), found[2].lower()


def simgrid_nodes(links: list[str]) -> list[int]:
    """Return the nodes of a route through a torus."""
    nodes: list[int] = []
    for link in links:
        found = re.search(r"_link_from_(\d+)_to_(\d+)_(UP|DOWN)$", link)
        assert found
        ends = [int(found[1]), int(found[2])]
        nodes += ends if found[3] == "UP" else ends[::-1]
    return [nodes[0], *nodes[1::2]]


class Comparison:
    """Compares the routes of a fabric with SimGrid's."""

    def __init__(self, fabric: _core.Fabric, kind: str, words: list[str]) -> None:
        self.fabric = fabric
        self.kind = kind
        self.words = words
        self.cables = fabric.cables()
        self.number = {cable["name"]: number for number, cable in enumerate(self.cables)}
        self.ways = 0
        self.jumps = 0

    def check(self, row: Row) -> None:
        """Compare a route, unless SimGrid's is disconnected."""
        self.ways += 1
        if self.kind == "dragonfly" and self.simgrid_jumps(row):
            self.jumps += 1
            return
        way = self.fabric.route(row.source, row.destination)
        at_hosts = 2 if self.kind == "torus" else 0
        assert len(way["links"]) == len(row.links) + at_hosts
        assert way["latency_s"] == pytest.approx(row.latency_s, rel=1e-12)
        message_s = way["latency_s"] + MESSAGE_BYTES / BANDWIDTH_BPS
        assert message_s == pytest.approx(row.message_s, rel=1e-9)
        getattr(self, f"check_{self.kind}")(row, way)

    def steps(self, way: _core.Way) -> list[tuple[int, str]]:
        named = (link.rsplit(".", 1) for link in way["links"])
        return [(self.number[name], direction) for name, direction in named]

    def check_star(self, row: Row, way: _core.Way) -> None:
        assert self.steps(way) == [simgrid_step(link) for link in row.links]

    def check_fat_tree(self, row: Row, way: _core.Way) -> None:
        for ours, theirs in zip(self.steps(way), map(simgrid_step, row.links), strict=True):
            if ours[1] == "up":
                assert ours == theirs
            assert ours[1] == theirs[1]
            assert self.ends(ours[0]) == self.ends(theirs[0])

    def ends(self, number: int) -> tuple[int, int]:
        return self.cables[number]["lower"], self.cables[number]["upper"]

    def check_torus(self, row: Row, way: _core.Way) -> None:
        if self.ties_differ(row):
            return
        nodes = [int(name.removeprefix("switch-")) for name in way["through"]]
        assert nodes == simgrid_nodes(row.links)

    def ties_differ(self, row: Row) -> bool:
        stride = 1
        for size in map(int, self.words[0].split(",")):
            ours, theirs = row.source // stride % size, row.destination // stride % size
            if size > 2 and 2 * ours == size and theirs == 0:
                return True
            stride *= size
        return False

    def check_dragonfly(self, row: Row, way: _core.Way) -> None:
        if all(word.endswith(",1") for word in self.words[:3]):
            assert self.steps(way) == [simgrid_step(link) for link in row.links]
            return
        between = [self.color(*step) for step in pairwise(way["through"])]
        assert [link.split("_")[0] for link in row.links] == ["local", *between, "local"]

    def simgrid_jumps(self, row: Row) -> bool:
        """Return true if SimGrid's route is disconnected."""
        chassis, routers = (int(word.split(",")[0]) for word in self.words[1:3])
        source, destination = (host // int(self.words[3]) for host in (row.source, row.destination))
        same_group = source // (chassis * routers) == destination // (chassis * routers)
        in_first_chassis = source // routers % chassis == 0
        if not same_group or in_first_chassis or source % routers == destination % routers:
            return False
        expected = ["local", "green", "local"]
        if destination // routers % chassis != 0:
            expected.insert(2, "black")
        assert [link.split("_")[0] for link in row.links] == expected
        return True

    def color(self, name: str, other: str) -> str:
        """Return the cable colour between two routers."""
        group, router, other_group, other_router = map(int, re.findall(r"\d+", name + other))
        if group != other_group:
            return "blue"
        routers = int(self.words[2].split(",")[0])
        return "green" if router // routers == other_router // routers else "black"


def compare(zones: Path, folder: Path, kind: str, words: list[str], pairs: str) -> Comparison:
    comparison = Comparison(load(folder, kind, words), kind, words)
    for row in simgrid_routes(zones, kind, words, pairs):
        comparison.check(row)
    return comparison


@pytest.mark.parametrize(("kind", "words"), SMALL)
def test_all_routes_of_small_fabrics(
    zones: Path, tmp_path: Path, kind: str, words: list[str]
) -> None:
    comparison = compare(zones, tmp_path, kind, words, "all")
    assert comparison.ways == math.perm(len(comparison.fabric.hosts), 2)
    assert comparison.jumps < comparison.ways / 4


@pytest.mark.parametrize(("kind", "words"), LARGE)
def test_a_sample_of_the_routes_of_large_fabrics(
    zones: Path, tmp_path: Path, kind: str, words: list[str]
) -> None:
    assert compare(zones, tmp_path, kind, words, "2000").ways == 2000
