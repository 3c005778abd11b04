# SPDX-License-Identifier: LGPL-2.1-only
"""Forwarding lookups in runs, compared with closed forms for idle fabrics.

A message takes latency_factor * (links + 50 ns per switch + lookups) + size / rate. Here all
factors are 1, and SMPI adds 16 bytes to every message.
"""

from pathlib import Path
from typing import Any

import pytest

from weft import _core

Run = Any

LINK = 1e-6
OTHER = 50e-9
TCAM = 10e-9
HIT = 1e-9
ENVELOPE = 16
GBPS = 1e9 / 8

TCAM_TABLE = 'kind = "tcam"\ntcam_latency = "10ns"\n'
CACHE_TABLE = 'kind = "cache"\nhit_latency = "1ns"\ntcam_latency = "10ns"\n'
TORUS = 'kind = "torus"\ndimensions = [4, 4]\n'
STAR = 'kind = "star"\nhosts = 16\n'


def fabric(
    path: Path, forwarding: str, topology: str = TORUS, bandwidth: str = "100Gbps", more: str = ""
) -> str:
    path.write_text(f"""
[fabric]
name = "forwarding"
[topology]
{topology}
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
offload_overhead = "0us"
[link]
bandwidth = "{bandwidth}"
latency = "1us"
[switch]
preset = "tofino"
forwarding_latency = "50ns"
processing_latency = "0us"
turnaround = "0us"
{more}
[switch.forwarding]
{forwarding}
""")
    return str(path)


def pingpong(run: Run, file: str, sizes: list[int], ranks: int = 16) -> tuple[list[float], Any]:
    """Return the one-way times between the first and the last host, in increasing order."""
    result = run(
        "pingpong.c",
        ",".join(map(str, sizes)),
        on=file,
        ranks=ranks,
        options=("--ppn", "1", "--offload", "off", "--cfg", "smpi/wtime:0"),
    )
    return sorted(float(line.split()[1]) for line in result.lines), result


def lookups(result: Any) -> tuple[int, int]:
    """Return the cache hits and misses of all switches."""
    switches = result.record["switches"]
    return tuple(sum(switch[key] for switch in switches) for key in ("cache_hits", "cache_misses"))


def way(file: str, source: int = 0, destination: int = 15) -> int:
    return len(_core.load_fabric(file).route(source, destination)["through"])


def exactly(times: list[float]) -> Any:
    return pytest.approx(times, rel=1e-6)


SIZES = [8, 8, 8]


def test_every_packet_searches_a_tcam(run: Run, tmp_path: Path) -> None:
    file = fabric(tmp_path / "f.toml", TCAM_TABLE)
    times, result = pingpong(run, file, SIZES)
    hops = way(file)
    one = (hops + 1) * LINK + hops * (OTHER + TCAM) + (8 + ENVELOPE) / (100 * GBPS)
    assert times == exactly([one] * 3)
    assert {switch["cache_hits"] for switch in result.record["switches"]} == {None}


@pytest.mark.parametrize("hash_name", ["auto", "crc"])
def test_the_first_message_misses_at_every_switch(run: Run, tmp_path: Path, hash_name: str) -> None:
    file = fabric(tmp_path / "f.toml", CACHE_TABLE + f'hash = "{hash_name}"')
    times, result = pingpong(run, file, SIZES)
    hops = way(file)
    hit = (hops + 1) * LINK + hops * (OTHER + HIT) + (8 + ENVELOPE) / (100 * GBPS)
    assert times == exactly([hit, hit, hit + hops * TCAM])
    assert lookups(result) == (4 * hops, 2 * hops)


def test_caches_are_filled_again_when_routes_change(run: Run, tmp_path: Path) -> None:
    """The routes of a ring of five switches change between the third and the fourth round trip."""
    ring = 'kind = "torus"\ndimensions = [5]\n'
    file = fabric(tmp_path / "f.toml", CACHE_TABLE + 'flush_at = "24.98us"', ring)
    times, result = pingpong(run, file, [8] * 5, ranks=3)
    hops = way(file, 0, 2)
    hit = (hops + 1) * LINK + hops * (OTHER + HIT) + (8 + ENVELOPE) / (100 * GBPS)
    assert times == exactly([hit] * 3 + [hit + hops * TCAM] * 2)
    assert lookups(result) == (6 * hops, 4 * hops)


