# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate cluster`: a fabric from a folder of OSU outputs, and its accuracy."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import weft
from tests.support.osu_folders import write_cluster, write_osu
from tests.support.places import ROOT
from weft import _core
from weft.base.errors import WeftError
from weft.benchmarks.methods import METHODS
from weft.calibrate.cluster import cluster
from weft.calibrate.cluster.folder import read_folder
from weft.calibrate.host import keys as host_keys
from weft.calibrate.host.rows import HostRow, simulate_as_measured
from weft.calibrate.measurements.simulated import simulate_bandwidth, simulate_ping_pong
from weft.cli.root import weft as command

DATA = ROOT / "data"
LIBRARY = "openmpi-4.0"
TRUTH = {
    "host.loopback_latency": 6e-7,
    "host.memory_bandwidth": 2e10,
    "host.single_copy_threshold": 131072.0,
    "host.cache_size": 2e7,
    "host.message_overhead": 2e-7,
    "host.copy_rate": 4e9,
    "host.piece_overhead": 8e-8,
    "host.reduction_rate": 2.5e9,
    "host.loopback_bandwidth": 8e9,
    "mpi.eager_threshold": 16384.0,
}
COLLECTIVES = ("allreduce", "alltoall", "allgather", "reduce_scatter_block", "bcast")
ROWS = [
    HostRow(collective, ranks, ppn, 8 << (2 * power))
    for collective in COLLECTIVES
    for ranks, ppn in ((8, 4), (16, 8))
    for power in range(10)
]


def two_hosts(folder: Path) -> Path:
    """Write a fabric with the network of a ping-pong."""
    write_osu(folder, {("latency", 2, 1): [(size, 1 + size / 12000) for size in (0, 8, 1 << 12)]})
    path = folder / "base.toml"
    text = Path(_core.load_fabric("star-8").file).read_text()
    path.write_text(text)
    return path


def simulated(base: Path, values: dict[str, float], rows: list[HostRow]) -> dict[HostRow, float]:
    """Return the times of the rows on hosts with these values."""
    keys = {key.text: key for key in host_keys.find_keys([*values])}
    text = host_keys.with_keys(
        _core.load_fabric(str(base)), {keys[name]: value for name, value in values.items()}, {}
    )
    return simulate_as_measured(text, dict.fromkeys(rows, METHODS["osu"]), LIBRARY)


def write_collectives(folder: Path, times: dict[HostRow, float]) -> None:
    series: dict[tuple[str, int, int], list[tuple[int, object]]] = {}
    for row, time in times.items():
        key = (row.collective, row.ranks, row.ppn)
        series.setdefault(key, []).append((row.bytes, f"{time * 1e6:.6f}"))
    write_osu(folder, series)


@pytest.mark.slow
def test_simulated_tables_give_the_values_back(tmp_path: Path) -> None:
    """Tables of five collectives, including Reduce_scatter_block, for two numbers of ranks."""
    base = two_hosts(tmp_path / "base")
    folder = tmp_path / "measured"
    write_collectives(folder, simulated(base, TRUTH, ROWS))
    found = weft.calibrate_cluster(
        folder,
        tmp_path / "out.toml",
        base=base,
        part="hosts",
        keys=[*TRUTH],
        fallback=LIBRARY,
    )
    assert found.hosts is not None
    assert found.hosts.undetermined == {}
    assert found.hosts.values == pytest.approx(TRUTH, rel=0.05)
    assert found.held_out is not None
    assert found.held_out.mean < 0.02


