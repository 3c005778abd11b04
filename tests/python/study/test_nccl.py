# SPDX-License-Identifier: LGPL-2.1-only
"""NCCL's choice of algorithm, protocol and channels."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import simulated
from tests.support.places import ROOT
from weft import _core
from weft.base.errors import WeftError

TABLE = Path(__file__).with_name("nccl_choices.csv")
# Architecture, CPU, channels, speed of a channel within and between nodes, tree pattern.
MACHINES = {
    "ampere": ("amd", 16, 20, 20, "no"),
    "hopper": ("intel", 12, 30, 30, "yes"),
    "blackwell": ("intel", 16, 40, 40, "no"),
}
SIZES = [1 << power for power in range(6, 35)]


def machine(architecture: str, nodes: int, gpus: int) -> str:
    """Return the text of a fabric file of such nodes."""
    cpu, channels, intra, inter, tree = MACHINES[architecture]
    links = "nvlink"
    if gpus == 1:
        channels, intra, inter, links = 2, 24, 24, "pcie"
    graphs = [(name, channels, intra, inter) for name in ("ring", "tree", "pat")]
    if architecture != "ampere" and gpus > 1:
        graphs += [("nvls", gpus, 60, 60), ("nvlstree", gpus, 48, 48)]
    text = (ROOT / "fabrics" / "dgx-h100.toml").read_text("utf-8")
    text = text[: text.index("[nccl]")].replace("hosts = 8", f"hosts = {nodes * gpus}")
    text = text.replace('"nvswitch-3"', '"nvswitch-3"\nmax_ports = 1024')
    text += f'[nccl]\narchitecture = "{architecture}"\ncpu = "{cpu}"\n'
    text += f'gpus_per_node = {gpus}\nsimple_tree = "{tree}"\n'
    for name, count, within, between in graphs:
        text += f'[[nccl.graph]]\nof = "{name}"\nchannels = {count}\nlinks = "{links}"\n'
        text += f'intra = "{within}GBps"\ninter = "{between}GBps"\n'
    return text


def rows() -> Iterator[dict[str, str]]:
    """Read the table of choices."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    yield from csv.DictReader(lines)


def expected(choices: str) -> list[tuple[str, str]]:
    """Return the choice for each of SIZES."""
    starts = [(int(size), name) for size, name in (one.split(":") for one in choices.split())]
    found = []
    for size in SIZES:
        name = [name for start, name in starts if start <= size][-1]
        algorithm, protocol = name.split("/")
        found.append((algorithm, protocol))
    return found


def test_every_cell_of_the_table_is_chosen(tmp_path: Path) -> None:
    fabrics: dict[tuple[str, int, int], _core.Fabric] = {}
    for row in rows():
        key = row["architecture"], int(row["nodes"]), int(row["gpus"])
        if key not in fabrics:
            file = tmp_path / "-".join(map(str, (*key, "fabric.toml")))
            file.write_text(machine(*key), encoding="utf-8")
            fabrics[key] = _core.load_fabric(str(file))
        ranks = key[1] * key[2]
        chosen = _core.nccl_choices(
            fabrics[key], row["version"], row["collective"], ranks, list(map(float, SIZES))
        )
        assert [(one["algorithm"], one["protocol"]) for one in chosen] == expected(row["choices"])


def h100(collective: str, sizes: str, **keys: str | int) -> list[dict[str, Any]]:
    """Return the choices on a DGX H100."""
    changes: dict[str, str | int] = {f"nccl.{name}": value for name, value in keys.items()}
    table = weft.nccl_choices(collective, "dgx-h100", 8, sizes, set=changes)
    return list(table.iter_rows(named=True))


