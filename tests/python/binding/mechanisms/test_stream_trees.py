# SPDX-License-Identifier: LGPL-2.1-only
"""Allreduces over many switches: closed forms, bytes per link, channels, competing traffic.

The closed forms are computed here from the fabric's parameters only. On an idle fat tree of L
levels with latency l_i and rate B_i of the cables of level i (level 1: the hosts'), processing p
and forwarding f of a switch, overhead o and gap g of the NIC, and k ranks per host:

    stream   o + sum(l_i) + L p + sum(l_i) + (L - 1) f + (k - 1) g
             + the longest streaming time of a switch, at B_1 / k and B_i, with the turnaround
               plus the excess of the tree's round trip over 2 l_1 + p
    message  o + sum(l_i + S / B_i + p) + sum(l_i + S / B_i) + (L - 1) f          (k = 1)
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.simulated import Program, Result, Run
from weft import _core
from weft.fabric.export import export

EXACT = 1e-9
SIZES = (4, 1024, 65536, 65540, 1 << 20)

# presets/switch/tofino.toml and presets/nic/connectx-6-dx.toml
OVERHEAD = 1.44e-6
GAP = 1.684524e-6
FORWARDING = 495.5e-9
PROCESSING = 3e-6
TURNAROUND = 8.43e-6
SLOTS, PAYLOAD, HEADERS = 256, 256, 82
WINDOW = SLOTS * PAYLOAD
CHANNELS = 64

# Segments of point-to-point messages.
SEGMENTS = (
    ("0B", 0.9828, 0.04325),
    ("256B", 1.2441, 0.21075),
    ("2048B", 1.4437, 0.3449),
    ("16384B", 2.3879, 0.70276),
    ("131072B", 0.00042, 0.42459),
)
ENVELOPE = 16  # bytes that SMPI adds to every message


def wire(size: float) -> float:
    return size + HEADERS * math.ceil(size / PAYLOAD)


def streaming(size: int, rate: float, turnaround: float = TURNAROUND) -> float:
    windows = (math.ceil(size / PAYLOAD) - 1) // SLOTS
    return windows * max(turnaround, wire(WINDOW) / rate) + wire(size - windows * WINDOW) / rate


@dataclass(frozen=True)
class FatTree:
    """Fat tree of Tofinos, described from the lowest level."""

    down: tuple[int, ...]
    up: tuple[int, ...]
    gbps: tuple[float, ...]
    latency: tuple[float, ...]
    plain: tuple[int, ...] = ()
    """Levels whose switches only forward."""
    segments: tuple[tuple[str, float, float], ...] = ()
    rest: str = ""
    """Additional tables."""

    @property
    def hosts(self) -> int:
        return math.prod(self.down)

    @property
    def levels(self) -> int:
        return len(self.down)

    @property
    def rates(self) -> list[float]:
        return [gbps * 1e9 / 8 for gbps in self.gbps]

    def write(self, directory: Path) -> str:
        """Write the fabric file."""
        lines = [
            '[fabric]\nname = "fat-tree"',
            f'[topology]\nkind = "fat_tree"\ndown = {list(self.down)}\nup = {list(self.up)}',
            '[host]\nspeed = "1Gf"\ncores = 72\nloopback_bandwidth = "10GBps"',
            'loopback_latency = "0.4us"\n[nic]\npreset = "connectx-6-dx"',
            f'[link]\nbandwidth = "{self.gbps[0]}Gbps"\nlatency = "{self.latency[0]}s"',
            '[switch]\npreset = "tofino"\nmax_ports = 256',
        ]
        for level in range(1, self.levels):
            lines.append(
                f'[[links]]\nmatch = "level{level}-*"\nbandwidth = "{self.gbps[level]}Gbps"\n'
                f'latency = "{self.latency[level]}s"'
            )
        lines += [f'[[switches]]\nmatch = "level{level}-*"\noffload = []' for level in self.plain]
        for start, latency, bandwidth in self.segments:
            lines.append(
                f'[[point_to_point]]\nfrom = "{start}"\nlatency_factor = {latency}\n'
                f"bandwidth_factor = {bandwidth}"
            )
        path = directory / "fat-tree.toml"
        path.write_text("\n".join([*lines, self.rest]) + "\n")
        return str(path)

    def base(self, ppn: int = 1, forwarding: float = FORWARDING) -> float:
        """Return the sum of all latencies of a stream."""
        up = sum(self.latency) + self.levels * PROCESSING
        down = sum(self.latency) + (self.levels - 1) * forwarding
        return OVERHEAD + up + down + (ppn - 1) * GAP

    def stream(self, size: int, ppn: int = 1, forwarding: float = FORWARDING) -> float:
        up_and_down = self.base(forwarding=forwarding) - OVERHEAD
        turnaround = TURNAROUND + up_and_down - (2 * self.latency[0] + PROCESSING)
        rates = [self.rates[0] / ppn, *self.rates[1:]]
        longest = max(streaming(size, rate, turnaround) for rate in rates)
        return self.base(ppn, forwarding) + longest

    def message(self, size: int, forwarding: float = FORWARDING) -> float:
        cables = zip(self.latency, self.rates, strict=True)
        hops = sum(latency + size / rate for latency, rate in cables)
        levels = self.levels
        return OVERHEAD + 2 * hops + levels * PROCESSING + (levels - 1) * forwarding


TWO_LEVELS = FatTree((4, 4), (1, 2), (100, 100), (0.94e-6, 50e-9))
THREE_LEVELS = FatTree((2, 2, 3), (1, 2, 2), (100, 80, 50), (0.94e-6, 50e-9, 200e-9))


def durations(
    run: Run,
    on: str,
    ranks: int,
    sizes: Sequence[int] = SIZES,
    options: Sequence[str] = (),
) -> dict[int, float]:
    """Run one Allreduce per size, back to back, and return the times on the slowest rank."""
    return latencies(
        run("latency.c", ",".join(map(str, sizes)), on=on, ranks=ranks, options=options)
    )


def latencies(result: Result) -> dict[int, float]:
    entered: dict[int, float] = {}
    left: dict[int, float] = {}
    for line in result.lines:
        _, size, *times = line.split()
        entered[int(size)] = max(entered.get(int(size), 0), float(times[0]))
        left[int(size)] = max(left.get(int(size), 0), float(times[1]))
    return {size: left[size] - entered[size] for size in left}


def exactly(form: Callable[[int], float], sizes: Iterable[int] = SIZES) -> object:
    return pytest.approx({size: form(size) for size in sizes}, rel=EXACT)


# ---- Closed forms ----


@pytest.mark.parametrize("tree", [TWO_LEVELS, THREE_LEVELS], ids=["two levels", "three levels"])
def test_a_quiet_fat_tree_takes_the_closed_form(run: Run, tmp_path: Path, tree: FatTree) -> None:
    on = tree.write(tmp_path)
    assert durations(run, on, tree.hosts) == exactly(tree.stream)
    by_messages = durations(run, on, tree.hosts, options=("--offload", "message"))
    assert by_messages == exactly(tree.message)


def test_ranks_of_a_host_share_its_cable_and_no_other(run: Run, tmp_path: Path) -> None:
    tree = THREE_LEVELS
    found = durations(run, tree.write(tmp_path), 3 * tree.hosts, options=("--ppn", "3"))
    assert found == exactly(lambda size: tree.stream(size, ppn=3))


def test_a_communicator_in_one_leaf_does_not_leave_it(run: Run, tmp_path: Path) -> None:
    inner = replace(TWO_LEVELS, down=(4,), up=(1,), gbps=(100,), latency=(0.94e-6,))
    assert durations(run, TWO_LEVELS.write(tmp_path), 4) == exactly(inner.stream)


def walked(fabric: _core.Fabric, root: int, size: int) -> tuple[float, float]:
    """Return stream and message times, from each host's route; all switches are alike and smart."""
    rate = 100e9 / 8
    forwarding = fabric.switches[0]["forwarding_latency_s"]
    up = down = there = back = 0.0
    for host in range(len(fabric.hosts)):
        way = fabric.route(host, len(fabric.hosts) + root)
        between, hops = len(way["through"]), len(way["links"])
        links = way["latency_s"] - between * forwarding
        up = max(up, links + (between + 1) * PROCESSING)
        down = max(down, links + between * forwarding)
        there = max(there, links + hops * (size / rate + PROCESSING))
        back = max(back, links + hops * size / rate + between * forwarding)
    beyond = up + down - (2 * 0.94e-6 + PROCESSING)
    stream = OVERHEAD + up + down + streaming(size, rate, TURNAROUND + beyond)
    return stream, OVERHEAD + there + back


