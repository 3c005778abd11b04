# SPDX-License-Identifier: LGPL-2.1-only
"""Folders of benchmark outputs: the use of each file, and inconsistent files."""

from pathlib import Path

import pytest

from tests.support.osu_folders import osu_text, write_osu
from weft.base.errors import WeftError
from weft.calibrate.cluster.folder import BESIDE, Evidence, read_folder
from weft.calibrate.cluster.network import standard_rate
from weft.calibrate.host.rows import HostRow

SIZES = [1 << power for power in range(23)]
LATENCY = [(0, 1.0), *((size, round(1 + size / 12000, 2)) for size in SIZES)]
BANDWIDTH = [(size, round(12000 * size / (size + 4000), 2)) for size in SIZES]
ALLREDUCE = [(size, round(5 + size / 300, 2)) for size in SIZES[2:20]]
GOOD = {
    ("latency", 2, 1): LATENCY,
    ("bw", 2, 1): BANDWIDTH,
    ("allreduce", 64, 32): ALLREDUCE,
}


def test_files_are_put_where_they_are_used(tmp_path: Path) -> None:
    write_osu(tmp_path, GOOD)
    write_osu(tmp_path / "again", {("allreduce", 64, 32): [(4, 6.0)]})
    (tmp_path / "intra.txt").write_text(
        "mpirun -np 2 --map-by ppr:2:node osu_latency" + osu_text("latency", LATENCY)
    )
    (tmp_path / "slurm.err").write_text("slurmstepd: nothing\n")
    (tmp_path / "gpu.txt").write_text(
        osu_text("allreduce", ALLREDUCE).replace("OSU MPI", "OSU MPI-CUDA")
    )
    found = read_folder(tmp_path)
    assert (len(found.latency), len(found.bandwidth)) == (1, 1)
    assert (found.hosts, found.ppn) == (2, 32)
    assert found.times[HostRow("allreduce", 64, 32, 4)] == pytest.approx((5.01 * 6) ** 0.5 * 1e-6)
    assert dict(found.unused) == {
        "intra.txt: latency": "within a host",
        "gpu.txt: allreduce": "buffers in CUDA memory",
        "slurm.err": "has no output of the OSU micro-benchmarks, IMB, nccl-tests, ucc_perftest,"
        " ucx_perftest or perftest: no line begins with '# OSU MPI', '# Benchmarking' or"
        " '# nThread'",
    }


def test_ranks_that_no_file_says(tmp_path: Path) -> None:
    write_osu(tmp_path, {("latency", 2, 1): LATENCY})
    (tmp_path / "allreduce.txt").write_text(osu_text("allreduce", ALLREDUCE))
    with pytest.raises(WeftError) as error:
        read_folder(tmp_path)
    assert (
        f"{tmp_path / 'allreduce.txt'}: line 2: ranks and ranks per host of allreduce unknown"
        in str(error.value)
    )
    assert read_folder(tmp_path, 64, 32).ppn == 32
    beside = tmp_path / BESIDE
    beside.write_text('[[files]]\nmatch = "allreduce*"\nranks = 16\nppn = 8\n')
    assert read_folder(tmp_path).ppn == 8
    beside.write_text('[[files]]\nmatch = "allreduce*"\nuse = false\n')
    assert read_folder(tmp_path).times == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[files]]\nmatch = "x*"\nppn = 2\n', "found 'x*', but no file below the folder"),
        ('[[files]]\nmatch = "*"\nppn = 2\n', "allreduce has 32 ppn (2x32), and"),
        ('[[files]]\nmatch = "*"\nppn = 0\n', "ppn: found 0; allowed are whole numbers"),
        ('[[files]]\nmatch = "*"\nhosts = 2\n', "no such key"),
        ("[[files]]\nppn = 2\n", "match: is missing"),
        ("files = 3\n", "write [[files]] tables"),
        ("[[files", "invalid TOML"),
    ],
)
def test_bad_files_beside(tmp_path: Path, text: str, problem: str) -> None:
    write_osu(tmp_path, GOOD)
    (tmp_path / BESIDE).write_text(text)
    with pytest.raises(WeftError) as error:
        read_folder(tmp_path)
    assert BESIDE in str(error.value)
    assert problem in str(error.value)


def refused(folder: Path) -> str:
    with pytest.raises(WeftError) as error:
        read_folder(folder)
    return str(error.value)


