# SPDX-License-Identifier: LGPL-2.1-only
"""`weft fabric new --from`: topology files of other tools as fabrics."""

import time
from pathlib import Path

import pytest

import weft
from tests.support.foreign_fabrics import cables, made
from tests.support.in_process import run as command

IB = """#
# Topology file: generated on Mon Sep  1 10:00:00 2026
#
vendid=0x2c9
devid=0xd2f2
switchguid=0xb8cef60300000001(b8cef60300000001)
Switch\t40 "S-b8cef60300000001"\t\t# "MF0;leaf-1:MQM8790/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0c42a10300000011"[1](c42a10300000011) \t\t# "node01 mlx5_0" lid 5 4xHDR
[2]\t"H-0c42a10300000012"[1](c42a10300000012) \t\t# "node01 mlx5_1" lid 6 2xHDR
[3]\t"H-0c42a10300000021"[1](c42a10300000021) \t\t# "node02 HCA-1" lid 7 4xHDR
[20]\t"S-b8cef60300000002"[1]\t\t# "MF0;spine-1:MQM9790/U1" lid 2 4xNDR
[21]\t"S-b8cef60300000002"[2]\t\t# "MF0;spine-1:MQM9790/U1" lid 2 4xNDR
[41]\t"H-b8cef6030000000a"[1](b8cef6030000000a) # "Mellanox Technologies Aggregation Node" 4xHDR

vendid=0x2c9
devid=0xd2f2
switchguid=0xb8cef60300000002(b8cef60300000002)
Switch\t64 "S-b8cef60300000002"\t\t# "MF0;spine-1:MQM9790/U1" enhanced port 0 lid 2 lmc 0
[1]\t"S-b8cef60300000001"[20]\t\t# "MF0;leaf-1:MQM8790/U1" lid 1 4xNDR
[2]\t"S-b8cef60300000001"[21]\t\t# "MF0;leaf-1:MQM8790/U1" lid 1 4xNDR

vendid=0x2c9
devid=0x101b
caguid=0xc42a10300000011
Ca\t1 "H-0c42a10300000011"\t\t# "node01 mlx5_0"
[1](c42a10300000011) \t"S-b8cef60300000001"[1]\t\t# lid 5 lmc 0 "MF0;leaf-1:MQM8790/U1" lid 1 4xHDR
"""
SLURM = """SwitchName=s0 Nodes=n[01-02]
SwitchName=s1 Nodes=n[03-04]
SwitchName=top Switches=s[0-1]
"""
SCONTROL = """SwitchName=top Level=1 LinkSpeed=1 Nodes=n[01-04] Switches=s[0,1]
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[01-02]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[03-04]
"""
SLURM_YAML = """---
- topology: other
  flat: true
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[0-1]
      - switch: s0
        nodes: n[01-02]
      - switch: s1
        nodes: n[03-04]
"""
SIMAI = """6 2 2 1 6 H100
3 4 5
0 3 2400Gbps 0.000025ms 0
1 3 2400Gbps 0.000025ms 0
2 4 2400Gbps 0.000025ms 0
0 5 400Gbps 0.0005ms 0
1 5 400Gbps 0.0005ms 0
2 5 400Gbps 0.0005ms 0
"""
HPCC = """3 1 2
2
0 2 100Gbps 1us 0
1 2 100Gbps 1us 0
"""
ASTRA = """# 2 x 3
topology: [ Ring, Switch ]
npus_count: [ 2, 3 ]
bandwidth: [ 100.0, 50.0 ]  # GB/s
latency: [ 500.0, 1000.0 ]  # ns
"""
ZOO = """graph [
  directed 1
  label "Small"
  node [ id 0 label "New York" Internal 1 ]
  node [ id 1 label "Washington, DC" Internal 1 ]
  node [ id 2 label "" hyperedge 1 ]
  edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 0 LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 2 ]
]
"""
CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<cluster id="c" prefix="node-" suffix="" radical="0-7" speed="1Gf" bw="12.5GBps" lat="2us"/>
</zone></platform>
"""
CLAB = """# A lab
name: two-leaves
mgmt:
  network: lab
