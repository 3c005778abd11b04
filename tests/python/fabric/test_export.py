# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics for SimGrid and Graphviz: file contents, and agreement with stock SimGrid."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support import simulated
from tests.support.fabrics import LARGE, SMALL, load, make
from tests.support.simulated import Program
from weft import _core
from weft.base.errors import WeftError
from weft.cli.fabric import export as export_command
from weft.fabric.export import export
from weft.fabric.graph import Graph

SIZES = "0,1,255,256,16383,16384,131071,131072,1000000"


def platform(fabric: _core.Fabric, directory: Path) -> ElementTree.Element:
    export(fabric, directory / "x.xml")
    return ElementTree.parse(directory / "x.xml").getroot()


def routes(root: ElementTree.Element) -> dict[tuple[str, str], list[str]]:
    return {
        (route.attrib["src"], route.attrib["dst"]): [part.attrib["id"] for part in route]
        for route in root.iter("route")
    }


def expected_route(fabric: _core.Fabric, source: int, destination: int) -> list[str]:
    way = fabric.route(source, destination)
    after = [f"{name}.forwarding" for name in way["through"]]
    return [part for both in zip(way["links"], [*after, ""], strict=True) for part in both][:-1]


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


# ---- Platform files ----


@pytest.mark.parametrize("kind", SMALL)
def test_routes_are_those_of_the_fabric(tmp_path: Path, kind: str) -> None:
    fabric = load(tmp_path, kind)
    root = platform(fabric, tmp_path)
    graph = Graph(fabric)
    found = routes(root)
    latency = {link.attrib["id"]: seconds(link.attrib["latency"]) for link in root.iter("link")}
    hosts = range(len(fabric.hosts))
    vertices = len(fabric.hosts) + len(fabric.switches)
    for source in range(vertices):
        for destination in range(vertices):
            if source != destination and (source in hosts or destination in hosts):
                ids = found.pop((graph.name(source), graph.name(destination)))
                assert ids == expected_route(fabric, source, destination)
                way = fabric.route(source, destination)
                assert sum(map(latency.__getitem__, ids)) == pytest.approx(way["latency_s"])
    names = [switch["name"] for switch in fabric.switches]
    assert set(found) == set(itertools.permutations(names, 2))


@pytest.mark.parametrize("kind", SMALL)
def test_from_a_switch_on_packets_go_as_those_of_hosts_do(tmp_path: Path, kind: str) -> None:
    """This property lets weft find the fabric's own trees through the platform's routes."""
    fabric = load(tmp_path, kind)
    found = routes(platform(fabric, tmp_path))
    switches = {switch["name"] for switch in fabric.switches}
    for (source, destination), ids in found.items():
        if source in fabric.hosts and destination in switches:
            for place, part in enumerate(ids):
                name = part.removesuffix(".forwarding")
                if name in switches:
                    assert found[name, destination] == ids[place + 1 :]


@pytest.mark.parametrize("kind", SMALL)
def test_ways_between_switches_join(tmp_path: Path, kind: str) -> None:
    fabric = load(tmp_path, kind)
    graph = Graph(fabric)
    ends = {}
    for cable in fabric.cables():
        lower, upper = graph.name(cable["lower"]), graph.name(cable["upper"])
        ends[f"{cable['name']}.up"] = lower, upper
        ends[f"{cable['name']}.down"] = upper, lower
    for (source, destination), ids in routes(platform(fabric, tmp_path)).items():
        at = source
        for part in ids:
            if part in ends:
                assert ends[part][0] == at
                at = ends[part][1]
            else:
                assert part == f"{at}.forwarding"
        assert at == destination


