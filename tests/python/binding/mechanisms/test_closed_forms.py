# SPDX-License-Identifier: LGPL-2.1-only
"""In-network collectives on an idle fat tree: closed forms, overlap, per-host contributions.

The time from the last rank's call, for a vector of S bytes over two levels of switches with link
latency l, link rate B, processing p, forwarding f and overhead o:

    Allreduce, Barrier   o + 4 l + 2 p + f
    Reduce, Reduce_scatter                 o + 4 l + 3 p
    Bcast, Allgather, Alltoall             o + 4 l + 3 f
      + the packets' time on the busiest link: all of S if whole vectors move, S minus the host's
        own part if parts do, and the four blocks that cross a leaf's cable for an Alltoall;
        reductions also wait for slots (models.md)
"""

import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.simulated import Run

EXACT = 1e-9
HOSTS = 4

OVERHEAD = 3e-6
GAP = 1.5e-6
# presets/switch/tofino.toml
FORWARDING = 495.5e-9
PROCESSING = 3e-6
PAYLOAD, HEADERS = 256, 82
LATENCY = 1e-6
RATE = 100e9 / 8
LOOPBACK_RATE, LOOPBACK_LATENCY = 10e9, 0.1e-6
ENVELOPE = 16
"""Bytes that SMPI adds to every message."""

COMBINED = ("allreduce", "barrier", "reduce", "reduce_scatter", "reduce_scatter_block")
MOVED = ("bcast", "allgather", "allgatherv", "alltoall")
COLLECTIVES = COMBINED + MOVED


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fat tree of two leaves whose switches support everything."""
    path = tmp_path_factory.mktemp("fabric") / "ideal-tofino.toml"
    path.write_text(
        f"""
[fabric]
name = "ideal-tofino"
[topology]
kind = "fat_tree"
down = [2, 2]
up = [1, 1]
[host]
speed = "1Gf"
cores = 8
loopback_bandwidth = "{LOOPBACK_RATE}Bps"
loopback_latency = "{LOOPBACK_LATENCY}s"
[nic]
offload_overhead = "{OVERHEAD}s"
message_gap = "{GAP}s"
[link]
bandwidth = "100Gbps"
latency = "{LATENCY}s"
[switch]
preset = "tofino"
[[switch.offload]]
collectives = ["all"]
datatypes = ["all"]
operations = ["all"]
"""
    )
    return path


def wire(size: float) -> float:
    return size + HEADERS * math.ceil(size / PAYLOAD)


@dataclass(frozen=True)
class Shape:
    """Data transferred by a collective of `ints` integers on four hosts."""

    collective: str
    ints: int

    @property
    def parts(self) -> list[int]:
        """Size of each rank's part or block in bytes."""
        uneven = self.collective in ("allgatherv", "reduce_scatter")
        return [4 * self.ints * (rank + 1 if uneven else 1) for rank in range(HOSTS)]

    @property
    def latency(self) -> float:
        switches = {
            "allreduce": 2 * PROCESSING + FORWARDING,
            "barrier": 2 * PROCESSING + FORWARDING,
        }.get(self.collective, 3 * (PROCESSING if self.collective in COMBINED else FORWARDING))
        return OVERHEAD + 4 * LATENCY + switches

    @property
    def streaming(self) -> float:
        """Time on the busiest link; no size here fills a window."""
        if self.collective == "barrier":
            return HEADERS / RATE
        if self.collective in ("allreduce", "reduce", "bcast"):
            return wire(4 * self.ints) / RATE
        wires = [wire(part) for part in self.parts]
        if self.collective == "alltoall":
            return HOSTS / 2 * HOSTS / 2 * wires[0] / RATE
        return (sum(wires) - min(wires)) / RATE


def ends(run: Run, fabric: Path, *arguments: str, **more: object) -> list[float]:
    """Run one call, and return when each rank has its result."""
    result = run("collectives.c", *arguments, on=str(fabric), **more)  # type: ignore[arg-type]
    times = {int(rank): float(end) for rank, _, end in map(str.split, result.lines)}
    (row,) = result.record["collectives"]
    assert row["path"] == "stream", row
    return [times[rank] for rank in sorted(times)]


@pytest.mark.parametrize("form", ["", "i"])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_collective_lasts_as_long_as_its_closed_form(
    run: Run, fabric: Path, collective: str, form: str
) -> None:
    for ints in (64, 1000):
        shape = Shape(collective, ints)
        times = ends(run, fabric, form + collective, str(ints), "2", ranks=HOSTS)
        assert times == [pytest.approx(shape.latency + shape.streaming, rel=EXACT)] * HOSTS


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.slow
def test_a_call_that_does_not_block_goes_on_while_the_rank_computes(
    run: Run, fabric: Path, collective: str
) -> None:
    """The call overlaps the rank's computation, so the longer of the two determines the time."""
    for ints, computes_us in ((64, 10), (64, 200), (100000, 10)):
        alone = max(ends(run, fabric, "i" + collective, str(ints), "1", ranks=HOSTS))
        both = ends(run, fabric, f"i{collective}", str(ints), "1", str(computes_us), ranks=HOSTS)
        assert both == [pytest.approx(max(alone, computes_us * 1e-6), rel=EXACT)] * HOSTS