def ring_of_five(folder: Path, forwarding: str) -> str:
    return fabric(folder / "f.toml", forwarding, 'kind = "torus"\ndimensions = [5]\n')


@pytest.mark.parametrize(
    ("more", "searches"), [("", 1), ("entries = 2\nways = 2\n", 1), ('hash = "crc"\n', 0)]
)
def test_a_ring_of_five_loses_a_cable(run: Run, tmp_path: Path, more: str, searches: int) -> None:
    """As in figure 12 of the paper, destinations share an entry while they leave by the same port.

    The fault cuts the first message of the fourth round trip, which is resent 10 us later via 0, 4,
    3, 2. At 0 and 3, host 2 shares a tag with host 1, which leaves by the other port: this costs
    half of `searches` per direction.
    """
    rate = 100 * GBPS
    way_of = [(hops + 1) * LINK + hops * (OTHER + HIT) + (8 + ENVELOPE) / rate for hops in (3, 4)]
    file = ring_of_five(tmp_path, CACHE_TABLE + more)
    faults = tmp_path / "faults.toml"
    faults.write_text("""
[recovery]
detection = "0"
timeout = "10us"
[[fault]]
link = "switch-1--switch-2"
at = "25.5us"
until = "80us"
""")
    options = ("--ppn", "1", "--offload", "off", "--cfg", "smpi/wtime:0", "--faults", str(faults))
    result = run("pingpong.c", ",".join(["8"] * 10), on=file, ranks=3, options=options)
    times = sorted(float(line.split()[1]) for line in result.lines)
    before = [way_of[0] + 3 * TCAM, way_of[0], way_of[0]]
    cut = (25.5e-6 - 2 * sum(before) + 10e-6) / 2 + way_of[1] + 4 * TCAM
    around = [way_of[1] + searches * TCAM] * 3
    # The cable is up again before host 2 replies for the eighth time.
    back = (way_of[1] + way_of[0] + (2 * searches + 3) * TCAM) / 2
    after = [way_of[0] + 3 * TCAM / 2, way_of[0]]
    assert times == exactly(sorted([*before, cut, *around, back, *after]))
    assert lookups(result) == (52 - 8 * searches, 20 + 8 * searches)


def test_a_cache_of_one_entry_forgets(run: Run, tmp_path: Path) -> None:
    """Every rank sends to all other ranks, so every lookup at a port misses."""
    one = fabric(tmp_path / "one.toml", CACHE_TABLE + 'hash = "crc"\nentries = 1\nways = 1')
    all_hosts = fabric(tmp_path / "all.toml", CACHE_TABLE + 'hash = "crc"')
    tags = fabric(tmp_path / "tags.toml", CACHE_TABLE)
    options = ("--ppn", "1", "--offload", "off")
    counted = {
        Path(file).stem: lookups(run("calls.c", "alltoall", on=file, ranks=16, options=options))
        for file in (one, all_hosts, tags)
    }
    total = sum(counted["one"])
    assert total > 0
    assert all(sum(pair) == total for pair in counted.values())
    assert counted["one"][1] > counted["all"][1] > counted["tags"][1]