topology:
  defaults:
    kind: nokia_srlinux
  kinds:
    nokia_srlinux:
      image: ghcr.io/nokia/srlinux:latest
    linux:
      image: alpine:3
  groups:
    clients:
      kind: linux
  nodes:
    leaf1:
      startup-config: |
        interface ethernet-1/1
        nodes:
    leaf2: # by default
    router:
      kind: linux
      image: frrouting/frr:latest
    client1:
      group: clients
      exec:
      - ip addr add 10.0.0.1/24 dev eth1
    client2:
      kind: linux
      env: {A: b}
  links:
    - endpoints: ["leaf1:e1-1", "router:eth1"]
    - endpoints: ["leaf2:e1-1", "router:eth2"]
    - endpoints: [client1:eth1, leaf1:e1-2]
    - type: veth
      endpoints:
        - node: client2
          interface: eth1
        - node: leaf2
          interface: e1-2
    - endpoints: ["leaf1:e1-9", "host:leaf1-e9"]
"""
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="type" attr.type="string" for="node" id="d0" />
  <key attr.name="bandwidth" attr.type="string" for="edge" id="d1" />
  <key attr.name="delay" attr.type="string" for="edge" id="d2" />
  <graph edgedefault="undirected">
    <node id="h1"><data key="d0">host</data></node>
    <node id="h2"><data key="d0">server</data></node>
    <node id="s1"><data key="d0">switch</data></node>
    <edge source="h1" target="s1"><data key="d1">25 Gbps</data><data key="d2">2us</data></edge>
    <edge source="s1" target="h2"><data key="d1">40Gbps</data><data key="d2">2us</data></edge>
  </graph>
</graphml>
"""
P4 = """{"hosts": {"h1": {"ip": "10.0.1.1"}, "h2": {}, "h3": {}}, "switches": {"s1": {}, "s2": {}},
 "links": [["h1", "s1-p1"], ["h2", "s2-p1", "0", 100], ["s1-p2", "s2-p2", "5ms", 0.5]]}"""
MINIEDIT = """{"application": {}, "hosts": [{"number": "1", "opts": {"hostname": "h1"}},
 {"number": "2", "opts": {"hostname": "h2"}}], "switches": [{"opts": {"hostname": "s1"}}],
 "links": [{"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "1ms"}},
           {"src": "h2", "dest": "s1", "opts": {}}]}"""


def test_ibnetdiscover(tmp_path: Path) -> None:
    """Covers rates by width and speed, several adapters per host, switch names, unique cables."""
    fabric = made(tmp_path, IB, latency="900ns")
    assert fabric.hosts == ("node01", "node02")
    assert fabric.switches == ("leaf-1", "spine-1")
    assert cables(fabric) == {
        "node01--leaf-1": (200, 900),
        "node01--leaf-1#2": (100, 900),
        "node02": (200, 900),
        "leaf-1--spine-1": (400, 25),
        "leaf-1--spine-1#2": (400, 25),
    }
    assert "1 aggregation node of switches" in fabric.note
    assert "2 x 200Gbps, 1 x 100Gbps, 2 x 400Gbps" in fabric.note
    assert "25ns between switches is a guess" in fabric.note
    fabric.check()


def test_ports_and_unmanaged_switches_of_ibnetdiscover(tmp_path: Path) -> None:
    """Covers `ibnetdiscover -p`, and descriptions shared by several switches."""
    text = """SW  1  1 0x01 4x EDR - CA 4 1 0x11 ( 'SwitchIB Mellanox' - 'a HCA-1' )
SW  1  2 0x01 4x EDR - SW 2 2 0x02 ( 'SwitchIB Mellanox' - 'SwitchIB Mellanox' )
CA  4  1 0x11 4x EDR - SW 1 1 0x01 ( 'a HCA-1' - 'SwitchIB Mellanox' )
CA  5  1 0x12 4x EDR - SW 2 1 0x02 ( 'b HCA-1' - 'SwitchIB Mellanox' )
"""
    fabric = made(tmp_path, text)
    assert fabric.hosts == ("a", "b")
    assert fabric.switches == ("SwitchIB Mellanox S-01", "SwitchIB Mellanox S-02")
    assert {rate for rate, _ in cables(fabric).values()} == {100}