def test_what_rows_do_not_determine_stays(tmp_path: Path) -> None:
    """Without reductions, no row determines their speed; a key with a wide interval is omitted."""
    base = two_hosts(tmp_path / "base")
    folder = tmp_path / "measured"
    rows = [row for row in ROWS if row.collective == "alltoall" and row.ranks == 8]
    write_collectives(folder, simulated(base, TRUTH, rows))
    keys = ["host.copy_rate", "host.message_overhead", "host.reduction_rate"]
    output = tmp_path / "out.toml"
    found = weft.calibrate_cluster(
        folder, output, base=base, part="hosts", keys=keys, fallback=LIBRARY
    )
    assert found.hosts is not None
    assert found.hosts.undetermined["host.reduction_rate"] == "no row depends on it"
    text = output.read_text()
    assert (
        "host.reduction_rate: not determined (no row depends on it); keeps the value of --base"
        in text
    )
    before, after = (tomllib.loads(path.read_text()) for path in (base, output))
    assert after["host"].get("reduction_rate") == before["host"].get("reduction_rate")
    assert set(after["calibration"]["intervals"]) == set(found.hosts.values)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_topology_file_is_the_base(tmp_path: Path) -> None:
    """An ibnetdiscover output and a ping-pong yield the file's network and the measured latency."""
    ib = tmp_path / "ib.txt"
    hosts = "".join(f'[{k}] "H-1{k}"[1](1{k}) # "n{k} mlx5_0" lid {k} 4xHDR\n' for k in (1, 2, 3))
    ib.write_text(f'switchguid=0x1(1)\nSwitch 40 "S-1" # "MF0;leaf:X/U1" base port 0\n{hosts}')
    latency = [(1 << power, 2 + (1 << power) / 20000) for power in range(0, 23, 2)]
    folder = tmp_path / "measured"
    write_osu(folder, {("latency", 2, 1): latency})
    output = tmp_path / "mine.toml"
    found = weft.calibrate_cluster(folder, output, topology=ib, part="network")
    assert found.fabric.hosts == ("n1", "n2", "n3")
    assert found.fabric.switches == ("leaf",)
    assert found.messages is not None
    assert found.messages.mean < 0.05
    with pytest.raises(weft.WeftError, match="topology: found together with base"):
        weft.calibrate_cluster(folder, output, topology=ib, base="tofino-4")
    ib.write_text("hello\n")
    with pytest.raises(weft.WeftError, match=r"^topology: .* is no topology that weft knows"):
        weft.calibrate_cluster(folder, output, topology=ib)


def test_a_stream_of_small_messages_says_nothing_of_the_rate(tmp_path: Path) -> None:
    """The output of `osu_bw -m 1:4096`: the ping-pong's large messages are faster."""
    sizes = [1 << power for power in range(0, 23, 2)]
    small = [(size, round(12000 * size / (size + 4000), 2)) for size in sizes if size <= 4096]
    latency = [(size, round(1 + size / 12000, 2)) for size in sizes]
    write_osu(tmp_path, {("latency", 2, 1): latency, ("bw", 2, 1): small})
    fit = cluster.calibrate(read_folder(tmp_path), "short")
    assert fit.network is not None
    found = fit.network.rate
    assert (found.gbps, found.standard) == (100.0, True)
    assert [(use.rows, use.purpose) for use in fit.uses][:2] == [
        ("the ping-pong (osu_latency.0.out)", "link.bandwidth"),
        ("bw (osu_bw.1.out)", "messages' time on the cores"),
    ]


def test_pairs_that_the_nic_stops_give_its_message_rate(tmp_path: Path) -> None:
    """One pair sends 3 million messages per second; 32 pairs send 40 instead of 96 million."""
    sizes = [1 << power for power in range(0, 23, 2)]
    latency = [(size, round(1 + size / 12000, 2)) for size in sizes]

    def rates(pairs: int, per_s: float) -> str:
        head = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2"
        head += f"\n# [ pairs: {pairs} ] [ window size: 64 ]"
        rows = ((size, min(per_s * size, 12e9)) for size in sizes)
        lines = (f"{size} {rate / 1e6:.2f} {rate / size:.2f}" for size, rate in rows)
        return "\n".join((head, "# Size  MB/s  Messages/s", *lines, ""))

    write_osu(tmp_path, {("latency", 2, 1): latency})
    (tmp_path / "1.out").write_text(rates(1, 3e6))
    (tmp_path / "32.out").write_text(rates(32, 96e6))
    assert "message_rate" not in cluster.calibrate(read_folder(tmp_path), "enough").text
    (tmp_path / "32.out").write_text(rates(32, 40e6))
    fit = cluster.calibrate(read_folder(tmp_path), "bound")
    assert tomllib.loads(fit.text)["nic"]["message_rate"] == "40MHz"
    (use,) = (one for one in fit.uses if one.rows == "mbw_mr (32.out)")
    assert "nic.message_rate" in use.purpose
    (tmp_path / "1.out").unlink()  # it is undetermined whether ranks or the NIC limit the pairs
    assert "message_rate" not in cluster.calibrate(read_folder(tmp_path), "open").text