def test_folders_without_a_usable_file(tmp_path: Path) -> None:
    assert "it is empty; give outputs of osu_latency" in refused(tmp_path)
    (tmp_path / "a.txt").write_text("nothing\n")
    assert "1 file, such as a.txt, which has no output" in refused(tmp_path)
    (tmp_path / "a.txt").write_text("# OSU MPI Latency Test v7.4\n")
    assert "1 file, such as a.txt, which ends before any result: line 1" in refused(tmp_path)
    write_osu(tmp_path, {("bw", 2, 1): BANDWIDTH})
    assert "has no file to calibrate a fabric from: found bw" in refused(tmp_path)
    assert "is not a folder" in refused(tmp_path / "a.txt")


def test_only_names_below_the_folder_hide_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of the folder itself may be `../outputs`, or contain a hidden folder."""
    write_osu(tmp_path / ".cache" / "outputs", GOOD)
    write_osu(tmp_path / ".cache" / "outputs" / ".old", {("bw", 2, 1): BANDWIDTH[:2]})
    (tmp_path / ".cache" / "work").mkdir()
    monkeypatch.chdir(tmp_path / ".cache" / "work")
    found = read_folder(Path("../outputs"))
    assert (len(found.latency), len(found.bandwidth)) == (1, 1)


def test_files_of_different_machines(tmp_path: Path) -> None:
    """Examples are two networks of the same hosts, and two versions of a benchmark suite."""
    write_osu(tmp_path / "ib", GOOD)
    slow = [(size, round(1.4 + size / 3000, 2)) for size, _ in LATENCY]
    write_osu(tmp_path / "roce", {("latency", 2, 1): slow})
    message = refused(tmp_path)
    assert f"{tmp_path / 'roce' / '2x1' / 'osu_latency.0.out'}: line 27: latency of 4194304 B" in (
        message
    )
    assert f"{tmp_path / 'ib' / '2x1' / 'osu_latency.0.out'}: line 27 has" in message
    assert "files of different machines" in message


def test_versions_that_contradict(tmp_path: Path) -> None:
    write_osu(tmp_path, GOOD)
    (tmp_path / "2x32" / "new.txt").write_text(osu_text("bcast", ALLREDUCE, "7.2"))
    assert f"{tmp_path / '2x32' / 'new.txt'}: line 2: OSU 7.2, and {tmp_path}" in refused(tmp_path)


def test_rows_that_contradict(tmp_path: Path) -> None:
    write_osu(tmp_path, GOOD)
    other = [(size, 2 * time) for size, time in ALLREDUCE]
    write_osu(tmp_path / "other", {("allreduce", 64, 32): other})
    assert "osu_allreduce.0.out: line 4: allreduce of 4 B: found 10.02 us" in refused(tmp_path)


def test_units_that_disagree(tmp_path: Path) -> None:
    """Megabytes that turn out to be gigabits, and milliseconds under a header of microseconds."""
    write_osu(tmp_path, GOOD | {("bw", 2, 1): [(size, rate / 125) for size, rate in BANDWIDTH]})
    assert "osu_bw.1.out: line 26: units or machines disagree: bw reaches 95.91 MB/s" in refused(
        tmp_path
    )
    write_osu(tmp_path, GOOD | {("allreduce", 64, 32): [(s, t / 1000) for s, t in ALLREDUCE]})
    assert "osu_allreduce.2.out: line 4: allreduce of 64 ranks takes 0.00501 us" in refused(
        tmp_path
    )


def test_imb_and_a_table_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "imb.txt").write_text(
        "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
        "0 1000 1.0 0.0\n1048576 1000 104.86 10000.0\n"
    )
    found = read_folder(tmp_path)
    assert found.one_way() == pytest.approx({0: 1e-6, 1048576: 1.0486e-4})
    pairs = "source,target,bytes,time_us\na,b,0,1\na,b,8,2\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    assert read_folder(tmp_path).pairs == tmp_path / "pairs.csv"
    (tmp_path / "more.csv").write_text(pairs)
    assert "a second table of pairs" in refused(tmp_path)


@pytest.mark.parametrize(
    ("rate", "gbps", "standard"),
    [
        (3.063e9, 25.0, True),
        (12.17e9, 100.0, True),
        (1.18e9, 10.0, True),
        (24.6e9, 200.0, True),
        (12.53e9, 100.0, True),
        (8.0e9, 64.0, False),
    ],
)
def test_the_rate_of_a_link_is_a_standard_one(rate: float, gbps: float, standard: bool) -> None:
    found = standard_rate(rate, "bw")
    assert found.gbps == pytest.approx(gbps)
    assert found.standard is standard


def test_evidence_without_collectives() -> None:
    assert (Evidence(Path()).hosts, Evidence(Path()).ppn) == (2, 1)