@pytest.mark.parametrize("text", [SLURM, SCONTROL, SLURM_YAML], ids=["conf", "scontrol", "yaml"])
def test_slurm(tmp_path: Path, text: str) -> None:
    fabric = made(tmp_path, text, bandwidth="50Gbps")
    assert fabric.hosts == ("n01", "n02", "n03", "n04")
    assert sorted(fabric.switches) == ["s0", "s1", "top"]
    assert list(cables(fabric)) and {rate for rate, _ in cables(fabric).values()} == {50}
    assert "s0--top" in cables(fabric)
    assert "it states no rates" in fabric.note


def test_simai_and_ns3(tmp_path: Path) -> None:
    fabric = made(tmp_path, SIMAI)
    assert fabric.hosts == ("gpu-0", "gpu-1", "gpu-2")
    assert fabric.switches[:3] == ("nvswitch-3", "nvswitch-4", "switch-5")
    assert cables(fabric)["gpu-0"] == (2800, 0)
    assert cables(fabric)["gpu-0.router--nvswitch-3"] == (2400, 25)
    assert cables(fabric)["gpu-2.router--switch-5"] == (400, 500)
    assert "behind a router each, since hosts forward nothing" in fabric.note
    fabric.check()
    fabric = made(tmp_path, HPCC)
    assert (fabric.hosts, fabric.switches) == (("host-0", "host-1"), ("switch-2",))
    assert set(cables(fabric).values()) == {(100, 1000)}
    leaves = HPCC.replace("3 1 2", "3 1 1 2").replace("100Gbps", "1e11")  # PowerTCP's form
    assert cables(made(tmp_path, leaves)) == cables(fabric)
    explained = f"{HPCC}\nFirst line: total node #, switch node #, link #\nsrc0 dst0 rate delay\n"
    assert cables(made(tmp_path, explained)) == cables(fabric)
    (tmp_path / "windows.txt").write_bytes(HPCC.replace("\n", "\r\n").encode())
    assert weft.fabric_from(tmp_path / "windows.txt", tmp_path / "w.toml").hosts == fabric.hosts
    cut = made(tmp_path, "\n".join(SIMAI.splitlines()[:4]) + "\n")
    assert (cut.hosts, cut.switches) == (("gpu-0", "gpu-1"), ("nvswitch-3",))
    assert "2 of the 6 links that line 1 states; 1 host without a cable left out" in cut.note


def test_astra_sim(tmp_path: Path) -> None:
    fabric = made(tmp_path, ASTRA)
    assert len(fabric.hosts) == 6
    found = cables(fabric)
    assert found["npu-0"] == (1200, 0)  # sum of both dimensions' rates
    assert found["router-0--router-1"] == (800, 500)
    assert found["router-0--switch-1-0"] == (400, 1000)
    assert found["router-4--switch-1-0"] == (400, 1000)
    assert len(found) == 6 + 3 + 6
    star = made(
        tmp_path,
        ASTRA.replace("Ring, ", "")
        .replace("2, 3", "8")
        .replace("100.0, ", "")
        .replace("500.0, ", ""),
    )
    assert (len(star.hosts), star.switches) == (8, ("switch-0-0",))


def test_topology_zoo(tmp_path: Path) -> None:
    """Each node becomes a switch with a host. Both directions of an edge are one cable."""
    fabric = made(tmp_path, ZOO, bandwidth="1Gbps")
    assert fabric.hosts == ("New York", "Washington DC")
    assert fabric.switches == ("New York.switch", "Washington DC.switch", "2.switch")
    found = cables(fabric)
    assert found["New York.switch--Washington DC.switch"][0] == 10
    assert found["Washington DC.switch--2.switch"][0] == 1
    assert "each node is a switch with a host" in fabric.note


def test_graphml(tmp_path: Path) -> None:
    fabric = made(tmp_path, GRAPHML)
    assert (fabric.hosts, fabric.switches) == (("h1", "h2"), ("s1",))
    assert cables(fabric) == {"h1": (25, 2000), "h2": (40, 2000)}


def test_containerlab(tmp_path: Path) -> None:
    """Covers group and default kinds, routing software, links to the machine that runs the lab."""
    fabric = made(tmp_path, CLAB, "lab.clab.yml", bandwidth="25Gbps")
    assert fabric.hosts == ("client1", "client2")
    assert fabric.switches == ("leaf1", "leaf2", "router")
    found = cables(fabric)
    assert set(found) == {"client1", "client2", "leaf1--router", "leaf2--router"}
    assert {rate for rate, _ in found.values()} == {25}
    assert "it states no rates" in fabric.note
    assert "1 link to the machine that runs the lab left out" in fabric.note