@pytest.mark.parametrize("name", ["torus-4x4x4x4", "dragonfly-16x16"])
def test_the_shipped_machines_of_paper_004(run: Run, name: str) -> None:
    fabric = _core.load_fabric(name)
    hosts, sizes = len(fabric.hosts), (1024, 1 << 18)
    # Same latency for all switches, regardless of the pipelines of their ports.
    fast = ("--no-privatize", "--set", "switch.pipe_latency=0s")
    forms = {size: walked(fabric, 0, size) for size in sizes}
    stream = durations(run, name, hosts, sizes, fast)
    message = durations(run, name, hosts, sizes, (*fast, "--offload", "message"))
    assert stream == exactly(lambda size: forms[size][0], sizes)
    assert message == exactly(lambda size: forms[size][1], sizes)


@pytest.mark.parametrize("offload", ["stream", "message"])
@pytest.mark.parametrize("name", ["torus-4x4x4x4", "dragonfly-16x16", "fat-tree-1024"])
def test_results_are_right_over_many_switches(
    run: Run, program: Program, tmp_path: Path, name: str, offload: str
) -> None:
    """The program checks its results itself."""
    options = ("--offload", offload, "--no-privatize", "--cfg", "smpi/bcast:binomial_tree")
    command = simulated.weft_command(
        compiled.example("allreduce_latency"),
        *("4,5000", "1"),
        on=name,
        ranks=200,
        options=(*options, "--json", str(tmp_path / "record.json")),
    )
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    record = simulated.read_record(tmp_path / "record.json")
    (row,) = [row for row in record["collectives"] if row["datatype"] == "MPI_INT"]
    assert row["path"] == offload
    assert sum(switch["offloaded"] > 0 for switch in record["switches"]) > 25