def test_hosts_links_and_options(tmp_path: Path) -> None:
    root = platform(_core.load_fabric("tofino-4"), tmp_path)
    hosts = {host.attrib["id"]: host for host in root.iter("host")}
    assert list(hosts) == ["host-0", "host-1", "host-2", "host-3", "switch"]
    assert hosts["host-0"].attrib == {"id": "host-0", "speed": "76800000000f", "core": "72"}
    links = {link.attrib["id"]: link.attrib for link in root.iter("link")}
    assert links.pop("switch.forwarding")["sharing_policy"] == "FATPIPE"
    ways = ("up", "down")
    assert list(links) == [f"host-{number}.{way}" for number in range(4) for way in ways]
    assert {link["bandwidth"] for link in links.values()} == {"12500000000Bps"}
    config = root.find("config")
    assert config is not None
    options = {prop.attrib["id"]: prop.attrib["value"] for prop in config}
    assert options["network/latency-factor"] == "0:0.9902;65551:2.9814;131087:3.2761;262159:2.3205"
    assert options["network/weight-S"] == options["network/TCP-gamma"] == "0"


def test_a_smart_switch_says_what_it_is(tmp_path: Path) -> None:
    root = platform(_core.load_fabric("tofino-4"), tmp_path)
    (switch,) = (host for host in root.iter("host") if host.attrib["id"] == "switch")
    properties = {prop.attrib["id"]: prop.attrib["value"] for prop in switch}
    assert (properties.pop("number"), properties.pop("meeting")) == ("4", "centre")
    assert float(properties.pop("forwarding_latency")) == pytest.approx(495.5e-9)
    assert float(properties.pop("offload_overhead")) == pytest.approx(1.44e-6)
    # For all four hosts, which are on two pipelines.
    assert float(properties.pop("turnaround")) == pytest.approx(9.29e-6)
    assert properties == {
        "preset": "tofino",
        "max_ports": "64",
        "processing_latency": "3.86e-06",
        "channels": "64",
        "slots": "256",
        "total_slots": "16384",
        "payload": "256",
        "packet_overhead": "82",
        "offload": "allreduce MPI_INT MPI_SUM",
        "message_gap": "1.6845239999999997e-06",
    }


def test_plain_switches_are_no_hosts(tmp_path: Path) -> None:
    path = make(tmp_path, "star")
    path.write_text(path.read_text().replace('"tofino"', '"l2"'))
    root = platform(_core.load_fabric(str(path)), tmp_path)
    assert len(list(root.iter("host"))) == 16
    assert len(routes(root)) == 16 * 15
    assert routes(root)["host-00", "host-15"] == [
        "host-00.up",
        "switch.forwarding",
        "host-15.down",
    ]


def test_names_are_quoted(tmp_path: Path) -> None:
    options = {
        "hosts": ["a<&>,b\"'"],
        "switches": ["- s"],
        "cables": ["a<&>,- s", "b\"',- s"],
    }
    fabric = load(tmp_path, "custom", options)
    assert ("a<&>", "b\"'") in routes(platform(fabric, tmp_path))
    assert list(edges(fabric, tmp_path)) == [("a<&>", "- s"), ("b\"'", "- s")]


def test_too_many_hosts_for_a_platform_file(tmp_path: Path) -> None:
    fabric = load(tmp_path, "torus", LARGE["torus"])
    with pytest.raises(WeftError) as error:
        export(fabric, tmp_path / "x.xml")
    assert str(error.value) == (
        "output: torus has 1,024 hosts, but a platform file lists all routes between hosts and is"
        " limited to 512; export to .dot, or run on the fabric itself"
    )
    assert not (tmp_path / "x.xml").exists()


def sharing(directory: Path) -> Path:
    """Return a torus in which some links share a bandwidth."""
    path = make(directory, "torus")
    (up, *_), (*_, last) = (
        [f"{cable['name']}.{way}" for cable in _core.load_fabric(str(path)).cables()]
        for way in ("up", "down")
    )
    shared = f'[[shared]]\nlinks = ["{up}", "{last}"]\nbandwidth = "1Gbps"\n'
    path.write_text(path.read_text() + shared)
    return path


def overheads(directory: Path) -> Path:
    """Return a torus with message costs on hosts by size, and rendezvous at 64 KiB or more."""
    path = make(directory, "torus")
    rows = [("32B", "2us", "1GBps"), ("1KiB", "3us", "2GBps"), ("64KiB", "1us", "4GBps")]
    costs = "".join(
        f'[[mpi.overheads]]\nfrom = "{size}"\nsend_overhead = "{fixed}"\n'
        f'receive_copy_rate = "{rate}"\n'
        for size, fixed, rate in rows
    )
    path.write_text(path.read_text() + "[mpi]\n" + costs)  # no costs of empty messages in stock
    return path


