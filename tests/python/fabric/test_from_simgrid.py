# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics from SimGrid platforms with several zones, routes or explicit hosts."""

from pathlib import Path

import pytest

import weft
from tests.support.foreign_fabrics import cables, made

PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))


def platform(*content: str, routing: str = "Full") -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="all" routing="{routing}">\n'
        + "\n".join(content)
        + "\n</zone></platform>\n"
    )


def hosts(*names: str) -> str:
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


def link(name: str, rate: str = "1.25GBps", latency: str = "1us", policy: str = "") -> str:
    said = f' sharing_policy="{policy}"' if policy else ""
    return f'<link id="{name}" bandwidth="{rate}" latency="{latency}"{said}/>'


def route(source: str, target: str, *links: str, more: str = "") -> str:
    crossed = "".join(f'<link_ctn id="{one}"/>' for one in links)
    return f'<route src="{source}" dst="{target}"{more}>{crossed}</route>'


def zone_route(source: tuple[str, str], target: tuple[str, str], *links: str) -> str:
    crossed = "".join(f'<link_ctn id="{one}"/>' for one in links)
    ends = f'src="{source[0]}" gw_src="{source[1]}" dst="{target[0]}" gw_dst="{target[1]}"'
    return f"<zoneRoute {ends}>{crossed}</zoneRoute>"


def ends(fabric: weft.Fabric) -> dict[frozenset[str], tuple[float, float]]:
    """Return rate in Gb/s and latency in ns, by the ends of each cable."""
    names = [*fabric.hosts, *fabric.switches]
    return {
        frozenset((names[one["lower"]], names[one["upper"]])): (
            round(one["bandwidth_Bps"] * 8e-9, 6),
            round(one["latency_s"] * 1e9, 6),
        )
        for one in fabric.core.cables()
    }


def pair(one: str, other: str) -> frozenset[str]:
    return frozenset((one, other))


def test_a_zone_with_routers(tmp_path: Path) -> None:
    text = platform(
        hosts("a", "b"),
        '<router id="r"/><router id="s"/>',
        link("l1"),
        link("l2", "2.5GBps", "5us"),
        link("l3"),
        route("a", "r", "l1"),
        route("r", "s", "l2"),
        route("s", "b", "l3"),
        route("a", "b", "l1", "l2", "l3"),
    )
    fabric = made(tmp_path, text)
    assert (fabric.hosts, fabric.switches) == (("a", "b"), ("r", "s"))
    assert cables(fabric) == {"a": (10, 1000), "b": (10, 1000), "r--s": (20, 5000)}
    assert "speed and cores of its hosts are not taken" in fabric.note
    assert "directions of 3 links share a rate in SimGrid, not here" in fabric.note
    fabric.check()


def test_routes_imply_switches(tmp_path: Path) -> None:
    """Only routes between hosts imply two leaves of two hosts, in any order and direction."""
    text = platform(
        hosts("a", "b", "c", "d"),
        *(link(f"l{one}", policy="SPLITDUPLEX") for one in "abcd"),
        link("up", "5GBps", policy="SPLITDUPLEX"),
        route("a", "c", "la", "up", "lc"),
        route("d", "b", "ld", "up", "lb"),
        route("a", "b", "la", "lb"),
        route("c", "d", "lc_UP", "ld_DOWN"),
        route("b", "c", "lb", "up", "lc"),
        route("a", "d", "la", "up", "ld"),
    )
    fabric = made(tmp_path, text)
    assert fabric.switches == ("switch0", "switch1")
    own = (10, 1000)
    assert ends(fabric) == {
        pair("a", "switch0"): own,
        pair("b", "switch0"): own,
        pair("c", "switch1"): own,
        pair("d", "switch1"): own,
        pair("switch0", "switch1"): (40, 1000),
    }
    assert "share a rate" not in fabric.note
    fabric.check()


def test_links_in_series_are_a_cable(tmp_path: Path) -> None:
    text = platform(
        hosts("a", "b"), link("l1"), link("l2", "125MBps", "3us"), route("a", "b", "l1", "l2")
    )
    fabric = made(tmp_path, text)
    assert (fabric.hosts, fabric.switches) == (("a", "b"), ())
    assert list(cables(fabric).values()) == [(1, 4000)]


def test_a_link_that_all_routes_cross_is_a_backbone(tmp_path: Path) -> None:
    text = platform(
        hosts("a", "b", "c"),
        *(link(f"l{one}") for one in "abc"),
        link("bus", "12.5GBps"),
        *(route(one, other, f"l{one}", "bus", f"l{other}") for one, other in PAIRS),
    )
    fabric = made(tmp_path, text)
    assert fabric.switches == ("switch0",)
    assert cables(fabric) == dict.fromkeys("abc", (10, 1000))
    assert "1 link that all routes of a switch cross left out (bus)" in fabric.note


def test_a_link_between_more_than_two_nodes_is_a_switch(tmp_path: Path) -> None:
    text = platform(
        hosts("a", "b", "c"), link("bus"), *(route(one, other, "bus") for one, other in PAIRS)
    )
    fabric = made(tmp_path, text)
    assert fabric.switches == ("bus",)
    assert cables(fabric) == dict.fromkeys("abc", (10, 500))
    assert "1 link between several nodes read as a switch" in fabric.note
    assert "(bus)" in fabric.note


def test_two_links_of_a_direction_each_are_a_cable(tmp_path: Path) -> None:
    one_way = ' symmetrical="NO"'
    text = platform(
        hosts("a", "b"),
        '<router id="r"/>',
        *(link(name) for name in ("a_out", "a_in", "lb")),
        route("a", "r", "a_out", more=one_way),
        route("r", "a", "a_in", more=one_way),
        route("b", "r", "lb"),
    )
    fabric = made(tmp_path, text)
    assert cables(fabric) == {"a": (10, 1000), "b": (10, 1000)}


