# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of the OSU micro-benchmarks and of IMB: benchmarks, units, ranks, and errors."""

from pathlib import Path

import pytest

from weft.base.errors import WeftError
from weft.benchmarks.bytes_of import BYTES_OF, Elements, elements_of
from weft.benchmarks.names import osu_name
from weft.benchmarks.output import Measured, NoBenchmarkError, read

LATENCY = """# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
0                       1.00
8                       1.02
"""
ALLREDUCE = """
# OSU MPI Allreduce Latency Test v5.6.2
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       5.47              4.80              6.20        1000
8                       5.52              4.90              6.30        1000
"""
RATES = """# OSU MPI Multiple Bandwidth / Message Rate Test v5.7
# [ pairs: 15 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                       6.39        6385003.80
1024                 6144.00        6000000.00
"""
IMB = """#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2019 Update 6, MPI-1 part
#------------------------------------------------------------
# Calling sequence was:

# mpirun -n 64 -ppn 32 ./IMB-MPI1 -npmin 32 PingPong Allreduce Barrier

# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   MPI_FLOAT
# MPI_Op                         :   MPI_SUM
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 62 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.29         0.00
         1024         1000         1.00      1024.00
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 32
# ( 32 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4         1000         2.10         2.30         2.20

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 64
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4         1000         5.10         5.30         5.20
# Benchmarking Barrier
# #processes = 64
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         4.10         4.30         4.20

# All processes entering MPI_Finalize
"""


def reading(folder: Path, text: str, name: str = "out.txt") -> tuple[Measured, ...]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read(path, folder)


def one(folder: Path, text: str, name: str = "out.txt") -> Measured:
    (found,) = reading(folder, text, name)
    return found


def test_osu_latency(tmp_path: Path) -> None:
    found = one(tmp_path, LATENCY)
    assert (found.suite, found.version, found.benchmark, found.unit) == (
        *("OSU", "5.6.2", "latency", "us"),
    )
    assert [(row.bytes, row.value, row.line) for row in found.rows] == [(0, 1.0, 3), (8, 1.02, 4)]
    assert (found.ranks, found.ppn, found.hosts) == (2, 1, 2)


def test_osu_collectives_keep_all_columns(tmp_path: Path) -> None:
    found = one(tmp_path, ALLREDUCE)
    assert (found.benchmark, found.line, found.ranks, found.ppn) == ("allreduce", 2, None, None)
    assert found.seconds == pytest.approx({4: 5.47e-6, 8: 5.52e-6})
    assert found.rows[0].columns["Max Latency(us)"] == 6.2


def test_osu_7(tmp_path: Path) -> None:
    text = """lib/libcxi.so.1: no version information available
# OSU MPI Non-blocking All-to-All Latency Test v7.5
# Datatype: MPI_CHAR.
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
1                      12.46              6.10              6.05             -0.20
"""
    found = one(tmp_path, text)
    assert (found.benchmark, found.rows[0].value) == ("ialltoall", 12.46)
    assert found.options["datatype"] == "MPI_CHAR"
    assert found.rows[0].columns["Overlap(%)"] == -0.2
    validated = """# OSU MPI Allgather Latency Test v7.5
# Size       Avg Latency(us)        Validation
1                       7.02              Pass
"""
    assert one(tmp_path, validated).rows[0].value == 7.02


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Bandwidth Test", "bw"),
        ("Bi-Directional Bandwidth Test", "bibw"),
        ("Multi Latency Test", "multi_lat"),
        ("All-to-All Personalized Exchange Latency Test", "alltoall"),
        ("Broadcast Latency Test", "bcast"),
        ("Non-blocking Broadcast Latency Test", "ibcast"),
        ("Reduce_scatter Latency Test", "reduce_scatter"),
        ("Allreduce Persistent Latency Test", "allreduce_persistent"),
        ("_Put Latency Test", "put_latency"),
        ("Something New Test", "something_new"),
    ],
)
def test_names(title: str, name: str) -> None:
    assert osu_name(title) == name


