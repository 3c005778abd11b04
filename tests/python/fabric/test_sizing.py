# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics for a number of hosts: trees that fit, and sizes without a tree."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft import _core
from weft.base.errors import WeftError
from weft.cli.fabric.new import new
from weft.fabric.sizing import Tree, tree_of


def test_a_leaf_spine_has_the_oversubscription_and_the_radix() -> None:
    tree = tree_of(512, "2:1", 40)
    assert (tree.down, tree.up, tree.cables) == ((26, 20), (1, 13), (1, 1))
    assert (tree.places, tree.switches) == (520, 33)


def test_few_hosts_share_one_switch() -> None:
    assert tree_of(40, "2:1", 40).kind == "star"
    assert tree_of(41, "2:1", 40).kind == "fat_tree"


def test_parallel_cables_replace_spines() -> None:
    tree = tree_of(64, "1:1", 64)
    assert tree.kind == "star"
    tree = tree_of(128, "1:1", 64)  # 4 leaves of 32 uplinks: 2 spines, 16 cables per leaf
    assert (tree.down, tree.up, tree.cables) == ((32, 4), (1, 2), (1, 16))


def test_a_third_level_is_used_only_where_two_do_not_fit() -> None:
    assert len(tree_of(2048, "1:1", 64).down) == 2
    assert len(tree_of(2049, "1:1", 64).down) == 3


@given(
    hosts=st.integers(2, 3000),
    down=st.integers(1, 4),
    up=st.integers(1, 2),
    radix=st.integers(8, 64),
)
def test_trees_keep_the_radix_and_the_ratio(hosts: int, down: int, up: int, radix: int) -> None:
    if down < up:
        return
    try:
        tree = tree_of(hosts, f"{down}:{up}", radix)
    except WeftError as error:
        assert "the nearest that fit" in str(error)
        return
    assert tree.places >= hosts
    if tree.kind == "star":
        return
    assert tree.down[0] * up == tree.up[1] * tree.cables[1] * down
    for level, below in enumerate(tree.down):
        above = tree.up[level + 1] * tree.cables[level + 1] if level + 1 < len(tree.down) else 0
        assert below * tree.cables[level] + above <= radix
        assert level == 0 or not above or below == above


@pytest.mark.filterwarnings("ignore:.*not measured on your devices")
def test_a_tree_has_the_switches_and_places_that_the_fabric_has(tmp_path: Path) -> None:
    for number, (hosts, ratio, radix) in enumerate([(100, "2:1", 12), (90, "1:1", 16)]):
        path = tmp_path / f"{number}.toml"
        fabric = weft.new_fabric("sized", path, hosts=hosts, oversubscription=ratio, radix=radix)
        tree = tree_of(hosts, ratio, radix)
        assert len(fabric.core.hosts) == hosts
        assert len(fabric.core.switches) == tree.switches


def sized(*arguments: str) -> str:
    return CliRunner().invoke(new, arguments, standalone_mode=False, catch_exceptions=False).output


def test_the_command_writes_cores_and_ports(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    words = ("--hosts", "512", "--oversubscription", "2:1", "--radix", "40", "--cores", "128")
    said = sized(*words, "-o", str(path))
    assert "leaves with 26 hosts and 13 uplinks, 33 switches, 8 of 520 places empty" in said
    table = tomllib.loads(path.read_text())
    assert table["host"]["cores"] == 128
    assert table["switch"]["max_ports"] == 40
    assert len(_core.load_fabric(str(path)).hosts) == 512


@pytest.mark.parametrize(
    ("words", "ports"),
    [
        ("", 64),
        ("--switch-preset sharp-hdr200", 40),
        ("--switch-preset sx6036", 36),
        ("--like hdr100-8", 40),
        ("--switch-preset ideal", 64),
    ],
)
def test_switches_have_the_ports_of_their_preset(tmp_path: Path, words: str, ports: int) -> None:
    """Regression: 64 ports were assumed, and a switch of 40 was refused for the default."""
    path = tmp_path / "c.toml"
    sized("--hosts", "128", *words.split(), "-o", str(path))
    assert tomllib.loads(path.read_text())["switch"]["max_ports"] == ports


def refused(*words: str) -> str:
    with pytest.raises(WeftError) as error:
        sized(*words)
    return str(error.value)


def test_more_ports_than_the_preset_has_are_refused_with_its_number(tmp_path: Path) -> None:
    words = ("--switch-preset", "sharp-hdr200", "-o", str(tmp_path / "c.toml"))
    assert refused("--hosts", "512", "--radix", "64", *words) == (
        "--radix: found 64, and a sharp-hdr200 has 40 ports; write --radix 40, or name another"
        " --switch-preset"
    )
    assert "the nearest that fit: at most 20,800 hosts, --oversubscription 4:1" in refused(
        "--hosts", "25000", "--oversubscription", "2:1", *words
    ), "no radix above the preset's is suggested"


def nearest(hosts: int, ratio: str, radix: int) -> str:
    with pytest.raises(WeftError) as error:
        tree_of(hosts, ratio, radix)
    return str(error.value)


def test_a_size_that_does_not_fit_is_refused_with_the_nearest_that_does() -> None:
    message = nearest(50_000, "2:1", 40)
    assert "do not fit into three levels of switches with 40 ports at 2:1" in message
    assert "at most 20,800 hosts" in message
    tree_of(20_800, "2:1", 40)
    with pytest.raises(WeftError):
        tree_of(20_801, "2:1", 40)
    radix = int(message.partition("radix ")[2].partition(",")[0])
    assert tree_of(50_000, "2:1", radix).places >= 50_000
    with pytest.raises(WeftError):
        tree_of(50_000, "2:1", radix - 1)


@pytest.mark.parametrize(
    ("ratio", "message"),
    [("2", ""), ("1:2", "with more bandwidth to spines"), ("0:1", "write the bandwidth to hosts")],
)
def test_oversubscriptions_are_ratios_of_at_least_one(ratio: str, message: str) -> None:
    if not message:
        assert tree_of(100, ratio, 40) == tree_of(100, "2:1", 40)
    else:
        assert message in nearest(100, ratio, 40)


def test_sizes_of_trees_are_named_in_their_description() -> None:
    tree: Tree = tree_of(512, "2:1", 40)
    assert tree.said.startswith("a fat tree of 2 levels")