def test_hosts_that_routes_cross_get_a_router(tmp_path: Path) -> None:
    text = platform(
        hosts("a", "b", "c"),
        link("l1"),
        link("l2"),
        route("a", "b", "l1"),
        route("b", "c", "l2"),
        route("a", "c", "l1", "l2"),
    )
    for routing in ("Full", "Dijkstra"):
        fabric = made(tmp_path, text.replace("Full", routing))
        assert fabric.switches == ("b.router",)
        assert cables(fabric) == {"a": (10, 1000), "b": (20, 0), "c": (10, 1000)}
        assert "1 host that routes cross behind a router each" in fabric.note


CLUSTERS = platform(
    *(
        f'<cluster id="{name}" prefix="{name}-" suffix="" radical="0-2" speed="1Gf" bw="1.25GBps"'
        f' lat="1us" router_id="{name}.r"{more}/>'
        for name, more in (("x", ""), ("y", ' bb_bw="5GBps" bb_lat="2us"'), ("z", ""))
    ),
    link("core", "12.5GBps", "4us"),
    *(
        zone_route((one, f"{one}.r"), (other, f"{other}.r"), "core")
        for one, other in (("x", "y"), ("x", "z"), ("y", "z"))
    ),
)


def test_clusters_behind_a_backbone(tmp_path: Path) -> None:
    fabric = made(tmp_path, CLUSTERS)
    assert len(fabric.hosts) == 9
    assert set(fabric.switches) == {"x.r", "y.r", "z.r", "y.hub", "core"}
    found = ends(fabric)
    assert found[pair("y-1", "y.hub")] == (10, 1000)
    assert found[pair("y.hub", "y.r")] == (40, 2000)
    assert found[pair("x.r", "core")] == (100, 2000)
    assert "backbones within clusters left out" in fabric.note
    fabric.check()


def test_cabinets_and_host_links(tmp_path: Path) -> None:
    text = platform(
        '<cabinet id="c" prefix="n" suffix="" radical="1-3" speed="1Gf" bw="125MBps" lat="1us"/>',
        '<router id="r"/>',
        hosts("big"),
        link("wide_up"),
        link("wide_down"),
        '<host_link id="big" up="wide_up" down="wide_down"/>',
        '<backbone id="b" bandwidth="2.25GBps" latency="5us"/>',
        routing="Cluster",
    )
    fabric = made(tmp_path, text)
    assert fabric.hosts == ("n1", "n2", "n3", "big")
    assert fabric.switches == ("all.hub",)
    assert cables(fabric) == {**dict.fromkeys(("n1", "n2", "n3"), (1, 1000)), "big": (10, 1000)}


def test_a_star_has_as_many_ports_as_hosts(tmp_path: Path) -> None:
    text = platform(
        '<cluster id="c" prefix="n" suffix="" radical="0-99" speed="1Gf" bw="1GBps" lat="1us"/>'
    )
    fabric = made(tmp_path, text, switch_preset="tofino")
    assert (fabric.topology, len(fabric.hosts)) == ("star", 100)
    assert "switches of 100 ports, more than tofino has" in fabric.note


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (platform(hosts("a", "b"), routing="Vivaldi"), "zone all has the routing Vivaldi, which"),
        (
            platform(hosts("a", "b"), link("l"), route("a", "x", "l")),
            "the route from a to x names x, which is neither a host nor a router",
        ),
        (
            platform(hosts("a", "b"), route("a", "b", "l")),
            "the route from a to b crosses l, which is no link",
        ),
        (platform(hosts("a", "b"), route("a", "b")), "the route from a to b crosses no link"),
        (platform(hosts("a", "a")), "two hosts or routers have the name a"),
        (
            platform(hosts("a", "b"), link("l", policy="WIFI"), route("a", "b", "l")),
            "link l is a wireless network",
        ),
        (
            platform(hosts("a", "b"), link("l", "10"), route("a", "b", "l")),
            "found bandwidth '10' and latency '1us'; write them with units",
        ),
        (
            platform(
                hosts("a", "b", "c"),
                link("l"),
                link("m"),
                route("a", "b", "l"),
                route("a", "c", "l"),
                route("b", "c", "l", "m"),
            ),
            "the route from a to c would make b and c the same node",
        ),
        (
            platform(
                hosts("a", "b", "c", "d"),
                *(link(f"l{one}") for one in "abcd"),
                link("up"),
                route("a", "b", "la", "up", "lb"),
                route("c", "d", "lc", "up", "ld"),
            ),
            "the routes do not tell which ends the links lc, up, ld have between c and d",
        ),
        (
            platform(
                hosts("a", "b"),
                link("l"),
                link("m"),
                route("a", "b", "l", more=' symmetrical="NO"'),
                route("b", "a", "l", "m", more=' symmetrical="NO"'),
            ),
            "link m leads from a back to it",
        ),
        (
            CLUSTERS.replace('id="z"', 'id="z" topology="TORUS" topo_parameters="3"'),
            "cluster z is a TORUS, and not the only one",
        ),
        (platform('<peer id="p" speed="1Gf"/>'), "weft does not read <peer> of a platform"),
        (
            platform('<host_link id="a" up="u" down="u"/>', routing="Cluster"),
            "host_link a names u, which is no link",
        ),
    ],
)
def test_platforms_that_are_no_graph(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(weft.WeftError, match=r"^from_file: .*, a SimGrid platform: ") as error:
        made(tmp_path, text)
    assert problem in str(error.value)