def test_a_lab_of_switches_alone_has_a_host_at_each(tmp_path: Path) -> None:
    lab = "topology:\n  defaults:\n    kind: nokia_srlinux\n  nodes:\n    a:\n    b:\n    c:\n"
    lab += "  links:\n"
    lab += '    - endpoints: ["a:e1", "b:e1"]\n    - endpoints: ["b:e2", "c:e1"]\n'
    fabric = made(tmp_path, lab, "lab.clab.yml")
    assert (fabric.hosts, fabric.switches[0]) == (("a", "b", "c"), "a.switch")
    assert set(cables(fabric)) == {"a", "b", "c", "a.switch--b.switch", "b.switch--c.switch"}
    assert "it tells no hosts from switches: each node is a switch with a host" in fabric.note


@pytest.mark.parametrize(
    ("text", "hosts", "said"),
    [
        (
            SLURM.replace("s[0-1]", "s1") + "SwitchName=s2 Nodes=n[05-07]\n",
            ("n05", "n06", "n07"),
            "its 3 parts with hosts are not connected: the largest is read, of 3 hosts (n05), and"
            " 4 hosts left out",
        ),
        (
            ZOO.replace("edge [ source 1 target 2 ]", 'node [ id 3 label "Oslo" ]'),
            ("New York", "Washington DC"),
            "its 2 parts with hosts are not connected: the largest is read, of 2 hosts",
        ),
    ],
)
def test_of_parts_that_are_not_connected_the_largest_is_read(
    tmp_path: Path, text: str, hosts: tuple[str, ...], said: str
) -> None:
    fabric = made(tmp_path, text)
    assert fabric.hosts == hosts
    assert said in fabric.note
    fabric.check()


@pytest.mark.parametrize(
    ("attributes", "kind", "hosts", "switches"),
    [
        ('bb_bw="2GBps" bb_lat="1us"', "star", 8, 1),
        ('topology="FAT_TREE" topo_parameters="2;4,2;1,2;1,2"', "fat_tree", 8, 4),
        ('topology="TORUS" topo_parameters="2,4"', "torus", 8, 8),
        ('topology="DRAGONFLY" topo_parameters="2,1;1,1;2,1;2"', "dragonfly", 8, 4),
    ],
)
def test_clusters_of_simgrid(
    tmp_path: Path, attributes: str, kind: str, hosts: int, switches: int
) -> None:
    fabric = made(tmp_path, CLUSTER.replace("/>", f" {attributes}/>"), "platform.xml")
    assert (fabric.topology, len(fabric.hosts), len(fabric.switches)) == (kind, hosts, switches)
    assert set(cables(fabric).values()) == {(100, 2000)}
    assert "platform.xml is a SimGrid platform; names, speed and cores of its hosts" in fabric.note
    fabric.check()


def test_p4_and_mininet(tmp_path: Path) -> None:
    fabric = made(tmp_path, P4, "topology.json")
    assert fabric.hosts == ("h1", "h2")
    assert "1 host without a cable left out (h3)" in fabric.note
    assert cables(fabric)["s1--s2"] == (0.0005, 5e6)
    assert cables(fabric)["h2"][0] == 0.1
    fabric = made(tmp_path, MINIEDIT, "net.mn")
    assert cables(fabric)["h1"] == (0.01, 1e6)


def test_switches_have_as_many_ports_as_the_file_says(tmp_path: Path) -> None:
    text = "SwitchName=s0 Nodes=n[1-70]\nSwitchName=s1 Nodes=m1\nSwitchName=t Switches=s[0-1]\n"
    fabric = made(tmp_path, text, switch_preset="tofino")
    assert len(fabric.hosts) == 71
    assert [one["max_ports"] for one in fabric.core.switches] == [71, 71, 71]
    assert "switches of 71 ports, more than tofino has" in fabric.note


