# SPDX-License-Identifier: LGPL-2.1-only
"""Offloaded Allreduces that share links with other traffic get the solver's bandwidth share.

SimGrid's solver is fair between flows of equal latency: a stream competes like a point-to-point
message between the same hosts. With message granularity a contribution only travels to the switch,
so its latency is lower, and SimGrid gives such flows a larger share.
"""

from pathlib import Path

import pytest

from tests.python.binding.calls.test_timing import STAR
from tests.support import fabrics, simulated
from tests.support.simulated import Run

TOLERANCE = 0.01
SIZE = 65536  # one window: streams at the full rate of the link
TRANSFER = 1 << 26  # outlasts every Allreduce here
ROUTE_LATENCY = 2 * STAR.link_latency + STAR.forwarding


def times(
    run: Run, who: str, *more: str, offload: str = "stream", ppn: int = 1, on: str = "tofino-4"
) -> dict[str, set[float]]:
    """Return the times of all ranks by kind."""
    options = ("--offload", offload, "--ppn", str(ppn))
    found: dict[str, set[float]] = {"allreduce": set(), "transfer": set()}
    for line in run(
        "contention.c", who, str(SIZE), *more, on=on, ranks=4 * ppn, options=options
    ).lines:
        kind, time = line.split()
        found[kind].add(float(time))
    return found


def stream_at(rate: float) -> float:
    """Return the time of an Allreduce whose packets get this rate on every link."""
    return STAR.base() + STAR.wire(SIZE) / rate


def test_alone_it_takes_all_of_the_links(run: Run) -> None:
    (time,) = times(run, "world")["allreduce"]
    assert time == pytest.approx(stream_at(STAR.bandwidth), rel=TOLERANCE)


def test_a_stream_beside_a_transfer_takes_half_of_the_link(run: Run) -> None:
    found = times(run, "world", str(TRANSFER))
    (allreduce,) = found["allreduce"]
    assert allreduce == pytest.approx(stream_at(STAR.bandwidth / 2), rel=TOLERANCE)

    # The transfer loses half of the link for as long as the stream flows.
    flowing = STAR.wire(SIZE) / (STAR.bandwidth / 2)
    alone = STAR.point_to_point(TRANSFER)
    assert max(found["transfer"]) - alone == pytest.approx(flowing / 2, rel=TOLERANCE)


def test_messages_beside_a_transfer_share_by_latency(run: Run, tmp_path: Path) -> None:
    path = fabrics.with_free_hosts(tmp_path, "tofino-4")
    # Without the rendezvous handshake, which would delay the start of the transfer.
    path.write_text(path.read_text().partition("[[point_to_point]]")[0])
    found = times(run, "world", str(TRANSFER), offload="message", on=str(path))
    share = ROUTE_LATENCY / (ROUTE_LATENCY + STAR.link_latency)
    shared = STAR.link_latency + SIZE / (share * STAR.bandwidth)
    alone = STAR.link_latency + SIZE / STAR.bandwidth
    # Rank 0's contribution competes with the transfer, and so does the result for rank 1.
    others = STAR.overhead + shared + STAR.processing + alone
    rank_1 = STAR.overhead + shared + STAR.processing + shared
    assert sorted(found["allreduce"]) == pytest.approx([others, rank_1], rel=TOLERANCE)


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_communicators_on_other_hosts_do_not_disturb(run: Run, offload: str) -> None:
    (alone,) = times(run, "half", offload=offload)["allreduce"]
    # The hosts of the other communicator are on two pipelines of the switch.
    both = sorted(times(run, "halves", offload=offload)["allreduce"])
    assert both == pytest.approx([alone, alone + 0.86e-6], rel=1e-9)


def test_streams_over_the_same_hosts_share_the_links(run: Run) -> None:
    (alone,) = times(run, "even", ppn=2)["allreduce"]
    (both,) = times(run, "parities", ppn=2)["allreduce"]
    assert alone == pytest.approx(stream_at(STAR.bandwidth), rel=TOLERANCE)
    assert both == pytest.approx(stream_at(STAR.bandwidth / 2), rel=TOLERANCE)


def test_messages_over_the_same_hosts_share_the_links(run: Run) -> None:
    (both,) = times(run, "parities", offload="message", ppn=2)["allreduce"]
    assert both == pytest.approx(STAR.message(2 * SIZE), rel=TOLERANCE)


def test_a_stream_that_the_turnaround_holds_back_leaves_the_rest_of_the_link(run: Run) -> None:
    """Two long streams that each need less than half of the link do not slow each other down."""
    size = 1 << 22
    options = ("--ppn", "2")
    program = ("contention.c", "parities", str(size))
    result = run(*program, ranks=8, on=simulated.fabric("slow-turnaround"), options=options)
    windows = size // (STAR.slots * STAR.payload)
    turnaround = 40e-6
    last = STAR.wire(size / windows) / STAR.bandwidth
    expected = STAR.base() + (windows - 1) * turnaround + last
    for line in result.lines:
        assert float(line.split()[1]) == pytest.approx(expected, rel=1e-3)


PORTS = '[switch.forwarding]\nkind = "tcam"\ntcam_latency = "100ns"\ninterval = "200ns"\n'


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return a tree of smart switches, and the same tree with forwarding lookups at the ports."""
    directory = tmp_path_factory.mktemp("trees")
    plain = fabrics.make(directory, "fat_tree", {"down": ["4,4"], "up": ["1,2"]}, "ideal")
    ports = directory / "ports.toml"
    switch = '[switch]\npreset = "ideal"\n'
    text = plain.read_text(encoding="utf-8")
    assert switch in text
    ports.write_text(text.replace(switch, f"{switch}\n{PORTS}"), encoding="utf-8")
    return {"plain": str(plain), "ports": str(ports)}


@pytest.mark.parametrize("who", ["world", "parities"])
@pytest.mark.parametrize("messages", ["smpi", "weft"])
@pytest.mark.parametrize("offload", ["stream", "message", "off"])
@pytest.mark.parametrize("tree", ["plain", "ports"])
def test_both_solvers_give_flows_the_same_times(
    run: Run, trees: dict[str, str], tree: str, offload: str, messages: str, who: str
) -> None:
    # SimGrid must not merge events that are close to each other.
    options = ("--offload", offload, "--messages", messages, "--cfg", "precision/timing:1e-16")

    def clocks(flows: str) -> list[float]:
        words = ("contention.c", who, str(1 << 18), str(1 << 20))
        environment = {"WEFT_HOST_FLOWS": flows}
        result = run(*words, on=trees[tree], ranks=16, options=options, environment=environment)
        return sorted(float(line.split()[1]) for line in result.lines)

    assert clocks("") == pytest.approx(clocks("simgrid"), rel=1e-9)
