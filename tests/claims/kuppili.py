# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of Kuppili et al.: docs/testbed.md and docs/papers/kuppili.md."""

import re
from collections.abc import Iterator

import weft
from tests.claims import DOCS, Repeat, printed, stored
from weft_testbed.hardware.medians import measured

PAGE, PAPER = "testbed.md", "papers/kuppili.md"
PAGES = (PAGE, PAPER)
COMPARED, LATENCY = "weft testbed paper", "weft testbed latency"


def medians(output: str) -> Iterator[str]:
    """Yield the predicted round trips, which are the measured ones."""
    for measured_ns, predicted_ns in re.findall(r"^ +(\d+) +(\d+)  ", output, re.MULTILINE):
        assert measured_ns == predicted_ns
        yield f"{int(predicted_ns):,}"


def of_the_medians(way: str, output: str) -> Iterator[str]:
    """Yield by how many percent the chassis differs from another way."""
    (line,) = (one for one in output.splitlines() if one.startswith(f"chassis against {way}"))
    yield re.findall(r"of the medians [+-]([\d.]+) %", line)[0]


def a_pass(output: str) -> Iterator[str]:
    """Yield the cost of a pass; a flooded packet has the round trip of a later one."""
    pings = planned("star-8").learning("host-0", "host-3", learning_ms=1.5)
    assert pings["flooding"].to_list() == [1, 2, 2, 0, 0]
    assert len(set(pings["round_trip_ns"])) == 1
    yield re.findall(r"chassis ([\d.]+) ns", output)[0]


def planned(*fabrics: str) -> weft.TestbedPlan:
    """Plan fabrics on the shipped testbed that is like the poster's."""
    return weft.testbed_plan("topocloud-64", fabrics)


def ranges() -> Iterator[str]:
    """Yield the round trips over a wire and over a layer 2 switch by the published ranges."""
    (over_wire,) = planned("server-pair").latency().to_dicts()
    found = measured()
    over_l2 = (found.direct + 2 * one_way for one_way in found.l2_pass_range)
    for trip in (over_wire["least_ns"], over_wire["most_ns"], *over_l2):
        yield f"{trip:,.0f}"
    yield "2"  # of layer 2


def over_a_wire() -> Iterator[str]:
    """Yield the times in the page's console block, which test_markdown.py runs."""
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    small = re.findall(r"^1 B one way: ([\d.]+) us", text, re.MULTILINE)
    large = re.findall(r"^1048576 B one way: [\d.]+ us, ([\d.]+) Gb/s", text, re.MULTILINE)
    yield from ("1", small[1], small[0], "1", large[1], large[0])


def no_wait() -> Iterator[str]:
    """Require that a pass takes as long for the largest frame; yield nothing."""
    plan = planned("star-8")
    small, large = (plan.latency(frame_bytes=size)["round_trip_ns"] for size in (64, 9018))
    assert small.equals(large)
    yield from ()


def recirculated() -> Iterator[str]:
    """Yield the cables of a torus that recirculate, without and with layer 2 switches."""
    yield from ("3", "3")
    for inventory in ("recirculating-64", "topocloud-64"):
        plan = weft.testbed_plan(inventory, ["torus-3x3"])
        yield str(plan.details.recirculated)
    yield "2"  # of layer 2


def nothing() -> Iterator[str]:
    """Yield nothing: the cell has no numbers; testbed/tests shows what it says."""
    yield from ()


REPEATS: tuple[Repeat, ...] = ()
CLAIMS = (
    printed(PAGE, "Round trips of 455", COMPARED, medians),
    printed(PAGE, "A virtual wire adds", COMPARED, lambda out: of_the_medians("direct", out)),
    printed(PAGE, "A virtual wire takes 17", COMPARED, lambda out: of_the_medians("l2", out)),
    printed(PAGE, "The chassis as wire and as Ethernet", COMPARED, a_pass),
    stored(PAGE, "Distributions of 1,000 round trips", LATENCY, ranges),
    stored(
        PAGE,
        "A virtual wire between two servers",
        "weft testbed plan topocloud-64 server-pair",
        over_a_wire,
    ),
    stored(PAGE, "MAC-learning switch by", "weft testbed tables", nothing),
    stored(PAGE, "Cut-through, for multicast too", f"{LATENCY} --frame 9018", no_wait),
    stored(PAGE, "Recirculation for topologies", "weft testbed plan", recirculated),
    stored(PAGE, "A control plane that reconfigures", "weft testbed plan --keep", nothing),
    printed(PAPER, "Round trip: direct cable", COMPARED, medians),
    printed(
        PAPER, "A virtual wire takes longer", COMPARED, lambda out: of_the_medians("direct", out)
    ),
    printed(
        PAPER,
        "A virtual wire takes less",
        COMPARED,
        lambda out: of_the_medians("l2", out),
    ),
)