def test_the_network_alone(tmp_path: Path) -> None:
    """RoCE of 25 Gb/s: the link's rate comes from the bandwidth test, not the base's 100 Gb/s."""
    write_cluster(tmp_path / "roce", DATA, "roce")
    output = tmp_path / "roce.toml"
    arguments = ["--part", "network", "--fallback", LIBRARY, "-o", str(output)]
    result = CliRunner().invoke(
        command, ["calibrate", "cluster", str(tmp_path / "roce"), *arguments]
    )
    assert result.exit_code == 0, result.output
    assert "reaches 3.063 GB/s, 98% of it" in output.read_text()
    fabric = tomllib.loads(output.read_text())
    assert fabric["link"]["bandwidth"] == "25Gbps"
    assert fabric["topology"]["hosts"] == 2
    assert fabric["host"]["cores"] == 32
    low, high = fabric["calibration"]["intervals"]["link.bandwidth"]
    assert 24.7 < float(low.removesuffix("Gbps")) < 25 < float(high.removesuffix("Gbps")) < 25.3
    assert "allreduce, 2 x 32, predicted" in result.stderr
    # Core costs of small messages come from osu_bw if it measured a stream, else from osu_latency.
    stream = simulate_bandwidth(output.read_text(), [1, 64, 1024])
    assert stream == pytest.approx({1: 0.18868, 64: 0.18937, 1024: 0.46635}, rel=0.15)
    assert simulate_ping_pong(output.read_text(), [4])[4] == pytest.approx(1.37, rel=0.02)
    on_another = tmp_path / "other.toml"
    weft.calibrate_cluster(tmp_path / "roce", on_another, base="alaska-2", part="network")
    assert tomllib.loads(on_another.read_text())["link"]["bandwidth"] == "25Gbps"
    route = _core.load_fabric(str(on_another)).route(0, 1)
    assert route["latency_s"] == pytest.approx(1.38e-6, rel=0.02)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_hosts_of_one_network_predict_the_other(tmp_path: Path) -> None:
    """The cluster is alaska: the same hosts on InfiniBand and on RoCE of 25 Gb/s."""
    errors, own = {}, {}
    for name, other in (("ib", "roce"), ("roce", "ib")):
        folder = tmp_path / name
        write_cluster(folder, DATA, name)
        fitted = tmp_path / f"{name}.toml"
        found = weft.calibrate_cluster(folder, fitted, fallback=LIBRARY)
        assert found.held_out is not None
        own[name] = found.held_out.mean
        write_cluster(tmp_path / f"{name}-other", DATA, other)
        predicted = weft.calibrate_cluster(
            tmp_path / f"{name}-other",
            tmp_path / "predicted.toml",
            base=fitted,
            part="network",
            fallback=LIBRARY,
        )
        assert predicted.held_out is not None
        errors[name] = predicted.held_out.mean
    assert errors["ib"] <= 0.12
    assert errors["roce"] <= 0.21
    assert own["ib"] <= 1.15 * errors["roce"]
    assert own["roce"] <= 1.15 * errors["ib"]


def refused(folder: Path, *arguments: str) -> str:
    output = folder.parent / "refused.toml"
    result = CliRunner().invoke(
        command, ["calibrate", "cluster", str(folder), *arguments, "-o", str(output)]
    )
    assert isinstance(result.exception, WeftError)
    assert not output.exists()
    return str(result.exception)


def test_bad_input(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    rows = {("allreduce", 64, 32): [(4, 5.0), (8, 6.0)]}
    write_osu(folder, rows)
    assert refused(folder, "--part", "hosts").startswith("--base: is missing")
    assert "has no ping-pong between two hosts" in refused(folder)
    write_osu(folder, {("allgather", 400, 200): [(4, 50.0), (8, 60.0)]})
    small = refused(folder, "--base", "star-8", "--part", "hosts")
    assert small.startswith("--base: star-8 has 8 hosts of 72 cores, and the table has 2 hosts of")
    (folder / "2x200" / "osu_allgather.0.out").unlink()
    (folder / "2x32" / "osu_allreduce.0.out").unlink()
    write_osu(folder, {("latency", 2, 1): [(0, 1.0), (8, 1.0)]})
    assert "has no collective" in refused(folder, "--base", "star-8", "--part", "hosts")