def test_lookups_bound_short_frames(run: Run, tmp_path: Path) -> None:
    """One lookup per 400 ns limits frames of 1,518 B to 30 Gb/s on a link of 100 Gb/s."""
    file = fabric(tmp_path / "f.toml", TCAM_TABLE + 'interval = "400ns"', STAR)
    size = 1_000_000
    (time,), _ = pingpong(run, file, [size])
    frames = -(-(size + ENVELOPE) // 1518)
    assert [time] == exactly([2 * LINK + OTHER + TCAM + frames * 400e-9])


def test_lookups_that_keep_up_change_nothing(run: Run, tmp_path: Path) -> None:
    size = 1_000_000
    times = [
        pingpong(run, fabric(tmp_path / f"{i}.toml", TCAM_TABLE + interval, STAR), [size])[0]
        for i, interval in enumerate(("", 'interval = "4ns"'))
    ]
    assert times[0] == times[1]


FRAMES = 1000
SHORTEST = CACHE_TABLE + 'frame = "84B"\ninterval = "0.72ns"\ntcam_interval = "4ns"\nhash = "crc"\n'


def fan(run: Run, file: str, way: str = "out") -> tuple[float, Any]:
    """Return the time per packet in ns; one host sends 1,000 frames of 84 B to each of 15."""
    result = run(
        "fan.c",
        way,
        str(84 * FRAMES - ENVELOPE),
        on=file,
        ranks=16,
        options=("--ppn", "1", "--offload", "off", "--cfg", "smpi/wtime:0"),
    )
    time = float(result.lines[0].split()[1])
    return (time - 2 * LINK - OTHER - HIT) / (15 * FRAMES) * 1e9, result


@pytest.mark.parametrize(
    ("entries", "nanoseconds", "hits"), [(1, 4.0, 0.0), (8, 4.0, 0.2), (16, 0.72, 1.0)]
)
def test_packets_that_evict_each_other_are_as_slow_as_a_tcam(
    run: Run, tmp_path: Path, entries: int, nanoseconds: float, hits: float
) -> None:
    """Messages interleave: their 15 destinations fit into 16 entries and thrash smaller caches."""
    ways = f"entries = {entries}\nways = {entries}\n"
    file = fabric(tmp_path / "f.toml", SHORTEST + ways, STAR, "1600Gbps")
    time, result = fan(run, file)
    assert time == pytest.approx(nanoseconds, rel=0.02)
    (switch,) = result.record["switches"]
    shares = switch["cache_packet_hits"] / switch["cache_packets"]
    assert shares == pytest.approx(hits, abs=0.3 if entries == 8 else 0.02)


def test_a_tcam_is_as_slow_whatever_comes(run: Run, tmp_path: Path) -> None:
    table = TCAM_TABLE + 'frame = "84B"\ninterval = "4ns"\n'
    time, _ = fan(run, fabric(tmp_path / "f.toml", table, STAR, "1600Gbps"))
    assert time == pytest.approx(4, rel=0.02)


def test_ports_bound_what_comes_in_not_what_goes_out(run: Run, tmp_path: Path) -> None:
    """Fifteen hosts send to one: each input port handles 168 Gb/s, the output link 1.6 Tb/s."""
    table = TCAM_TABLE + 'frame = "84B"\ninterval = "4ns"\n'
    file = fabric(tmp_path / "f.toml", table, STAR, "1600Gbps")
    time, _ = fan(run, file, "in")
    assert time == pytest.approx(84 * 8 / 1600, rel=0.02)


@pytest.mark.parametrize(("interval", "limited"), [("1ns", False), ("100ns", True)])
def test_lookups_bound_streams(run: Run, tmp_path: Path, interval: str, limited: bool) -> None:
    """A packet of 256 B takes 27.04 ns on a link of 100 Gb/s."""
    file = fabric(
        tmp_path / "f.toml", TCAM_TABLE + f'interval = "{interval}"', 'kind = "star"\nhosts = 4\n'
    )
    size = 256 * 100
    lines = run("latency.c", str(size), on=file, options=("--offload", "stream")).lines
    entered, left = (float(text) for text in lines[0].split()[2:])
    packet = 100e-9 if limited else (256 + 82) / (100 * GBPS)
    assert left - entered == pytest.approx(2 * LINK + 100 * packet, rel=1e-5)


@pytest.mark.parametrize(("interval", "limited"), [("1ns", False), ("1us", True)])
def test_lookups_bound_multicasts(run: Run, tmp_path: Path, interval: str, limited: bool) -> None:
    """A packet of 4,096 B with 78 B of headers takes 333.92 ns on a link of 100 Gb/s."""
    file = fabric(
        tmp_path / "f.toml", TCAM_TABLE + f'interval = "{interval}"', 'kind = "star"\nhosts = 4\n'
    )
    options = ("--offload", "multicast")
    result = run("multicast.c", "bcast", str(4096 * 1000), on=file, options=options)
    end = max(float(line.split()[1]) for line in result.lines)
    packet = 1e-6 if limited else (4096 + 78) / (100 * GBPS)
    assert end == pytest.approx(1000 * packet, rel=0.04)  # plus barrier and handshake
