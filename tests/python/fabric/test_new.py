# SPDX-License-Identifier: LGPL-2.1-only
"""New fabric files: the registry of topologies, and user errors."""

import os
import re
import tomllib
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fabrics import HOSTS, SMALL, make, template
from weft import _core
from weft.base.errors import WeftError
from weft.cli.fabric.new import new
from weft.fabric.template import (
    DEFAULT_PRESETS,
    DEVICES,
    NICS,
    Template,
    option_name,
    render,
    write,
)

KINDS = [row["kind"] for row in _core.topologies()]
# GPU clusters have cables of several rates, which come from one file.
OF_ONE_RATE = [kind for kind in KINDS if kind != "gpu_cluster"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    """Run `weft fabric new` and return its output; errors raise exceptions."""
    result = CliRunner().invoke(new, arguments, standalone_mode=False, catch_exceptions=False)
    if result.exception is not None:
        raise result.exception
    return result.output


def refused(*arguments: str) -> str:
    with pytest.raises((WeftError, _core.UserError, click.ClickException)) as error:
        run(*arguments)
    failure = error.value
    return failure.format_message() if isinstance(failure, click.ClickException) else str(failure)


# ---- Files ----


def test_there_is_a_sample_of_every_topology() -> None:
    assert set(SMALL) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_is_the_fabric_that_was_asked_for(tmp_path: Path, kind: str) -> None:
    fabric = _core.load_fabric(str(make(tmp_path, kind)))
    assert (fabric.name, fabric.topology, len(fabric.hosts)) == (kind, kind, HOSTS)
    assert [fabric.host["preset"], fabric.nic["preset"]] == ["xeon-8360", "connectx-6-dx"]
    assert {switch["preset"] for switch in fabric.switches} == {"tofino"}
    assert {cable["bandwidth_Bps"] for cable in fabric.cables()} == {12.5e9}
    fabric.check()


@pytest.mark.parametrize("kind", KINDS)
def test_comments_say_what_each_key_means(kind: str) -> None:
    text = render(template(kind)).casefold()
    for row in _core.topologies():
        if row["kind"] == kind:
            for option in row["options"]:
                assert option["meaning"].casefold().rstrip(".") in text


@pytest.mark.parametrize("kind", OF_ONE_RATE)
def test_all_options_reach_the_file(here: Path, kind: str) -> None:
    options = [
        part
        for key, values in SMALL[kind].items()
        for value in values
        for part in (option_name(key), value)
    ]
    said = run(
        *(kind, *options, "-o", "x.toml", "--name", "other", "--bandwidth", "40Gbps"),
        *("--latency", "2us", "--switch-preset", "l2"),
    )
    fabric = _core.load_fabric("x.toml")
    assert said.startswith(f"x.toml: {HOSTS} hosts, ")
    assert fabric.name == "other"
    assert {cable["bandwidth_Bps"] for cable in fabric.cables()} == {5e9}
    assert {cable["latency_s"] for cable in fabric.cables() if cable["lower"] < HOSTS} == {2e-6}
    assert {switch["preset"] for switch in fabric.switches} == {"l2"}


def test_the_name_is_that_of_the_file(here: Path) -> None:
    run("star", "--hosts", "3", "-o", "my-star.toml")
    assert _core.load_fabric("my-star.toml").name == "my-star"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.mktemp("names") / "x.toml"
    write(Template(topology="star", options={"hosts": ["2"]}, name=name), path)
    assert _core.load_fabric(str(path)).name == name


def test_a_file_is_replaced_only_when_that_is_asked_for(here: Path) -> None:
    Path("x.toml").write_text("mine")
    message = "-o: x.toml exists; choose another name, or replace it with --force"
    assert refused("star", "--hosts", "4", "-o", "x.toml") == message
    assert Path("x.toml").read_text() == "mine"
    run("star", "--hosts", "4", "-o", "x.toml", "--force")
    assert len(_core.load_fabric("x.toml").hosts) == 4


def test_default_presets_exist() -> None:
    for device in DEVICES:
        assert DEFAULT_PRESETS[device] in _core.list_presets(device)


# ---- Defaults ----


def inner_and_outer(fabric: _core.Fabric) -> tuple[set[float], set[float]]:
    """Return the latencies of cables between switches, and of host cables."""
    hosts = len(fabric.hosts)
    latency = [
        (cable["lower"] >= hosts, round(cable["latency_s"], 12)) for cable in fabric.cables()
    ]
    inner = {seconds for between, seconds in latency if between}
    return inner, {seconds for between, seconds in latency if not between}


def command_of(kind: str) -> list[str]:
    pairs = [(option_name(key), value) for key, values in SMALL[kind].items() for value in values]
    return [kind, *(part for pair in pairs for part in pair), "-o", "x.toml"]


@pytest.mark.parametrize("kind", OF_ONE_RATE)
def test_cables_between_switches_have_no_host_in_them(here: Path, kind: str) -> None:
    """Regression: they silently included a host's 0.94 us."""
    said = run(*command_of(kind))
    inner, outer = inner_and_outer(_core.load_fabric("x.toml"))
    assert outer == {0.94e-6}
    assert inner == (set() if kind == "star" else {25e-9})
    guessed = "25ns between switches is a guess (--switch-latency)"
    assert (guessed in said) == (kind != "star")
    assert ("25ns is a guess" in Path("x.toml").read_text()) == (kind != "star")


@pytest.mark.parametrize("kind", [kind for kind in OF_ONE_RATE if kind != "star"])
def test_that_latency_can_be_given(here: Path, kind: str) -> None:
    said = run(*command_of(kind), "--switch-latency", "70ns")
    assert inner_and_outer(_core.load_fabric("x.toml")) == ({70e-9}, {0.94e-6})
    assert "guess" not in said


def test_a_cluster_of_gpus_is_like_one_of_them(here: Path) -> None:
    said = run(*command_of("gpu_cluster"))
    assert "taken from superpod-h100-32: network rail-optimised, all tables but the topo" in said
    text = Path("x.toml").read_text()
    assert "# 18 NVLinks of 25 GB/s each way" in text
    assert text.count("[topology]") == text.count("[fabric]") == 1
    rates = {cable["bandwidth_Bps"] for cable in _core.load_fabric("x.toml").cables()}
    assert rates == {450e9, 63e9, 50e9}
    run(*command_of("gpu_cluster")[:-1], "y.toml", "--like", "x.toml")
    assert Path("y.toml").read_text().count("[[links]]") == text.count("[[links]]")


@pytest.mark.parametrize(
    ("words", "hosts", "cables"),
    [
        # A scalable unit in the file: 32 nodes, 8 leaves, 4 spines.
        ("", 256, {900e9: 256, 63e9: 512, 50e9: 256 + 32}),
        ("--nodes 64 --spines 8", 512, {900e9: 512, 63e9: 1024, 50e9: 512 + 128}),
        ("--nodes 4 --network rail-only", 32, {900e9: 32, 63e9: 64, 50e9: 32}),
        ("--nodes 2 --gpus 4 --network top-of-rack", 8, {900e9: 8, 63e9: 16, 50e9: 8}),
    ],
)
def test_what_a_cluster_of_gpus_does_not_say_is_as_in_its_model(
    here: Path, words: str, hosts: int, cables: dict[float, int]
) -> None:
    run("gpu_cluster", *words.split(), "--like", "superpod-b200-32", "-o", "x.toml")
    fabric = _core.load_fabric("x.toml")
    assert len(fabric.hosts) == hosts
    assert Counter(cable["bandwidth_Bps"] for cable in fabric.cables()) == cables


@pytest.mark.parametrize(
    ("like", "words", "nouns"),
    [
        ("gb200-nvl72", "--nodes 4", ["NVSwitch", "NIC", "switch"]),
        ("hpn-128", "--nodes 8", ["NVSwitch", "NIC", "switch"]),
        ("alps-32", "--nodes 64", ["PCIe root", "NIC", "switch"]),
        ("dgx-1", "--nodes 2", ["PCIe root", "NIC", "switch"]),
    ],
)
def test_machines_are_made_like_shipped_ones(
    here: Path, like: str, words: str, nouns: list[str]
) -> None:
    run("gpu_cluster", *words.split(), "--like", like, "-o", "x.toml")
    fabric = _core.load_fabric("x.toml")
    assert [noun for noun, _ in fabric.switch_counts] == nouns
    assert "routes, every pair of hosts" in fabric.check()
    model = _core.load_fabric(like)
    nodes = int(words.split()[1])
    of_model = tomllib.loads(Path(model.file).read_text("utf-8"))["topology"]["nodes"]
    assert len(fabric.hosts) == nodes * len(model.hosts) / of_model


def test_graphs_of_other_nodes_are_left_out(here: Path) -> None:
    run("gpu_cluster", "--nodes", "2", "-o", "same.toml")
    said = run("gpu_cluster", "--nodes", "2", "--gpus", "4", "-o", "other.toml")
    assert "all tables but the topology and [nccl], whose graphs are of other nodes" in said
    assert ["[nccl]" in Path(name).read_text() for name in ("same.toml", "other.toml")] == [
        True,
        False,
    ]


def test_tables_of_a_machine_that_do_not_fit_are_named(here: Path) -> None:
    told = refused("gpu_cluster", "--nodes", "2", "--inside", "all-to-all", "-o", "x.toml")
    pattern = "node-*.nvswitch"
    assert told.startswith(f'--like: [switches] match: found "{pattern}", which matches no switch')


def test_a_torus_is_like_one_of_accelerators(here: Path) -> None:
    said = run("torus", "--dimensions", "4,4,8", "--like", "tpu-v4-64", "-o", "x.toml")
    assert "taken from tpu-v4-64: all tables but the topology (--like)" in said
    fabric = _core.load_fabric("x.toml")
    assert (len(fabric.hosts), fabric.host["speed_flops"]) == (128, 275e12)
    assert {cable["bandwidth_Bps"] for cable in fabric.cables()} == {300e9, 50e9}
    told = refused(
        *("torus", "--dimensions", "4,4", "--like", "tpu-v4-64", "--latency", "1us", "-o", "y.toml")
    )
    assert told.startswith("--latency: a torus takes all tables but its topology from tpu-v4-64")


def test_a_cluster_of_gpus_takes_no_single_rate(here: Path) -> None:
    with pytest.raises(WeftError, match="--bandwidth: a cluster of GPUs takes all tables but"):
        run(*command_of("gpu_cluster"), "--bandwidth", "40Gbps")
    run(*command_of("gpu_cluster"), "--bandwidth", "40Gbps", "--like", "tofino-4")
    rates = {cable["bandwidth_Bps"] for cable in _core.load_fabric("x.toml").cables()}
    assert rates == {5e9}


def test_cables_of_odd_names_are_found(here: Path) -> None:
    cables = ["a,x[1]", "b,x*", "x[1],x*:count=2", "x*,s"]
    options = [part for cable in cables for part in ("--cables", cable)]
    run("custom", "--hosts", "a,b", "--switches", "x[1],x*,s", *options, "-o", "x.toml")
    assert inner_and_outer(_core.load_fabric("x.toml")) == ({25e-9}, {0.94e-6})


@pytest.mark.parametrize(
    ("switch", "like", "nic"),
    [
        ("tofino", "tofino-4", "connectx-6-dx"),
        ("sharp", "hdr100-8", "connectx-6-hdr100"),
        ("sx6036", "fdr-188", "connectx-3"),
        ("l2", "tofino-4", "connectx-6-dx"),
    ],
)
def test_what_is_not_given_is_of_one_measured_fabric_and_said(
    here: Path, switch: str, like: str, nic: str
) -> None:
    """Regression: SHARP switches silently had the overhead of a Tofino's hosts."""
    said = run("star", "--hosts", "8", "--switch-preset", switch, "-o", "x.toml")
    fabric, source = _core.load_fabric("x.toml"), _core.load_fabric(like)
    assert fabric.nic["preset"] == nic
    assert fabric.nic["offload_overhead_s"] == source.nic["offload_overhead_s"]
    assert fabric.host["preset"] == "xeon-2-socket", "the hosts are no switch's"
    assert fabric.point_to_point == source.point_to_point
    assert fabric.cables()[0]["latency_s"] == source.cables()[0]["latency_s"]
    note = next(line for line in said.splitlines() if line.startswith("weft: x.toml: "))
    hosts = "taken from the hosts of six clusters: xeon-2-socket (--host-preset)"
    for words in (hosts, f"taken from {like}", f"{nic} (--nic-preset)", "--latency", "--messages"):
        assert words in note
    text = Path("x.toml").read_text()
    assert text.count(f"# As in {like}") == 3
    assert "# Fitted to the hosts of six clusters" in text
    assert ("and not l2" in text) == (switch == "l2")


@pytest.mark.parametrize("hosts", ["tofino-4", "hdr100-8", "fdr-188"])
def test_fabrics_of_all_vendors_can_have_the_same_hosts(here: Path, hosts: str) -> None:
    """Regression: another switch preset also changed the hosts, and so their performance."""
    model = _core.load_fabric(hosts)
    nics = {}
    for switch in _core.list_presets("switch"):
        command = ["star", "--hosts", "4", "--switch-preset", switch, "-o", f"{switch}.toml"]
        said = run(*command, "--hosts-like", hosts)
        fabric, alone = _core.load_fabric(f"{switch}.toml"), run(*command, "--force")
        assert (fabric.host, fabric.point_to_point) == (model.host, model.point_to_point)
        assert fabric.mpi is not None and model.mpi is not None
        # The file contains the preset's values, not its name.
        assert {**fabric.mpi, "preset": ""} == {**model.mpi, "preset": ""}
        cable, own = fabric.cables()[0], model.cables()[0]
        assert cable["bandwidth_Bps"] == pytest.approx(own["bandwidth_Bps"], rel=1e-4)
        assert cable["latency_s"] == own["latency_s"]
        assert f"{fabric.host['preset']} (--host-preset)" in said.partition(f"from {hosts}: ")[2]
        assert "other fabrics" not in said
        like = "hdr100-8" if switch.startswith("sharp") else "tofino-4"
        like = "fdr-188" if switch == "sx6036" else like
        nics[switch] = fabric.nic["preset"]
        nic = NICS.get(switch, _core.load_fabric(like).nic["preset"])
        assert nics[switch] == nic, "offloading is the switch's"
        assert "other switch presets take cables and messages from other fabrics" in alone
        assert f"--hosts-like {like}" in alone
    assert len(set(nics.values())) == 5


@pytest.mark.parametrize("switch", ["sharp", "sharp-hdr200"])
def test_the_library_of_offloaded_calls_is_said(here: Path, switch: str) -> None:
    """Regression: SHARP silently had UCC's overhead, which HCOLL's exceeds by 5 us a call."""
    command = ("star", "--hosts", "4", "--switch-preset", switch, "-o", "x.toml", "--force")
    said = run(*command)
    nic = _core.load_fabric("x.toml").nic
    hcoll = f"{nic['preset']}-hcoll"
    assert f"a call of MPI through HCOLL takes about 5 us more: --nic-preset {hcoll}" in said
    assert f"HCOLL takes about 5 us more: --nic-preset {hcoll}.\n" in Path("x.toml").read_text()
    assert "HCOLL" not in run(*command, "--nic-preset", hcoll)
    other = _core.load_fabric("x.toml").nic
    assert other["offload_overhead_s"] - nic["offload_overhead_s"] == pytest.approx(4.95e-6)
    for one, its in zip(nic["calls"], other["calls"], strict=True):
        assert its["offload_overhead_s"] - one["offload_overhead_s"] == pytest.approx(4.95e-6)
        assert its["offload_copy_rate_Bps"] == one["offload_copy_rate_Bps"]


@pytest.mark.parametrize("switch", ["tofino", "l2", "sharp-ndr"])
def test_nics_without_another_library_say_none(here: Path, switch: str) -> None:
    command = ("star", "--hosts", "4", "--switch-preset", switch, "-o", "x.toml")
    assert "HCOLL" not in run(*command)


@pytest.mark.parametrize(
    ("words", "gigabits", "origin"),
    [
        ("--switch-preset sharp-hdr200", 200, "the ports of sharp-hdr200: 200Gbps (--bandwidth)"),
        ("--switch-preset sharp-ndr", 400, "the ports of sharp-ndr: 400Gbps (--bandwidth)"),
        ("--switch-preset slingshot", 200, "the ports of slingshot: 200Gbps (--bandwidth)"),
        ("--switch-preset l2 --nic-preset connectx-7-ndr", 400, "the ports of connectx-7-ndr: "),
        (
            "--switch-preset sharp --nic-preset connectx-6-hdr200",
            200,
            "the ports of sharp: 200Gbps (--bandwidth)",
        ),
        # Measured together: QM8700 with hosts of HDR100.
        ("--switch-preset sharp", 100, "100Gbps (--bandwidth)"),
        ("--switch-preset l2", 100, "100Gbps (--bandwidth)"),
        ("", 100, "100Gbps (--bandwidth)"),
        (
            "--switch-preset sharp-hdr200 --hosts-like hdr100-8",
            100,
            "100Gbps (--bandwidth; a port of sharp-hdr200 has 200Gbps)",
        ),
    ],
)
def test_cables_have_the_rate_of_their_ports(
    here: Path, words: str, gigabits: float, origin: str
) -> None:
    """Regression: cables of HDR switches silently had 100 Gb/s."""
    said = run("star", "--hosts", "4", *words.split(), "-o", "x.toml")
    rates = {cable["bandwidth_Bps"] for cable in _core.load_fabric("x.toml").cables()}
    assert rates == {gigabits * 1e9 / 8}
    assert origin in said
    assert ("# That of a port of" in Path("x.toml").read_text()) == ("the ports of" in said)


def test_only_hosts_that_came_with_a_switch_are_warned_of(here: Path) -> None:
    given = ["--bandwidth", "1Gbps", "--latency", "1us"]
    command = ["star", "--hosts", "4", "--messages", "none", "-o", "x.toml", "--force"]
    assert "other fabrics" not in run(*command, *given, "--switch-preset", "sharp")
    assert "other fabrics" not in run(*command, "--like", "hdr100-8", "--switch-preset", "sharp")
    assert "other fabrics" not in run(*command)
    assert "other fabrics" in run(*command, "--switch-preset", "sharp")
    unnamed = Path("unnamed.toml")
    own = 'speed = "1Gf"\ncores = 4\nloopback_bandwidth = "1GBps"\nloopback_latency = "1us"'
    unnamed.write_text(Path("x.toml").read_text().replace('preset = "xeon-2-socket"', own))
    found = refused(*command, "--hosts-like", "unnamed.toml")
    assert found.startswith("--hosts-like: x names no host preset; give --host-preset")


def test_what_is_given_is_not_said(here: Path) -> None:
    said = run(
        *("star", "--hosts", "8", "-o", "x.toml", "--switch-preset", "tofino"),
        *("--host-preset", "xeon-8360", "--nic-preset", "connectx-6-dx", "--messages", "none"),
        *("--bandwidth", "100Gbps", "--latency", "1us"),
    )
    assert said == "x.toml: 8 hosts, 1 switch, 8 cables\n"
    assert _core.load_fabric("x.toml").point_to_point == [
        {"from_bytes": 0.0, "latency_factor": 1.0, "bandwidth_factor": 1.0}
    ]
    assert "As in" not in Path("x.toml").read_text()


def test_another_fabric_can_be_the_model(here: Path) -> None:
    run("star", "--hosts", "8", "-o", "x.toml", "--bandwidth", "10Gbps", "--messages", "none")
    text = Path("x.toml").read_text() + '[mpi]\nsend_overhead = "3us"\n'
    text += '[[mpi.overheads]]\nfrom = "1KiB"\nreceive_overhead = "2us"\nsend_copy_rate = "1GBps"\n'
    Path("x.toml").write_text(text)
    run("torus", "--dimensions", "3,3", "--like", "x.toml", "-o", "y.toml")
    fabric = _core.load_fabric("y.toml")
    assert fabric.mpi is not None
    assert fabric.mpi == _core.load_fabric("x.toml").mpi
    assert {cable["bandwidth_Bps"] for cable in fabric.cables()} == {1.25e9}


# ---- Help ----


def test_the_help_lists_every_topology_with_its_keys() -> None:
    text = re.sub(r"\s+", " ", run("--help"))
    for row in _core.topologies():
        assert f" {row['kind']}: {row['meaning']}" in text
        for option in row["options"]:
            if "." not in option["key"]:
                assert f"{option_name(option['key'])} " in text


@pytest.mark.parametrize("kind", KINDS)
def test_the_keys_of_a_topology_are_no_options_of_all(kind: str) -> None:
    command = new.get_command(click.Context(new), kind)
    assert command is not None
    names = [name for parameter in command.params for name in parameter.opts]
    assert len(names) == len(set(names))


# ---- Errors: one message that names the option, and no file ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("toruss", "KIND: found 'toruss'; did you mean torus?"),
        ("ring -o x", "KIND: found 'ring'; allowed are star, fat_tree, "),
        ("star -o x", "Missing option '--hosts'"),
        ("star --hosts 4", "Missing option '-o'"),
        ("star --hosts four -o x", "--hosts: found 'four'; write a whole number"),
        ("star --hosts 0 -o x", "--hosts: found 0; allowed: more than zero"),
        ("star --hosts 99999999999 -o x", "--hosts: found 99999999999; allowed: "),
        ("star --hosts 65 -o x", "--switch-preset: the topology has 65 hosts, and all switches"),
        ("star --hosts 4 --bandwidth 100 -o x", '--bandwidth: found "100"; allowed: a bandwidth'),
        ("star --hosts 4 --latency -1us -o x", '--latency: found "-1us"; allowed: zero or more'),
        (
            "star --hosts 4 --switch-latency 1us -o x",
            "--switch-latency: no cable connects switches",
        ),
        ("torus --dimensions 3,3 --switch-latency 1 -o x", '--switch-latency: found "1"; '),
        ("star --hosts 4 --like tofno-4 -o x", 'fabric "tofno-4": there is no such file'),
        ("star --hosts 4 --messages tofno-4 -o x", 'fabric "tofno-4": there is no such file'),
        ("star --hosts 4 --switch-preset tofin -o x", "Invalid value for '--switch-preset'"),
        ("star --hosts 4 --name= -o x", '--name: found ""; allowed: '),
        ("star --hosts 4 -o no/x", "-o: cannot write no/x: there is no directory "),
        ("star --hosts 4 -o .", "-o: . is a directory; name a file in it"),
        ("torus --dimensions 4,x -o x", "--dimensions: found '4,x'; write whole numbers "),
        ("torus --dimensions 4,1 -o x", "--dimensions: found a size of 1; allowed: at least 2 "),
        ("fat_tree --down 4,4 --up 1 -o x", "--up: found 1 values; allowed: as many as in "),
        ("custom --hosts a,,b --switches s --cables a,s -o x", "--hosts: found 'a,,b'; write "),
        (
            "custom --hosts a,b --switches s --cables a,s --cables b -o x",
            "--cables: between: found 1 ",
        ),
        (
            "custom --hosts a --switches s --cables a,s:cont=2 -o x",
            "--cables: found 'a,s:cont=2'; write BETWEEN[:count=INTEGER], with the keys between, ",
        ),
    ],
)
def test_mistakes_are_told_of_the_option(here: Path, arguments: str, message: str) -> None:
    assert refused(*arguments.split()).startswith(message)
    assert os.listdir(here) == []