# ---- Which switches are smart ----


# Host algorithms, of which the fastest is used for each size.
ALGORITHMS = ("openmpi-4.1", "recursive_doubling", "ring", "rabenseifner")


def best_on_hosts(run: Run, on: str, ranks: int, sizes: Sequence[int]) -> dict[int, float]:
    runs = [
        durations(run, on, ranks, sizes, ("--offload", "off", "--fallback", name, "--no-privatize"))
        for name in ALGORITHMS
    ]
    return {size: min(times[size] for times in runs) for size in sizes}


def test_smart_leaves_lie_between_all_smart_and_none(run: Run, tmp_path: Path) -> None:
    """Two leaves of 32 hosts: the leaves execute nearly all of the reduction."""
    sizes = (8, 1024, 65536, 1 << 20)
    tree = FatTree((32, 2), (1, 2), (100, 100), (0.94e-6, 50e-9), segments=SEGMENTS)
    everywhere = durations(run, tree.write(tmp_path), 64, sizes)
    none = best_on_hosts(run, tree.write(tmp_path), 64, sizes)
    leaves = durations(run, replace(tree, plain=(2,)).write(tmp_path), 64, sizes)
    for size in sizes:
        assert everywhere[size] < leaves[size] < none[size], size


def test_of_many_smart_leaves_one_takes_the_others_results_over_one_cable(
    run: Run, tmp_path: Path
) -> None:
    """Eight leaves: seven messages share the root's cable, so hosts win for large messages."""
    small, window, large = 8, 65536, 1 << 20
    tree = FatTree((4, 8), (1, 8), (100, 100), (0.94e-6, 50e-9), segments=SEGMENTS)
    everywhere = durations(run, tree.write(tmp_path), 32, (small, window, large))
    none = best_on_hosts(run, tree.write(tmp_path), 32, (small, large))
    leaves = durations(run, replace(tree, plain=(2,)).write(tmp_path), 32, (small, window, large))
    assert everywhere[small] < leaves[small] < none[small]
    assert everywhere[large] < none[large] < leaves[large]
    # A leaf's message goes up through a forwarding spine and through the root, and back.
    way = sum(tree.latency) + FORWARDING + tree.latency[1]
    base = OVERHEAD + 2 * way + 2 * PROCESSING + FORWARDING
    assert leaves[window] == pytest.approx(base + 7 * wire(window) / tree.rates[1], rel=EXACT)