@pytest.mark.parametrize("form", ["", "i"])
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("ppn", [1, 2])
@pytest.mark.slow
def test_messages_give_the_same_results(
    run: Run, fabric: Path, collective: str, form: str, ppn: int
) -> None:
    options = ("--offload", "message", "--ppn", str(ppn))
    ranks = HOSTS * ppn
    result = run(
        "collectives.c", form + collective, "300", "3", on=str(fabric), ranks=ranks, options=options
    )
    (row,) = result.record["collectives"]
    assert row["path"] == "message"


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.slow
def test_switches_count_the_same_at_both_granularities(
    run: Run, fabric: Path, collective: str
) -> None:
    stream, message = (
        run(
            *("collectives.c", collective, "300", "2"),
            on=str(fabric),
            ranks=HOSTS,
            options=("--offload", granularity),
        ).record["switches"]
        for granularity in ("stream", "message")
    )
    assert stream == message
    adds_up = collective in COMBINED and collective != "barrier"
    assert all((switch["bytes_reduced"] > 0) == adds_up for switch in stream)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_links_carry_every_byte_once(run: Run, fabric: Path, collective: str) -> None:
    shape = Shape(collective, 64)
    result = run("collectives.c", collective, "64", "2", on=str(fabric), ranks=HOSTS)
    assert result.row()["path"] == "stream"
    links = {link["name"]: link["bytes"] for link in result.record["links"]}
    wires = [wire(part) for part in shape.parts]
    whole = HEADERS if collective == "barrier" else wire(4 * 64)
    for host in range(HOSTS):
        expected = {
            "allreduce": whole,
            "barrier": whole,
            "reduce": 0 if host == 2 else whole,
            "bcast": whole if host == 2 else 0,
            "allgather": wires[host],
            "allgatherv": wires[host],
        }.get(collective, sum(wires) - wires[host])
        assert links.get(f"host-{host}.up", 0) == expected


def test_a_host_combines_what_its_ranks_contribute(run: Run, fabric: Path, tmp_path: Path) -> None:
    """per-rank: each rank sends, a gap apart; per-host: one rank collects and sends."""
    per_host = tmp_path / "per-host.toml"
    per_host.write_text(fabric.read_text().replace("[nic]", '[nic]\ncontributions = "per-host"', 1))
    size, ppn = 4 * 1000, 2
    options = ("--ppn", str(ppn))
    arguments = ("allreduce", "1000", "0")
    shape = Shape("allreduce", 1000)
    alone = shape.latency + shape.streaming

    each = ends(run, fabric, *arguments, ranks=HOSTS * ppn, options=options)
    assert each == [pytest.approx(alone + GAP + wire(size) / RATE, rel=EXACT)] * HOSTS * ppn

    within = LOOPBACK_LATENCY + (size + ENVELOPE) / LOOPBACK_RATE
    together = ends(run, per_host, *arguments, ranks=HOSTS * ppn, options=options)
    speakers, others = together[::ppn], together[1::ppn]
    assert speakers == [pytest.approx(within + alone, rel=EXACT)] * HOSTS
    assert others == [pytest.approx(within + alone + within, rel=EXACT)] * HOSTS


@pytest.mark.parametrize("ppn", ["1", "2"])
def test_the_table_names_what_nobody_measured_of_hosts_that_combine(run: Run, ppn: str) -> None:
    """The note appears once, if ranks share a host: hdr100-8 uses another cluster's host values."""
    ranks = 4 * int(ppn)
    options = ("--ppn", ppn)
    result = run(
        "collectives.c", "allreduce", "77", "0", on="hdr100-8", ranks=ranks, options=options
    )
    assert result.row()["path"] == "stream"
    assert result.record["host_stages"] == (ppn == "2")
    said = [line for line in result.stderr.splitlines() if line.startswith("[host] values")]
    assert len(said) == (ppn == "2")
    assert all("message_overhead, copy_rate" in line for line in said)


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("offload", ["stream", "message", "multicast"])
@pytest.mark.slow
def test_hosts_that_combine_give_the_same_results(
    run: Run, fabric: Path, tmp_path: Path, collective: str, offload: str
) -> None:
    per_host = tmp_path / "per-host.toml"
    per_host.write_text(fabric.read_text().replace("[nic]", '[nic]\ncontributions = "per-host"', 1))
    for root in ("0", "5"):
        for form in ("", "i"):
            result = run(
                "collectives.c",
                form + collective,
                "77",
                root,
                on=str(per_host),
                ranks=12,
                options=("--ppn", "3", "--offload", offload),
            )
            multicasts = collective in ("bcast", "allgather", "allgatherv")
            expected = "stream" if offload == "multicast" and not multicasts else offload
            assert result.row()["path"] == expected