def test_variables_of_nccl_limit_the_choice() -> None:
    (usual,) = h100("all_reduce", "1GiB")
    assert (usual["algorithm"], usual["protocol"]) == ("nvls", "Simple")
    (ring,) = h100("allreduce", "1GiB", NCCL_ALGO="^NVLS")
    assert (ring["algorithm"], ring["channels"], ring["chunk_bytes"]) == ("ring", 12, 2 << 20)
    (low,) = h100("allreduce", "1GiB", NCCL_ALGO="allreduce:tree", NCCL_PROTO="LL")
    assert (low["algorithm"], low["protocol"], low["chunk_bytes"]) == ("tree", "LL", 32 << 10)
    (few,) = h100("allgather", "1GiB", NCCL_MAX_NCHANNELS=4, NCCL_BUFFSIZE="1MiB")
    assert (few["channels"], few["chunk_bytes"]) == (4, 512 << 10)
    (many,) = h100("allgather", "1KiB", NCCL_MIN_NCHANNELS=16)
    assert many["channels"] == 16


def test_small_calls_have_few_channels() -> None:
    channels = [row["channels"] for row in h100("allgather", "1KiB:1GiB")]
    assert (channels[0], channels[-1]) == (1, 12)
    assert channels == sorted(channels)


def test_the_predicted_time_is_latency_and_bytes_over_bandwidth() -> None:
    # 14 steps of 0.6 us after 6.6 us, at 8 / 14 of 141 GB/s: LL on NVLink.
    (row,) = h100("allreduce", "64KiB", NCCL_ALGO="ring", NCCL_PROTO="LL")
    assert row["predicted_us"] == pytest.approx(6.6 + 14 * 0.6 + 65536 / (141e3 * 8 / 14))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"NCCL_ALGO": "rng"}, 'NCCL_ALGO: found "rng"; did you mean "ring"?'),
        ({"NCCL_PROTO": "allsum:LL"}, 'NCCL_PROTO: found collective "allsum"'),
        ({"NCCL_ALGO": "pat"}, 'NCCL_ALGO "pat" and NCCL_PROTO "" leave no algorithm for'),
        ({"NCCL_MIN_NCHANNELS": 8, "NCCL_MAX_NCHANNELS": 4}, "allowed: at most NCCL_MAX_NCHANNELS"),
    ],
)
def test_wrong_variables_give_one_message(keys: dict[str, str | int], message: str) -> None:
    with pytest.raises(WeftError) as caught:
        h100("allreduce", "1MiB", **keys)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["allreduce", "--fabric", "star-8", "-n", "8"], "there is no table [nccl]"),
        (["allreduce", "--fabric", "dgx-h100", "-n", "9"], "found 9 ranks; allowed: 2 to 8"),
        (["gather", "--fabric", "dgx-h100", "-n", "8"], 'found collective "gather"'),
        (["bcast", "--fabric", "dgx-h100", "-n", "8", "--nccl", "2.17"], "--nccl: found '2.17'"),
    ],
)
def test_wrong_calls_give_one_message(arguments: list[str], message: str) -> None:
    ended = simulated.weft("collectives", "nccl", *arguments)
    assert ended.status == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_blackwell_is_unknown_to_an_old_version(tmp_path: Path) -> None:
    file = tmp_path / "b200.toml"
    file.write_text(machine("blackwell", 1, 8), encoding="utf-8")
    with pytest.raises(WeftError, match='does not know GPUs of architecture "blackwell"'):
        weft.nccl_choices("allreduce", file, 8, version="2.18")


def test_a_graph_may_stand_once(tmp_path: Path) -> None:
    file = tmp_path / "twice.toml"
    text = machine("hopper", 1, 8)
    file.write_text(text + text[text.index("[[nccl.graph]]") :], encoding="utf-8")
    with pytest.raises(WeftError, match='found "ring" twice; allowed: one'):
        weft.nccl_choices("allreduce", file, 8)


def test_the_command_prints_and_writes_choices(tmp_path: Path) -> None:
    target = tmp_path / "choices.csv"
    ended = simulated.weft(
        "collectives",
        "nccl",
        *("all_reduce", "--fabric", "dgx-h100", "-n", "8", "--sizes", "1KiB,1GiB"),
        *("--csv", str(target)),
    )
    assert ended.status == 0, ended.stderr
    assert "nvls" in ended.stdout
    with target.open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert [row["bytes"] for row in written] == ["1024", str(1 << 30)]
