# SPDX-License-Identifier: LGPL-2.1-only
"""Invalid SimGrid platforms: one error that names the file; checks of the routes."""

import re
from pathlib import Path

import pytest

from tests.support.simulated import Program, weft_says
from weft import _core
from weft.fabric.export import export

HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
RIGHT = """<zone id="w" routing="Full">
<host id="a" speed="1Gf"/>
<host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1us"/>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone>
</platform>
"""
# Text to replace, its replacement, the line of the error, and the error.
WRONG = {
    "attribute": ('b" speed', 'b" spede', 6, "Bad attribute `spede'"),
    "unit": ("1GBps", "1Gxps", 7, "unknown unit: Gxps"),
    "number": ("1us", "fast", 7, "fast"),
    "tag": ("<link id", "<lnk id", 7, "Unexpected character"),
    "twice": ('id="b"', 'id="a"', 6, "second host named 'a'"),
    "link": ('link_ctn id="l"', 'link_ctn id="m"', 8, "Link not found: m"),
    "host": ('dst="b"', 'dst="c"', 8, "dst='c'"),
    "end": ("</zone>", "", 10, "invalid XML: mismatched tag\n"),
    "routing": ("Full", "Fancy", 4, "Not a valid model"),
}


def written(directory: Path, text: str) -> Path:
    path = directory / "cluster.xml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_file_is_one_message_with_its_line(
    program: Program, tmp_path: Path, mistake: str, command: str
) -> None:
    found, instead, line, says = WRONG[mistake]
    assert RIGHT.count(found) == 1
    path = written(tmp_path, RIGHT.replace(found, instead))
    words = {
        "run": ("run", "--platform", str(path), "-n", "2", "--", str(program("traffic.c"))),
        "check": ("fabric", "check", str(path)),
    }
    said = weft_says(*words[command])
    assert said.returncode == 2, said.stderr
    assert re.match(
        f"weft: platform {re.escape(str(path))}: line {line}(, column 3)?: ", said.stderr
    )
    assert says in said.stderr
    assert len(said.stderr.splitlines()) <= 2  # SimGrid prints the available hosts in a second line


def test_routes_of_a_platform_are_proven(tmp_path: Path) -> None:
    said = weft_says("fabric", "check", str(written(tmp_path, RIGHT)))
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == "2 routes, every pair of hosts: each exists and uses no link twice\n"


def test_smart_switches_are_reached_too(tmp_path: Path) -> None:
    path = tmp_path / "tofino-4.xml"
    export(_core.load_fabric("tofino-4"), path)
    said = weft_says("fabric", "check", str(path))
    assert said.stdout.startswith(
        "12 routes, every pair of hosts, and to and from each of 1 smart "
    )


def test_a_route_that_bypasses_the_smart_switch_is_named(tmp_path: Path) -> None:
    """This is the third validation rule of Belbeisi et al., section 5."""
    links = '<link id="{0}" bandwidth="1GBps" latency="1us"/>'
    route = '<route src="{}" dst="{}">{}</route>'

    def over(first: str, second: str, *names: str) -> str:
        used = "".join(f'<link_ctn id="{name}"/>' for name in names)
        return route.format(first, second, used)

    right = (
        '<zone id="w" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>'
        '<host id="c" speed="1Gf"/><host id="s" speed="1Gf">'
        '<prop id="processing_latency" value="1e-6"/><prop id="max_ports" value="4"/></host>'
        + "".join(links.format(name) for name in ("la", "lb", "lc", "cable"))
        + "".join(over(host, "s", f"l{host}") for host in "abc")
        + over("a", "b", "la", "lb")
        + over("b", "c", "lb", "lc")
    )
    through = right + over("a", "c", "la", "lc") + "</zone>\n</platform>\n"
    said = weft_says("fabric", "check", str(written(tmp_path, through)))
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.endswith(": each exists, crosses the switch and uses no link twice\n")
    around = right + over("a", "c", "cable") + "</zone>\n</platform>\n"
    said = weft_says("fabric", "check", str(written(tmp_path, around)))
    assert said.returncode == 2
    assert (
        "the route from a to c bypasses the smart switch s: it uses the link cable" in said.stderr
    )
    assert said.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("routes", "says"),
    [
        ("", "the route from a to b is missing"),
        (
            '<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="l"/></route>',
            "the route from a to b uses the link l twice",
        ),
    ],
)
def test_a_wrong_route_is_named(tmp_path: Path, routes: str, says: str) -> None:
    right = '<route src="a" dst="b"><link_ctn id="l"/></route>'
    said = weft_says("fabric", "check", str(written(tmp_path, RIGHT.replace(right, routes))))
    assert said.returncode == 2
    assert says in said.stderr
    assert said.stderr.count("\n") == 1


def test_a_message_without_a_route_is_told_of(program: Program, tmp_path: Path) -> None:
    right = '<route src="a" dst="b"><link_ctn id="l"/></route>'
    path = written(tmp_path, RIGHT.replace(right, ""))
    said = weft_says(
        *("run", "-q", "--offload", "off", "--platform", str(path), "-n", "2"),
        *("--", str(program("fan.c")), "out", "8"),
    )
    assert said.returncode == 1
    assert said.stderr.startswith("weft: the platform has no route from ")