# ---- Bisection ----


def test_slow_cables_above_the_leaves_set_the_time(run: Run, tmp_path: Path) -> None:
    tree = replace(TWO_LEVELS, gbps=(100, 10))
    found = durations(run, tree.write(tmp_path), tree.hosts)
    assert found == exactly(tree.stream)
    size = 1 << 20
    bisection = wire(size) / tree.rates[1]
    assert bisection < found[size] < 1.02 * bisection


def test_plain_leaves_send_every_hosts_message_over_the_bisection(run: Run, tmp_path: Path) -> None:
    tree = replace(TWO_LEVELS, plain=(1,))
    found = durations(run, tree.write(tmp_path), tree.hosts)
    base = OVERHEAD + 2 * sum(tree.latency) + PROCESSING + 2 * FORWARDING
    turnaround = TURNAROUND  # the only smart switch is the root, whose round trip is the tree's
    rate = tree.rates[1] / tree.down[0]
    assert found == exactly(lambda size: base + streaming(size, rate, turnaround))
    size = 1 << 20
    assert found[size] == pytest.approx(tree.down[0] * wire(size) / tree.rates[1], rel=0.03)


def test_hosts_on_an_over_subscribed_tree_take_the_bisections_time(
    run: Run, tmp_path: Path
) -> None:
    """Recursive doubling: two steps within the leaves, one over the single uplink of each."""
    tree = FatTree((4, 2), (1, 1), (100, 100), (0.94e-6, 50e-9))
    size = 1 << 24
    options = ("--offload", "off", "--fallback", "recursive_doubling")
    found = durations(run, tree.write(tmp_path), 8, (size,), options)
    steps = 2 * size / tree.rates[0] + 4 * size / tree.rates[1]
    assert found[size] == pytest.approx(steps, rel=0.01)


# ---- Bytes by link ----


def bytes_on(result: Result) -> dict[str, float]:
    return {link["name"]: link["bytes"] for link in result.record["links"] if link["bytes"]}


