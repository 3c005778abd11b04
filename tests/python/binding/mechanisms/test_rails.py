# SPDX-License-Identifier: LGPL-2.1-only
"""Hosts with several cables, GPU nodes with several NICs: each rail gets its share of a call."""

import csv
import json
from pathlib import Path

import pytest

from tests.support import in_process
from tests.support.simulated import Run

EXACT = 1e-8  # the tables print nine digits; stream_test.cpp contains the closed form
HOSTS = """
[host]
speed = "10Gf"
cores = 8
loopback_bandwidth = "400GBps"
loopback_latency = "1us"
[nic]
offload_overhead = "1us"
message_gap = "0s"
[link]
bandwidth = "900Gbps"
latency = "0.5us"
"""
IDEAL = '[switch]\npreset = "ideal"\n'
LINK = 900e9 / 8
SIZE = 256 << 20


def custom(rails: int, order: int) -> str:
    """Return hosts with a cable to each of several switches, in a host-specific order."""
    hosts = [f"gpu-{host}" for host in range(8)]
    switches = [f"nv-{rail}" for rail in range(rails)]
    ends = [
        (host, switches[(rail + order * number) % rails])
        for number, host in enumerate(hosts)
        for rail in range(rails)
    ]
    cables = ", ".join(f"{{between = [{json.dumps(host)}, {json.dumps(to)}]}}" for host, to in ends)
    return (
        f'kind = "custom"\nhosts = {json.dumps(hosts)}\nswitches = {json.dumps(switches)}\n'
        f"cables = [{cables}]\n"
    )


def fabric(path: Path, topology: str, rest: str = IDEAL, nic: str = "") -> Path:
    hosts = HOSTS.replace("[nic]\n", f"[nic]\n{nic}")
    path.write_text(f'[fabric]\nname = "rails"\n[topology]\n{topology}{hosts}{rest}')
    return path


def bench(path: Path, modes: str, ranks: int = 8, size: int = SIZE) -> dict[str, float]:
    """Return the seconds of an Allreduce by mode."""
    out = path.with_suffix(".csv")
    words = (
        f"bench allreduce --fabric {path} -n {ranks} --type float --sizes {size} --modes {modes}"
    )
    result = in_process.run([*words.split(), "--iterations", "2", "--csv", str(out)])
    assert result[0] == 0, result
    with out.open(encoding="utf-8") as table:
        return {row["mode"]: float(row["latency_us"]) * 1e-6 for row in csv.DictReader(table)}


TOPOLOGIES = {
    "one": 'kind = "fat_tree"\ndown = [8]\nup = [1]\n',
    "fat tree": 'kind = "fat_tree"\ndown = [8]\nup = [4]\n',
    "custom": custom(4, 0),
    "custom in any order": custom(4, 1),
    "parallel cables": 'kind = "fat_tree"\ndown = [8]\nup = [1]\ncables = [4]\n',
}


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    folder = tmp_path_factory.mktemp("rails")
    return {
        name: bench(fabric(folder / f"{number}.toml", topology), "stream,ring")
        for number, (name, topology) in enumerate(TOPOLOGIES.items())
    }


@pytest.mark.parametrize("name", [name for name in TOPOLOGIES if name != "one"])
def test_four_rails_take_a_quarter(times: dict[str, dict[str, float]], name: str) -> None:
    one, four = times["one"], times[name]
    alone = SIZE / LINK
    assert one["stream"] - four["stream"] == pytest.approx(alone * 3 / 4, rel=EXACT)
    # A ring of 8 sends 7/8 of the vector twice.
    assert one["ring"] - four["ring"] == pytest.approx(alone * 14 / 8 * 3 / 4, rel=1e-3)
    assert four["stream"] < four["ring"] < one["stream"]


def test_a_ring_takes_the_direct_links_of_gpus_without_switches(tmp_path: Path) -> None:
    """Neighbours in the ring have a direct link; other pairs, which only a tree uses, have none."""
    names = json.dumps([f"gpu-{number}" for number in range(8)])
    pairs = [[f"gpu-{one}", f"gpu-{(one + 1) % 8}"] for one in range(8)]
    cables = ", ".join(f"{{between = {json.dumps(pair)}}}" for pair in pairs)
    topology = f'kind = "custom"\nhosts = {names}\ncables = [{cables}]\n'
    path = fabric(tmp_path / "ring.toml", topology, rest="")
    seconds = bench(path, "ring,recursive_doubling")
    assert seconds["ring"] == pytest.approx(SIZE / LINK * 14 / 8, rel=0.02)
    assert seconds["recursive_doubling"] > 2 * seconds["ring"]