def test_a_thousand_hosts_take_a_second_or_two(tmp_path: Path) -> None:
    lines = ["switchguid=0x0"]
    for leaf in range(50):
        lines.append(f'Switch 40 "S-{leaf:016x}" # "MF0;leaf-{leaf}:X/U1" base port 0')
        for port in range(20):
            host = 20 * leaf + port
            lines.append(f'[{port}] "H-{host + 4096:016x}"[1](1) # "n{host} mlx5_0" lid 5 4xHDR')
        for spine in range(20):
            lines.append(
                f'[{spine + 20}] "S-{spine + 64:016x}"[{leaf}] # "MF0;spine-{spine}:X/U1" 4xNDR'
            )
    before = time.process_time()
    fabric = made(tmp_path, "\n".join(lines))
    assert time.process_time() - before < 4
    assert (len(fabric.hosts), len(fabric.switches)) == (1000, 70)
    assert cables(fabric)["leaf-49--spine-19"] == (400, 25)
    assert fabric.file.read_text().count("[[links]]\n") == 1


def test_the_command_is_the_call(tmp_path: Path) -> None:
    fabric = made(tmp_path, IB)
    out = tmp_path / "theirs.toml"
    source = str(tmp_path / "topology.txt")
    status, _, said = command(["fabric", "new", "--from", source, "-o", str(out)])
    assert status == 0
    assert "theirs.toml: 2 hosts, 2 switches, 5 cables" in said
    assert "an output of ibnetdiscover; rates from it" in said
    ours = fabric.file.read_text().replace('name = "out"', 'name = "theirs"')
    assert out.read_text() == ours


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hello\n", "is no topology that weft knows; it reads those of SimGrid, ib"),
        (SLURM.replace("s[0-1]", "s[0-2]"), "top has the child s2, which no line describes"),
        (SLURM.replace("n[03-04]", "n[02-04]"), "n02 is on s0 and on s1"),
        ("SwitchName=s0 Nodes=n[2-1]\n", "line 1: the range 2-1 does not increase"),
        ("BlockName=b0 Nodes=n[1-2]\n", "topology/block, which states no switches"),
        (
            SLURM_YAML.replace("tree:", "block:").replace("flat", "x"),
            "it describes topology/block; weft reads",
        ),
        (SIMAI.replace("0 3 2400Gbps", "9 3 2400Gbps"), "line 3: found node 9; the nodes are"),
        (SIMAI.replace("0 5 400Gbps", "0 5 400x"), "line 6: found 400x 0.0005ms; write 100Gbps"),
        (ASTRA.replace("Ring", "Torus"), "topology: found Torus; allowed are Ring, Fully"),
        (ASTRA.replace("latency", "delay"), "latency is missing; ASTRA-sim's file has"),
        (ZOO.replace("target 2", "target 7"), "an edge names node 7, which does not exist"),
        (ZOO[:-3], "a bracket is not closed: is the file cut off?"),
        (GRAPHML.replace("</graph>", ""), "it is not valid XML"),
        (P4.replace('"s1-p1"', '"s9-p1"'), "a link names s9, which is neither a host nor"),
        (
            CLAB.replace("kind: nokia_srlinux", "x: y"),
            "the node leaf1 has no kind, and neither its",
        ),
        (CLAB.replace("leaf1:e1-2", "leaf9:e1-2"), "a link names leaf9, which is not among the"),
        ("from mininet.topo import Topo\n", "a Python program of Mininet, whose topology exists"),
        (
            CLUSTER.replace("/>", ' topology="TORUS"/>'),
            "found topology 'TORUS' with topo_parameters",
        ),
        (CLUSTER.replace("0-7", "a"), "found radical 'a'; write numbers, such as 0-15"),
        (CLUSTER.replace("2us", "2"), "found bw '12.5GBps' and lat '2'; write them with units"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(weft.WeftError, match=r"^from_file: .*topology\.txt") as error:
        made(tmp_path, text)
    assert problem in str(error.value)


@pytest.mark.parametrize("text", [IB, SLURM, SLURM_YAML, SIMAI, ASTRA, ZOO, GRAPHML, P4, CLAB])
def test_commands_that_take_fabrics_name_the_kind(tmp_path: Path, text: str) -> None:
    for name in ("topology.txt", "topology.toml"):
        file = tmp_path / name
        file.write_text(text)
        status, _, said = command(["fabric", "check", str(file)])
        assert status == 2
        assert "no fabric file; `weft fabric new --from" in said
        with pytest.raises(weft.WeftError, match="no fabric file; `weft fabric new --from"):
            weft.Fabric(file)