def test_rates_and_their_pairs(tmp_path: Path) -> None:
    found = one(tmp_path, RATES)
    assert (found.benchmark, found.unit, found.ranks, found.ppn) == ("mbw_mr", "MB/s", 30, 15)
    assert found.options["window"] == "64"
    with pytest.raises(ValueError, match="MB/s"):
        _ = found.seconds
    text = "# OSU MPI Bandwidth Test v5.6.2\n# Size      Bandwidth (MiB/s)\n1     1.00\n"
    assert one(tmp_path, text).rows[0].value == pytest.approx(1.048576)


def test_imb(tmp_path: Path) -> None:
    pingpong, some, all_, barrier = reading(tmp_path, IMB)
    assert pingpong.version == "2019 Update 6"
    # Ranks 0 and 1 of 64 share a host of 32.
    assert (pingpong.benchmark, pingpong.ranks, pingpong.ppn) == ("latency", 2, 2)
    assert (some.ranks, some.ppn, some.hosts) == (32, 32, 1)
    assert (all_.ranks, all_.ppn, all_.hosts) == (64, 32, 2)
    assert [row.value for row in (*some.rows, *all_.rows)] == [2.2, 5.2]
    assert (barrier.benchmark, barrier.rows[0].bytes, barrier.rows[0].value) == ("barrier", 0, 4.2)
    assert all_.options["datatype_for_reductions"] == "MPI_FLOAT"


@pytest.mark.parametrize(
    ("lines", "name", "ranks", "ppn"),
    [
        ("", "allreduce-ppn32.txt", None, 32),
        ("", "64ranks/ppn32/allreduce.txt", 64, 32),
        ("", "2x32/osu_allreduce.out", 64, 32),
        ("", "n/2nodes-np64.txt", 64, 32),
        ("+ srun -N 2 --ntasks-per-node=32 ./osu_allreduce -m 8", "a.txt", 64, 32),
        ("srun -n64 -N2 -c 4 osu_allreduce", "a.txt", 64, 32),
        ("mpirun -np 64 --map-by ppr:32:node /opt/osu_allreduce -i 4", "a.txt", 64, 32),
        ("mpiexec -n 64 -ppn 32 ./osu_allreduce", "a.txt", 64, 32),
        ("mpirun -np 64 -N 32 ./osu_allreduce", "ppn32.txt", 64, 32),
        ("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=32", "a.txt", 64, 32),
        ("SLURM_NTASKS=64\nSLURM_TASKS_PER_NODE=32(x2)", "a.txt", 64, 32),
        ('"num_tasks": 64, "num_tasks_per_node": 32,', "a.txt", 64, 32),
        # The command uses fewer ranks than the job.
        ("#SBATCH --nodes=4\nmpirun -np 64 -npernode 32 osu_allreduce", "a.txt", 64, 32),
    ],
)
def test_ranks(tmp_path: Path, lines: str, name: str, ranks: int | None, ppn: int) -> None:
    found = one(tmp_path, lines + ALLREDUCE, name)
    assert (found.ranks, found.ppn) == (ranks, ppn)


def test_each_command_is_of_the_benchmark_below_it(tmp_path: Path) -> None:
    jobs = [f"+ srun -N 2 -n {ranks} ./osu_allreduce\n{ALLREDUCE}" for ranks in (8, 64)]
    assert [found.ppn for found in reading(tmp_path, "".join(jobs))] == [4, 32]