def test_a_call_is_divided_among_as_many_cables_as_the_nic_says(tmp_path: Path) -> None:
    seconds = {
        stripes: bench(
            fabric(
                tmp_path / f"{stripes}.toml", TOPOLOGIES["fat tree"], nic=f"stripes = {stripes}\n"
            ),
            "stream",
        )["stream"]
        for stripes in (1, 2, 4)
    }
    assert seconds[1] - seconds[2] == pytest.approx(SIZE / LINK / 2, abs=EXACT * seconds[1])
    assert seconds[2] - seconds[4] == pytest.approx(SIZE / LINK / 4, abs=EXACT * seconds[1])


def test_results_over_rails_are_right(run: Run, tmp_path: Path) -> None:
    path = fabric(tmp_path / "rails.toml", TOPOLOGIES["custom in any order"])
    assert run("reductions.c", "1", "40", on=str(path), ranks=8, options=("-q",)).status == 0


NODES = """kind = "gpu_cluster"
nodes = 4
gpus = 4
"""
INSIDE = 'match = "node-*.gpu-*--*.nvswitch"'
NVLINK = 800e9
IN_NODE = f"""
[[links]]
{INSIDE}
bandwidth = "800GBps"
latency = "0.2us"
[switch]
preset = "ideal"
"""


def test_nodes_of_gpus_reduce_inside_and_then_on_every_rail(tmp_path: Path) -> None:
    """A call takes NVLink's time within a node, and a share of its data crosses each rail."""
    path = fabric(tmp_path / "nodes.toml", NODES, IN_NODE)
    seconds = {
        (ranks, size): bench(path, "stream", ranks, size)["stream"]
        for ranks in (4, 16)
        for size in (SIZE, 2 * SIZE)
    }
    assert seconds[4, 2 * SIZE] - seconds[4, SIZE] == pytest.approx(SIZE / NVLINK, rel=EXACT)
    rail = pytest.approx(SIZE / LINK / 4, abs=EXACT * seconds[16, 2 * SIZE])
    assert seconds[16, 2 * SIZE] - seconds[16, SIZE] == rail


def test_results_in_nodes_of_gpus_are_right(run: Run, tmp_path: Path) -> None:
    path = fabric(tmp_path / "nodes.toml", NODES, IN_NODE)
    assert run("reductions.c", "1", "40", on=str(path), ranks=16, options=("-q",)).status == 0


def test_a_multicast_is_divided_among_rails(run: Run, tmp_path: Path) -> None:
    """Each rail's links carry one tree's bytes, and the call takes a fraction of the time."""
    size, seconds = 4 << 20, {}
    for trees in ("", "[multicast]\ntrees = 1\n"):
        path = fabric(tmp_path / f"{len(trees)}.toml", NODES, IN_NODE + trees)
        options = ("--offload", "multicast")
        result = run("multicast.c", "bcast", str(size), on=str(path), ranks=16, options=options)
        seconds[trees] = max(float(line.split()[1]) for line in result.lines)
    one, rails = seconds["[multicast]\ntrees = 1\n"], seconds[""]
    # The root's NVLink is slower than four rails, and faster than one.
    assert one - rails == pytest.approx(size / LINK - size / min(NVLINK, 4 * LINK), rel=0.05)


PLANES = """kind = "gpu_cluster"
nodes = 2
gpus = 1
planes = {planes}
"""


def test_messages_take_the_ports_of_a_nic_in_all_planes(tmp_path: Path) -> None:
    """Two ports of half the rate are as fast as one port; a single one of them is slower."""
    rest = IDEAL + '[[links]]\nmatch = "node-*.nic-*--leaf-*"\nbandwidth = "{rate}Gbps"\n'
    seconds = {
        (planes, nic): bench(
            fabric(
                tmp_path / f"{planes}{len(nic)}.toml",
                PLANES.format(planes=planes),
                rest.format(rate=900 // planes),
                nic,
            ),
            "ring",
            ranks=2,
        )["ring"]
        for planes, nic in ((1, ""), (2, ""), (2, "stripes = 1\n"))
    }
    assert seconds[2, ""] == pytest.approx(seconds[1, ""], rel=EXACT)
    # A ring of two sends half of the vector twice.
    slower = seconds[2, "stripes = 1\n"] - seconds[1, ""]
    assert slower == pytest.approx(SIZE / LINK, rel=1e-3)