def test_each_direction_of_each_tree_link_carries_the_message_once(
    run: Run, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    size = 1 << 16
    tree = replace(TWO_LEVELS, down=(4, 2))
    on = tree.write(tmp_path)

    def carried(*options: str) -> dict[str, float]:
        return bytes_on(run("latency.c", str(size), on=on, ranks=8, options=options))

    cables = [*(f"host-{host}" for host in range(8)), "level1-0--level2-0", "level1-1--level2-0"]
    links = [f"{cable}.{way}" for cable in cables for way in ("up", "down")]
    stream, message = carried(), carried("--offload", "message")
    assert stream == dict.fromkeys(links, wire(size))
    assert message == dict.fromkeys(links, size)

    # Links that the messages of one step cross: 2 to a neighbour in the leaf, 4 to the other leaf.
    doubling = carried("--offload", "off", "--fallback", "recursive_doubling")
    ring = carried("--offload", "off", "--fallback", "ring")
    assert sum(doubling.values()) == (2 * 8 * 2 + 8 * 4) * (size + ENVELOPE)
    assert sum(ring.values()) == 2 * 7 * (6 * 2 + 2 * 4) * (size / 8 + ENVELOPE)

    sums = {
        name: sum(found.values())
        for name, found in (("stream", stream), ("doubling", doubling), ("ring", ring))
    }
    record_property("bytes on all links", sums)
    assert sums["stream"] == 20 * wire(size)
    assert sums["stream"] < sums["ring"] < sums["doubling"]


def test_what_plain_switches_only_forward_is_charged_several_times(
    run: Run, tmp_path: Path
) -> None:
    size = 5000
    tree = replace(TWO_LEVELS, plain=(1,))
    found = bytes_on(run("latency.c", str(size), on=tree.write(tmp_path), ranks=16))
    for name, carried in found.items():
        assert carried == (4 if name.startswith("level1") else 1) * wire(size), name
    assert len(found) == 2 * (16 + 4)


# ---- Several communicators ----


def contention(
    run: Run, on: str, ranks: int, who: str, size: int, *more: str
) -> tuple[set[float], set[float], Result]:
    """Return the times of the Allreduces and of the transfer, and the result of the run."""
    result = run("contention.c", who, str(size), *more, on=on, ranks=ranks)
    found: dict[str, set[float]] = {"allreduce": set(), "transfer": set()}
    for line in result.lines:
        kind, time = line.split()
        found[kind].add(float(time))
    return found["allreduce"], found["transfer"], result


def only(times: set[float]) -> float:
    """Return the only distinct value, up to rounding errors."""
    least, most = min(times), max(times)
    assert most == pytest.approx(least, rel=EXACT)
    return most


def test_halves_in_their_own_leaves_do_not_meet(run: Run, tmp_path: Path) -> None:
    tree = replace(TWO_LEVELS, down=(4, 2))
    times, _, _ = contention(run, tree.write(tmp_path), 8, "halves", 65536)
    inner = replace(tree, down=(4,), up=(1,), gbps=(100,), latency=(0.94e-6,))
    assert only(times) == pytest.approx(inner.stream(65536), rel=EXACT)


def test_interleaved_communicators_take_different_spines(run: Run, tmp_path: Path) -> None:
    times, _, result = contention(run, TWO_LEVELS.write(tmp_path), 16, "parities", 65536)
    assert only(times) == pytest.approx(TWO_LEVELS.stream(65536), rel=EXACT)
    offloaded = {switch["name"]: switch["offloaded"] for switch in result.record["switches"]}
    assert {offloaded[f"level1-{leaf}"] for leaf in range(4)} == {3}
    # The first call, on all ranks, adds one to one of the two spines.
    assert sorted(offloaded[f"level2-{spine}"] for spine in range(2)) == [1, 2]


def test_interleaved_communicators_share_the_only_cable_up(run: Run, tmp_path: Path) -> None:
    size = 65536
    tree = replace(TWO_LEVELS, up=(1, 1))
    times, _, _ = contention(run, tree.write(tmp_path), 16, "parities", size)
    assert only(times) == pytest.approx(tree.base() + 2 * wire(size) / tree.rates[1], rel=EXACT)


def test_the_65th_communicator_gets_no_channel(run: Run, tmp_path: Path) -> None:
    """All communicators need the leaves; freeing them releases channels."""
    tree = replace(TWO_LEVELS, down=(2, 2))
    result = run("channels.c", "together", "66", on=tree.write(tmp_path), ranks=4)
    assert result.row(path="stream")["calls"] == CHANNELS + 1
    assert result.row(reason="no free channel")["calls"] == 2
    used = {switch["name"]: switch["channels_used_max"] for switch in result.record["switches"]}
    assert used["level1-0"] == used["level1-1"] == CHANNELS
    assert used["level2-0"] + used["level2-1"] == CHANNELS


def test_a_communicator_needs_a_channel_in_every_switch_of_its_tree(
    run: Run, tmp_path: Path
) -> None:
    scarce = '[[switches]]\nmatch = "level2-*"\nchannels = 1'
    tree = replace(TWO_LEVELS, down=(2, 2), rest=scarce)
    result = run("channels.c", "together", "5", on=tree.write(tmp_path), ranks=4)
    assert result.row(path="stream")["calls"] == 2 + 1  # one per spine, and one after all are freed
    assert result.row(reason="no free channel")["calls"] == 3


def test_each_of_many_communicators_gives_its_channels_back(run: Run, tmp_path: Path) -> None:
    tree = replace(TWO_LEVELS, down=(2, 2))
    result = run("channels.c", "one-by-one", "200", on=tree.write(tmp_path), ranks=4)
    assert result.row()["calls"] == 200
    assert result.row()["path"] == "stream"
    used = {switch["name"]: switch["channels_used_max"] for switch in result.record["switches"]}
    assert used["level1-0"] == 1


# ---- Competing traffic ----

# Ranks 0 and 1 are on different leaves, whose cables to the hosts can carry two flows at full rate.
CROSSED = """
[fabric]
name = "crossed"
[topology]
kind = "custom"
hosts = ["a0", "b0", "a1", "b1"]
switches = ["a", "b", "spine"]
[[topology.cables]]
between = ["a0", "a"]
[[topology.cables]]
between = ["b0", "b"]
[[topology.cables]]
between = ["a1", "a"]
[[topology.cables]]
between = ["b1", "b"]
[[topology.cables]]
between = ["a", "spine"]
[[topology.cables]]
between = ["b", "spine"]
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "400Gbps"
latency = "1us"
[[links]]
match = "*spine"
bandwidth = "100Gbps"
[switch]
preset = "tofino"
[[switches]]
match = "[ab]"
offload = []
"""


def test_a_transfer_over_the_spine_takes_its_share_of_the_spines_cables(
    run: Run, tmp_path: Path
) -> None:
    """Each cable of the spine carries two messages of the Allreduce and one of the transfer."""
    (tmp_path / "crossed.toml").write_text(CROSSED)
    on, size, rate = str(tmp_path / "crossed.toml"), 65536, 100e9 / 8
    base = OVERHEAD + 4e-6 + PROCESSING + 2 * FORWARDING
    alone, _, _ = contention(run, on, 4, "world", size)
    assert only(alone) == pytest.approx(base + 2 * wire(size) / rate, rel=EXACT)
    beside, transfer, _ = contention(run, on, 4, "world", size, str(1 << 24))
    assert only(beside) == pytest.approx(base + 3 * wire(size) / rate, rel=0.01)
    # Meanwhile, the transfer loses two thirds of the cable's bandwidth.
    quiet = 4e-6 + 3 * FORWARDING + (1 << 24) / rate
    assert max(transfer) - quiet == pytest.approx(2 * wire(size) / rate, rel=0.01)


# ---- SimGrid platforms ----


def on_platform(
    run: Run, program: Program, tmp_path: Path, platform: Path, ranks: int, offload: str
) -> Result:
    command = simulated.weft_command(
        program("latency.c"),
        ",".join(map(str, SIZES)),
        ranks=ranks,
        options=("--offload", offload, "--json", str(tmp_path / "record.json")),
    )
    at = command.index("--fabric")
    command[at : at + 2] = ["--platform", str(platform)]
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    return replace(result, record=simulated.read_record(tmp_path / "record.json"))


@pytest.mark.parametrize("tree", [TWO_LEVELS, THREE_LEVELS], ids=["two levels", "three levels"])
@pytest.mark.parametrize("offload", ["stream", "message"])
def test_an_exported_fabric_takes_the_same_time(
    run: Run, program: Program, tmp_path: Path, tree: FatTree, offload: str
) -> None:
    export(_core.load_fabric(tree.write(tmp_path)), tmp_path / "tree.xml")
    result = on_platform(run, program, tmp_path, tmp_path / "tree.xml", tree.hosts, offload)
    assert latencies(result) == exactly(tree.stream if offload == "stream" else tree.message)
    used = [switch["name"] for switch in result.record["switches"] if switch["offloaded"]]
    above = math.prod(tree.down)
    for level in range(tree.levels):  # at each level, the switches of one tree
        above //= tree.down[level]
        assert sum(name.startswith(f"level{level + 1}-") for name in used) == above


def smart(name: str) -> str:
    properties = {
        "processing_latency": PROCESSING,
        "max_ports": 64,
        "offload_overhead": OVERHEAD,
    }
    lines = (f'<prop id="{key}" value="{value}"/>' for key, value in properties.items())
    return f'<host id="{name}" speed="1f">{"".join(lines)}</host>'


# SimGrid's own factors describe TCP; without them the closed form of the star applies.
HEADER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
IDEAL = """<config>
<prop id="network/crosstraffic" value="no"/>
<prop id="network/TCP-gamma" value="0"/>
<prop id="network/weight-S" value="0"/>
<prop id="network/latency-factor" value="1"/>
<prop id="network/bandwidth-factor" value="1"/>
</config>
"""


def pods(leaves: int, hosts: int) -> str:
    """Return leaves with hosts below a spine, cable by cable; only routes describe the topology."""
    cables = []  # name, leaf, latency
    for leaf in range(leaves):
        cables += [(f"host-{leaf}-{host}", leaf, 0.94e-6) for host in range(hosts)]
        cables.append(("spine", leaf, 50e-9))
    points = [smart("spine"), *(smart(f"leaf-{leaf}") for leaf in range(leaves))]
    points += [f'<host id="{name}" speed="1Gf"/>' for name, _, _ in cables if name != "spine"]
    links = [
        f'<link id="{name}-{leaf}" bandwidth="100Gbps" latency="{latency}s"'
        ' sharing_policy="SPLITDUPLEX"/>'
        for name, leaf, latency in cables
    ]
    routes = [
        f'<route src="{name}" dst="leaf-{leaf}">'
        f'<link_ctn id="{name}-{leaf}" direction="UP"/></route>'
        for name, leaf, _ in cables
    ]
    zone = ['<zone id="pods" routing="Floyd">', *points, *links, *routes, "</zone>", "</platform>"]
    return HEADER + IDEAL + "\n".join(zone)


def test_a_platform_of_two_levels_written_by_hand(
    run: Run, program: Program, tmp_path: Path
) -> None:
    """The platform does not state the forwarding time of a switch."""
    (tmp_path / "pods.xml").write_text(pods(3, 4))
    result = on_platform(run, program, tmp_path, tmp_path / "pods.xml", 12, "stream")
    tree = replace(TWO_LEVELS, down=(4, 3))
    assert latencies(result) == exactly(lambda size: tree.stream(size, forwarding=0))
    assert all(switch["offloaded"] == len(SIZES) for switch in result.record["switches"])
    by_messages = on_platform(run, program, tmp_path, tmp_path / "pods.xml", 12, "message")
    assert latencies(by_messages) == exactly(lambda size: tree.message(size, forwarding=0))


CLUSTER = (
    HEADER
    + IDEAL
    + f"""<zone id="world" routing="Full">
<cluster id="cluster" prefix="host-" suffix="" radical="0-5" speed="1Gf" core="4"
         bw="100Gbps" lat="0.94us" sharing_policy="SPLITDUPLEX" router_id="router"/>
<zone id="smart" routing="Full">{smart("tofino")}</zone>
<link id="inside" bandwidth="100Tbps" latency="0s" sharing_policy="FATPIPE"/>
<zoneRoute src="cluster" dst="smart" gw_src="router" gw_dst="tofino">
<link_ctn id="inside"/>
</zoneRoute>
</zone>
</platform>
"""
)


def test_a_smart_switch_beside_a_cluster_of_simgrids(
    run: Run, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "cluster.xml").write_text(CLUSTER)
    star = FatTree((6,), (1,), (100,), (0.94e-6,))
    result = on_platform(run, program, tmp_path, tmp_path / "cluster.xml", 6, "stream")
    assert latencies(result) == exactly(star.stream)
    by_messages = on_platform(run, program, tmp_path, tmp_path / "cluster.xml", 6, "message")
    assert latencies(by_messages) == exactly(star.message)