@pytest.mark.parametrize(
    "fabric", ["tofino-16", "fat_tree", "dragonfly", "torus", "mesh", "sharing", "overheads"]
)
def test_stock_simgrid_takes_the_same_time(tmp_path: Path, program: Program, fabric: str) -> None:
    """No part of weft is involved; the host file keeps ranks off the switches."""
    on = fabric if fabric not in SMALL else str(make(tmp_path, fabric))
    made = {"sharing": sharing, "overheads": overheads}.get(fabric)
    on = str(made(tmp_path)) if made else on
    loaded = _core.load_fabric(on)
    export(loaded, tmp_path / "x.xml")
    (tmp_path / "hosts").write_text("\n".join(loaded.hosts) + "\n")
    command = simulated.smpirun_command(
        tmp_path / "x.xml", program("pingpong.c"), SIZES, ranks=len(loaded.hosts)
    )
    stock = simulated.run_command(
        [*command[:1], "-hostfile", str(tmp_path / "hosts"), *command[1:]]
    )
    by_weft = simulated.run_library(
        program("pingpong.c"), SIZES, ranks=len(loaded.hosts), WEFT_FABRIC=on
    )
    assert stock.status == by_weft.status == 0, stock.stderr + by_weft.stderr
    times = [
        [float(line.split()[1]) for line in result.stdout.splitlines()]
        for result in (stock, by_weft)
    ]
    assert len(times[0]) == len(SIZES.split(","))
    # Stock SimGrid's hosts have no costs for empty messages.
    first = 1 if loaded.mpi and loaded.mpi["send_overhead_s"] > 0 else 0
    assert times[0][first:] == pytest.approx(times[1][first:], rel=1e-9)


@pytest.mark.parametrize(("progress", "lost"), [("calls", True), ("thread", False)])
def test_progress_inside_calls_is_named_as_lost(tmp_path: Path, progress: str, lost: bool) -> None:
    path = make(tmp_path, "torus")
    path.write_text(f'{path.read_text()}[mpi]\nprogress = "{progress}"\n')
    lost_features = export(_core.load_fabric(str(path)), tmp_path / "x.xml")
    (text,) = [one for one in lost_features if one.startswith("[mpi]")]
    assert text.endswith("only inside MPI calls (progress, rendezvous)") == lost


# ---- Graphs ----


def edges(fabric: _core.Fabric, directory: Path) -> Iterator[tuple[str, str]]:
    export(fabric, directory / "x.dot")
    word = r'"((?:[^"\\]|\\.)*)"'
    for one, other in re.findall(rf"{word} -- {word}", (directory / "x.dot").read_text()):
        yield one.replace('\\"', '"'), other.replace('\\"', '"')


@pytest.mark.parametrize("kind", SMALL)
def test_a_graph_has_an_edge_a_cable(tmp_path: Path, kind: str) -> None:
    fabric = load(tmp_path, kind)
    graph = Graph(fabric)
    assert Counter(edges(fabric, tmp_path)) == Counter(
        (graph.name(cable["lower"]), graph.name(cable["upper"])) for cable in fabric.cables()
    )
    text = (tmp_path / "x.dot").read_text()
    assert text.count("shape=diamond") == len(fabric.switches)
    assert ("rank=same" in text) == graph.layered


# ---- Mistakes ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("tofino-4 -o x.txt", "-o: found 'x.txt'; its name must end in one of .xml, .dot, .gv"),
        ("tofino-4 -o no/x.dot", "-o: cannot write no/x.dot: there is no directory "),
        ("tofino-5 -o x.dot", 'fabric "tofino-5": there is no such file'),
    ],
)
def test_mistakes_are_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((WeftError, _core.UserError)) as error:
        export_command.main(arguments.split(), standalone_mode=False)
    assert str(error.value).startswith(message)
    assert list(tmp_path.iterdir()) == []