def test_two_ranks_are_on_two_hosts_unless_a_command_says_otherwise(tmp_path: Path) -> None:
    assert one(tmp_path, LATENCY, "ppn32/latency.txt").hosts == 2
    assert one(tmp_path, "srun -N 1 -n 2 osu_latency\n" + LATENCY).hosts == 1
    assert one(tmp_path, "srun -N 2 -n 2 osu_latency\n" + LATENCY).hosts == 2


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            ALLREDUCE + "16\n",
            "o.txt",
            "line 6: found 1 columns, and line 3 names 5: is the file cut off",
        ),
        (ALLREDUCE + "16 1 1\n", "o.txt", "line 6: found 3 columns"),
        (ALLREDUCE + "8 1 1 1 1\n", "o.txt", "line 6: 8 B stands twice (line 5)"),
        (ALLREDUCE + "4 1 1 1 1\n", "o.txt", "line 6: 4 B follows 8 B"),
        (ALLREDUCE + "16 0.00 1 1 1\n", "o.txt", "line 6: column 'Avg Latency(us)': found '0.00'"),
        (ALLREDUCE + "16 nan 1 1 1\n", "o.txt", "found 'nan'; allowed is a number above zero"),
        (ALLREDUCE + "nan 1 1 1 1\n", "o.txt", "line 6: found 'nan' bytes; allowed are whole"),
        (ALLREDUCE + "inf 1 1 1 1\n", "o.txt", "line 6: found 'inf' bytes"),
        (ALLREDUCE + "8.5 1 1 1 1\n", "o.txt", "line 6: found '8.5' bytes"),
        (ALLREDUCE + "9e18 1 1 1 1\n", "o.txt", "whole bytes up to 1 TiB"),
        (ALLREDUCE + "16 -1 1 1 1\n", "o.txt", "found '-1'; allowed is a number above zero"),
        (ALLREDUCE.replace("(us)", "(cycles)"), "o.txt", "line 3: column 'Avg Latency(cycles)'"),
        (
            "\n".join(LATENCY.splitlines()[:2]),
            "o.txt",
            "line 2: latency: there are no rows below it",
        ),
        (RATES.replace("6144.00", "5859.38"), "o.txt", "line 5: units disagree: 5859.38 MB/s"),
        (RATES.replace("6000000.00", "0.00"), "o.txt", "line 5: units disagree: 6144 MB/s and 0"),
        (RATES.replace("6000000.00", "N/A"), "o.txt", "line 5: units disagree: 6144 MB/s and 0"),
        (IMB.replace("1024.00", "1.024"), "o.txt", "line 18: units disagree: 1.024 Mbytes/sec"),
        (
            "srun -N 2 -n 64 osu_allreduce\n" + ALLREDUCE,
            "ppn16.txt",
            "found 32 ranks per host (srun -N 2 -n 64 osu_allreduce), and the name 'ppn16.txt'",
        ),
        (
            "srun -n 64 --ntasks-per-node=32 osu_allreduce\n" + ALLREDUCE,
            "ppn16.txt",
            "line 3: found 32 ranks per host (srun",
        ),
        (
            "srun -n 64 -N 3 osu_allreduce\n" + ALLREDUCE,
            "o.txt",
            "64 ranks cannot be divided evenly",
        ),
        (ALLREDUCE, "np64-ppn24.txt", "64 ranks are not a multiple of 24 ranks per host"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(WeftError) as error:
        reading(tmp_path, text, name)
    assert str(tmp_path / name) in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe\x00\x01", b"1 2\n3 4\n"])
def test_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(NoBenchmarkError, match=r"has no output|is not text"):
        read(tmp_path / "other")


def test_a_benchmark_that_never_printed_its_columns(tmp_path: Path) -> None:
    title = ALLREDUCE.strip().splitlines()[0]
    with pytest.raises(NoBenchmarkError, match=r"ends before any result: line 1 names a bench"):
        reading(tmp_path, f"{title}\nslurmstepd: cancelled\n")
    assert [found.line for found in reading(tmp_path, f"{title}\n{ALLREDUCE}")] == [3]


def test_older_imb_counts_megabytes_of_two_to_the_twenty(tmp_path: Path) -> None:
    pingpong, *_ = reading(tmp_path, IMB.replace("1024.00", "976.56"))
    assert pingpong.rows[1].value == 1.0


def test_bytes_of_collectives() -> None:
    assert elements_of("allreduce", 4096, 64) == Elements(1024, 4)
    assert elements_of("reduce_scatter_block", 4096, 64) == Elements(16, 4)
    assert elements_of("reduce_scatter_block", 4, 64) == Elements(1, 4)
    assert elements_of("allgather", 3, 64) == Elements(3, 1)
    assert BYTES_OF["alltoall"] == "block"
