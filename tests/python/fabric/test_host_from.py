# SPDX-License-Identifier: LGPL-2.1-only
"""`weft fabric new --host-from`: host internals from lstopo's XML."""

import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.in_process import run as command
from weft.base import paths
from weft.base.user_files import read_toml
from weft.fabric import host_file

MIB = 1 << 20


def core(number: int, second: int = MIB) -> str:
    return (
        f'<object type="L2Cache" cpuset="0x{1 << number:08x}" cache_size="{second}" depth="2">'
        f'<object type="L1Cache" cache_size="32768" depth="1"><object type="Core">'
        f'<object type="PU" os_index="{2 * number}"/><object type="PU"/>'
        "</object></object></object>"
    )


def package(number: int, cores: int = 4, domains: int = 2, third: int = 16 * MIB) -> str:
    groups = []
    for domain in range(domains):
        cpuset = f"0x{15 << 4 * (domains * number + domain):08x}"
        own = "".join(core(number * cores + one) for one in range(cores // domains))
        groups.append(
            f'<object type="Group"><object type="NUMANode" cpuset="{cpuset}" local_memory="1024"/>'
            f'<object type="L3Cache" cache_size="{third // domains}" depth="3">'
            f'<info name="Inclusive" value="0"/>{own}</object></object>'
        )
    said = '<info name="CPUModel" value="AMD EPYC 7763 64-Core Processor    "/>'
    return f'<object type="Package" os_index="{number}">{said}{"".join(groups)}</object>'


def xml(inside: str, version: str = "2.0") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
        f'<topology version="{version}"><object type="Machine">{inside}</object></topology>\n'
    )


TWO = xml(package(0) + package(1))
# hwloc 1.10: Socket, Cache with a depth, and NUMA nodes around the cores.
OLD = xml(
    "".join(
        f'<object type="NUMANode" cpuset="0x0000000{3 << 2 * node:x}"><object type="Socket">'
        '<info name="CPUModel" value="Intel(R) Xeon(R) CPU E5-2683 v4 @ 2.10GHz"/>'
        '<object type="Cache" cache_size="4194304" depth="3" cache_type="0">'
        '<info name="Inclusive" value="1"/>'
        + '<object type="Cache" cache_size="262144" depth="2" cache_type="0">'
        '<object type="Core"><object type="PU"/></object></object>'
        * 2
        + "</object></object></object>"
        for node in range(2)
    ),
    "1.0",
)


def made(folder: Path, text: str, **options: Any) -> tuple[weft.Fabric, dict[str, Any]]:
    """Return a fabric, and its [host] table."""
    (folder / "lstopo.xml").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fabric = weft.new_fabric(
            "star",
            folder / "out.toml",
            hosts=2,
            host_from=folder / "lstopo.xml",
            force=True,
            **options,
        )
    return fabric, tomllib.loads((folder / "out.toml").read_text())["host"]


def test_cores_sockets_and_caches(tmp_path: Path) -> None:
    """Fitted presets use fractions of caches, and a bandwidth for each core of a socket."""
    fabric, host = made(tmp_path, TWO)
    assert (fabric.cores_per_host, host["sockets"]) == (8, 2)
    assert host["core_cache_size"] == f"{MIB * host_file.CORE_CACHE_FRACTION:.0f}B"
    assert host["cache_size"] == f"{20 * MIB * host_file.CACHES_FRACTION:.0f}B"
    assert host["shared_cache_bandwidth"] == f"{1.055e11 / 36 * 4:.4g}Bps"
    assert fabric.note.startswith(
        "hosts from lstopo.xml: 8 cores, 2 sockets, caches (AMD EPYC 7763 64-Core Processor);"
        " speed, costs and rates from xeon-2-socket; its 4 memory domains are not modelled apart"
    )
    fabric.check()


def test_old_files_and_virtual_machines(tmp_path: Path) -> None:
    fabric, host = made(tmp_path, OLD)
    assert (fabric.cores_per_host, host["sockets"]) == (4, 2)
    # The last-level cache includes the contents of the core caches.
    assert host["cache_size"] == f"{4 * MIB * host_file.CACHES_FRACTION:.0f}B"
    assert "memory domains" not in fabric.note
    fabric, host = made(tmp_path, xml('<object type="PU"/>' * 3))
    assert (fabric.cores_per_host, host["sockets"]) == (3, 1)
    assert "caches from xeon-2-socket without those between sockets" in fabric.note
    assert not {"preset", "intersocket_latency", "intersocket_rate"} & set(host)
    fabric.check()


def test_presets_that_were_fitted_alone(tmp_path: Path) -> None:
    fabric, host = made(tmp_path, TWO, host_preset="xeon-e5-2660v2")
    assert set(host) == {"preset", "cores"}
    assert "xeon-e5-2660v2 does not model sockets; caches from xeon-e5-2660v2" in fabric.note


@pytest.mark.parametrize(
    ("preset", "second", "caches"),
    [("xeon-8360y", 1.25, 54 + 36 * 1.25), ("xeon-6148", 1, 27.5 + 20), ("epyc-7v73x", 0.5, 792)],
)
def test_fractions_are_those_of_the_presets(preset: str, second: float, caches: float) -> None:
    theirs = read_toml(paths.installed("presets", "host", f"{preset}.toml"))
    assert preset in host_file.FITTED
    for key, own in (
        ("core_cache_size", second * host_file.CORE_CACHE_FRACTION),
        ("cache_size", caches * host_file.CACHES_FRACTION),
    ):
        assert float(theirs[key].removesuffix("B")) == pytest.approx(own * MIB, rel=1e-3)


def test_with_a_file_of_another_tool(tmp_path: Path) -> None:
    (tmp_path / "lstopo.xml").write_text(TWO)
    (tmp_path / "topology.conf").write_text("SwitchName=s0 Nodes=n[1-2]\n")
    files = ["--from", str(tmp_path / "topology.conf"), "--host-from", str(tmp_path / "lstopo.xml")]
    status, _, said = command(["fabric", "new", *files, "-o", str(tmp_path / "out.toml")])
    assert status == 0
    assert "hosts from lstopo.xml: 8 cores, 2 sockets" in said
    assert weft.Fabric(tmp_path / "out.toml").cores_per_host == 8


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Machine (16GB total)\n", r"lstopo\.xml is no XML of lstopo; write one on a host"),
        ("SwitchName=s0 Nodes=n1\n", r"is a topology\.conf .*, and is no XML of lstopo"),
        (xml(""), "the inside of a host: it has no cores"),
        (TWO[:-20], "it is not valid XML"),
        (xml(package(0) + package(1, 2)), "its 2 sockets have different numbers of cores, 6 in"),
        (TWO.replace("<topology", "<!ENTITY a 'b'>\n<topology"), "it declares entities"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(weft.WeftError, match=f"^host_from: .*{problem}"):
        made(tmp_path, text)


def test_an_inside_is_no_topology(tmp_path: Path) -> None:
    (tmp_path / "lstopo.xml").write_text(TWO)
    with pytest.raises(weft.WeftError, match="takes it together with a topology"):
        weft.fabric_from(tmp_path / "lstopo.xml", tmp_path / "out.toml")
