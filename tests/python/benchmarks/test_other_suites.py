# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of nccl-tests, rccl-tests, ucc_perftest, ucx_perftest and perftest."""

from pathlib import Path

import pytest

from weft.base.errors import WeftError
from weft.benchmarks.output import Measured, NoBenchmarkError, read
from weft.calibrate.cluster.folder import read_folder
from weft.calibrate.measurements.samples import read_allreduce, read_pingpong
from weft.calibrate.measurements.tables import read_table

NCCL_HEAD = """# nThread 1 nGpus 1 minBytes 64 maxBytes 8192 step: 2(factor) iters: 20
#
# Using devices
"""
NCCL_COLUMNS = """#
#                                                        out-of-place             in-place
#       size    count      type   redop    root     time   algbw   busbw #wrong     time   algbw   \
busbw #wrong
#        (B)    (elements)                          (us)  (GB/s)  (GB/s)            (us)  (GB/s)  \
(GB/s)
"""


def devices(hosts: int, each: int) -> str:
    return "".join(
        f"#  Rank {host * each + gpu:2} Group  0 Pid {900 + gpu} on n-{host} device {gpu} [0] X\n"
        for host in range(hosts)
        for gpu in range(each)
    )


def row(size: int, count: int, redop: str = "sum", root: int = -1, us: float = 20.0) -> str:
    return (
        f"{size:12} {count:12}     float {redop:>7} {root:7}   {us:6.2f}    0.10    0.15       0"
        f"   {us + 1:6.2f}    0.10    0.15    N/A\n"
    )


def nccl(test: str, rows: str, hosts: int = 2, each: int = 4) -> str:
    named = f"# nccl-tests version 2.17.6 nccl-headers=22703\n# Collective test starting: {test}\n"
    return named + NCCL_HEAD + devices(hosts, each) + NCCL_COLUMNS + rows + "# Out of bounds values"


def reading(folder: Path, text: str, name: str = "out.txt") -> tuple[Measured, ...]:
    (folder / name).write_text(text)
    return read(folder / name, folder)


def one(folder: Path, text: str, name: str = "out.txt") -> Measured:
    (found,) = reading(folder, text, name)
    return found


def test_sizes_types_times_and_ranks_of_nccl_tests(tmp_path: Path) -> None:
    found = one(tmp_path, nccl("all_reduce_perf", row(64, 16) + row(128, 32, us=21.5)))
    assert (found.suite, found.version, found.benchmark) == ("nccl-tests", "2.17.6", "allreduce")
    assert (found.ranks, found.ppn, found.unit) == (8, 4, "us")
    assert [(one.bytes, one.value) for one in found.rows] == [(64, 20.0), (128, 21.5)]
    assert found.rows[0].columns["in-place time"] == 21.0
    assert found.options["datatype"] == "MPI_FLOAT"
    assert found.options["op"] == "MPI_SUM"
    assert "GPU buffers" in found.notes[0]


@pytest.mark.parametrize(
    ("test", "name", "count", "bytes_"),
    [
        ("all_gather_perf", "allgather", 2, 8),
        ("alltoall_perf", "alltoall", 2, 8),
        ("gather_perf", "gather", 2, 8),
        ("reduce_scatter_perf", "reduce_scatter_block", 2, 64),
        ("broadcast_perf", "bcast", 16, 64),
        ("reduce_perf", "reduce", 16, 64),
    ],
)
def test_sizes_become_those_of_osu(
    tmp_path: Path, test: str, name: str, count: int, bytes_: int
) -> None:
    found = one(tmp_path, nccl(test, row(0, 0, "none") + row(64, count, "none", 0)))
    assert (found.benchmark, [one.bytes for one in found.rows]) == (name, [bytes_])


def test_columns_of_old_versions(tmp_path: Path) -> None:
    """Old outputs lack redop, root and the head's `#`, and use `error` instead of `#wrong`."""
    text = """./all_gather_perf -b 64 -e 64 -g 2
nThread 1 nGpus 2 minBytes 64 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
  Rank  0 Pid    7 on a device  0 [0x00] X
  Rank  1 Pid    7 on a device  1 [0x00] X
                                           out-of-place                 in-place
       size     count    type     time   algbw   busbw  error     time   algbw   busbw  error
        (B)    (elements)         (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
         64         8   float    16.50    1.98    1.98  2e-07    13.83    2.37    2.37  2e-07
"""
    found = one(tmp_path, text)
    assert (found.benchmark, found.ranks, found.ppn) == ("allgather", 2, 2)
    assert [(one.bytes, one.value) for one in found.rows] == [(32, 16.5)]


def test_units_in_the_head_and_milliseconds(tmp_path: Path) -> None:
    head = "# size(B) count(elements) type redop time(ms) algbw(GB/s) busbw(GB/s) error\n"
    found = one(
        tmp_path, "all_reduce_perf\n" + head + "4096 1024 float sum 0.050 0.08 0.08 0e+00\n"
    )
    assert [(one.bytes, one.value) for one in found.rows] == [(4096, 50.0)]
    # The first versions name no unit, which follows from the rate next to a time.
    head = "#  bytes  N  type  op  time  algbw  busbw  res\n"
    found = one(tmp_path, "all_reduce_perf\n" + head + "8388608 8388608 char sum 2.0 4.19 4.19 0\n")
    assert found.rows[0].value == 2000.0


def test_a_table_alone_tells_ranks_and_test(tmp_path: Path) -> None:
    """Posts omit the list of devices, but busbw / algbw is 2 (n - 1) / n."""
    rows = (
        "  16777216   4194304  float  sum  -1   946.44   17.73   33.24   0"
        "   946.44   17.73   33.24   0\n"
    )
    found = one(tmp_path, NCCL_COLUMNS + rows)
    assert (found.benchmark, found.ranks) == ("allreduce", 16)
    found = one(tmp_path, NCCL_COLUMNS + row(128, 4))
    assert (found.benchmark, found.ranks) == ("reduce_scatter_block", 8)
    with pytest.raises(WeftError, match=r"line 3: .* names no test, and its columns fit several"):
        reading(tmp_path, NCCL_COLUMNS + row(128, 4, "none"))
    assert one(tmp_path, NCCL_COLUMNS + row(128, 4, "none"), "alltoall_8.txt").ranks == 8


def test_processes_with_several_gpus(tmp_path: Path) -> None:
    """If the list of devices is shortened, the command counts: its processes have 4 GPUs each."""
    text = "mpirun -np 4 -npernode 2 all_reduce_perf -g 4\n" + NCCL_HEAD.replace(
        "nGpus 1", "nGpus 4"
    )
    found = one(tmp_path, text + devices(1, 2) + NCCL_COLUMNS + row(64, 16))
    assert (found.ranks, found.ppn) == (16, 8)


def test_each_type_operation_and_repeat_is_a_benchmark(tmp_path: Path) -> None:
    rows = row(64, 16) + row(64, 16) + row(64, 16, "max") + row(64, 16).replace("float", " half")
    found = reading(tmp_path, nccl("all_reduce_perf", rows))
    options = [(one.options["datatype"], one.options["op"]) for one in found]
    assert options == [("MPI_FLOAT", "MPI_SUM")] * 2 + [
        ("MPI_FLOAT", "MPI_MAX"),
        ("MPI_SHORT", "MPI_SUM"),
    ]
    assert "half is simulated as MPI_SHORT" in found[-1].notes[1]


def test_prefixes_of_launchers(tmp_path: Path) -> None:
    text = nccl("all_reduce_perf", row(64, 16))
    tagged = "".join(f"[1,0]<stdout>:{line}\n" for line in text.splitlines())
    labelled = "".join(f" 0: {line}\n" for line in text.splitlines())
    escaped = text.replace("#", "\\#").replace("\\#wrong", "#wrong")
    indented = "".join(f"   {line}\n" for line in tagged.splitlines())
    quoted = "# Results\n\nOn two hosts:\n\n" + labelled + "\nAs expected.\n" * 9
    known = [(found.bytes, found.columns) for found in one(tmp_path, text).rows]
    for prefixed in (tagged, labelled, escaped, indented, quoted):
        assert [(found.bytes, found.columns) for found in one(tmp_path, prefixed).rows] == known


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            nccl("all_reduce_perf", row(64, 16).replace("       0", "       3")),
            r"line 18: nccl-tests found 3 wrong results of 64 B \(#wrong\)",
        ),
        (
            nccl("all_reduce_perf", row(64, 16)) + " : 8 FAILED\n",
            r"line 19: nccl-tests found 8 values out of bounds \(FAILED\)",
        ),
        (
            nccl("all_reduce_perf", row(64, 16)).replace("Rank  1", "Rank  0"),
            r"line 7: rank 0 of nccl-tests stands twice \(line 6\).* build it with MPI=1",
        ),
        (
            nccl("all_reduce_perf", row(64, 16).replace("float", "fp3")),
            r"column 'type': found 'fp3'; known types are",
        ),
        (
            nccl("all_reduce_perf", row(64, 16)[:60] + "\n"),
            r"line 18: found 6 columns, and line 16 names 13: is the file cut off",
        ),
        (nccl("all_reduce_perf", ""), "there are no rows below it"),
    ],
)
def test_bad_outputs_of_nccl_tests(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(WeftError, match=problem):
        reading(tmp_path, text)


def test_several_communicators_are_not_calibrated(tmp_path: Path) -> None:
    text = nccl("all_reduce_perf", row(64, 16)).replace("Rank  1 Group  0", "Rank  1 Group  1")
    (tmp_path / "split.txt").write_text(text)
    (tmp_path / "whole.txt").write_text(nccl("all_reduce_perf", row(64, 16)))
    evidence = read_folder(tmp_path)
    assert evidence.unused == [("split.txt: allreduce", "several communicators at the same time")]
    (key,) = evidence.collectives
    assert (key.collective, key.ranks, key.ppn, key.bytes) == ("allreduce", 8, 4, 64)
    assert evidence.methods[key].back_to_back


# ---- ucc_perftest --------------------------------------------------------------------------------

UCC = """mpirun -np 8 --map-by ppr:4:node ucc_perftest -c allreduce -F
Collective:             Allreduce
Memory type:            host
Datatype:               float32
Reduction:              max

       Count        Size                Time, us                           Bandwidth, GB/s
                                 avg         min         max         avg         max         min
         128         512        6.48        5.76        7.18        0.14        0.15        0.12
         256        1024        7.65        7.19        8.10        0.23        0.25        0.22
"""


def test_ucc_perftest(tmp_path: Path) -> None:
    found = one(tmp_path, UCC)
    assert (found.suite, found.benchmark) == ("ucc_perftest", "allreduce")
    assert (found.ranks, found.ppn, found.memory) == (8, 4, "HOST")
    assert found.options["datatype"] == "MPI_FLOAT"
    assert found.options["op"] == "MPI_MAX"
    assert [(one.bytes, one.value) for one in found.rows] == [(512, 6.48), (1024, 7.65)]
    assert one(tmp_path, UCC.replace("host", "cuda")).memory == "CUDA"


def test_reduce_scatter_of_ucc_is_a_vector_or_a_part(tmp_path: Path) -> None:
    """512 B in 1 us are 0.448 GB/s for a vector of 8 ranks, and 8 times as much for a block."""
    text = UCC.replace("Allreduce", "Reduce_scatter").rpartition("         256")[0]
    for rate, size in ((0.45, 512), (3.58, 4096)):
        found = one(tmp_path, text.replace("6.48 ", "1.00 ").replace("0.14 ", f"{rate} "))
        assert (found.benchmark, found.rows[0].bytes) == ("reduce_scatter_block", size)


def test_barrier_of_ucc_has_no_size(tmp_path: Path) -> None:
    text = UCC.replace("Allreduce", "Barrier").rpartition("         256")[0]
    found = one(tmp_path, text.replace("         128         512", "         N/A         N/A"))
    assert [(one.bytes, one.value) for one in found.rows] == [(0, 6.48)]


# ---- ucx_perftest and perftest -------------------------------------------------------------------

UCX_HEAD = """+--------------+--------------+------------------------------+---------+
|              |              |       latency (usec)     |  bandwidth (MB/s)  |  rate (msg/s) |
|   Stage  | # iterations | 50.0%ile | average | overall |  average |  overall | average | overall |
"""


def ucx(options: str, final: str, head: str = "latency ") -> str:
    text = UCX_HEAD.replace("latency ", head)
    progress = "[thread 0]       500     1.0     1.0     1.0     1.0     1.0     1     1\n"
    return (
        f"$ ucx_perftest node1 {options}\n" + text + progress + f"Final:       1000     {final}\n"
    )


def test_runs_of_ucx_perftest_are_one_benchmark(tmp_path: Path) -> None:
    runs = ucx("-t tag_lat", "1.1 1.2 1.25 6.1 6.1 800000 800000")
    runs += ucx("-t tag_lat -s 4k", "3.1 3.2 3.25 1200 1200 300000 300000")
    found = one(tmp_path, runs)
    assert (found.suite, found.benchmark, found.hosts) == ("ucx_perftest", "latency", 2)
    assert [(one.bytes, one.value) for one in found.rows] == [(8, 1.25), (4096, 3.25)]


def test_an_indented_output_of_ucx_perftest(tmp_path: Path) -> None:
    text = ucx("-t tag_lat -s 64", "1.1 1.2 1.25 6.1 6.1 800000 800000")
    quoted = "".join(f"    {line}" for line in text.splitlines(keepends=True))
    assert one(tmp_path, quoted).rows[0].bytes == one(tmp_path, text).rows[0].bytes == 64


def test_streams_of_ucx_perftest_are_in_binary_megabytes(tmp_path: Path) -> None:
    found = one(
        tmp_path, ucx("-t tag_bw -s 1m -O 16", "0.2 90 90 11000 11000 11000 11000", "overhead ")
    )
    assert (found.benchmark, found.unit, found.options["window"]) == ("bw", "MB/s", "16")
    assert found.rows[0].bytes == 1 << 20
    assert found.rows[0].value == pytest.approx(11000 * 1.048576)


def test_memory_and_continued_commands_of_ucx_perftest(tmp_path: Path) -> None:
    text = ucx("-t put_lat -m cuda,host", "1.1 1.2 1.25 6.1 6.1 800000 800000")
    found = one(tmp_path, text)
    assert (found.memory, found.options["test"]) == ("CUDA", "put_lat")
    continued = text.replace("-t put_lat", "\\\n  -t put_lat")
    assert continued != text
    assert one(tmp_path, continued).options["test"] == "put_lat"


def test_a_run_of_ucx_perftest_that_was_stopped(tmp_path: Path) -> None:
    lines = ["[thread 0] 100 1.1 1.2 1.3 6.1 6.1 800000 800000"]
    lines.append("[thread 0] 200 1.1 1.2 1.25 6.1 6.1 800000 800000")
    text = ucx("-t tag_lat", "0 0 0 0 0 0 0")
    head = "\n".join(line for line in text.splitlines() if not line.startswith("Final"))
    found = one(tmp_path, head + "\n" + "\n".join(lines) + "\n")
    assert [(one.bytes, one.value) for one in found.rows] == [(8, 1.25)]


UCC_TABLE = """       Count        Size                Time, us
                                 avg         min         max
        1024        4096        9.54        8.80       10.84
        2048        8192       14.96       14.38       16.42
"""


def test_a_table_of_ucc_perftest_without_its_settings(tmp_path: Path) -> None:
    command = "$ mpirun -np 4 ucc_perftest -c allgather -m cuda -d float32 -b 1k -e 2k\n"
    found = one(tmp_path, command + UCC_TABLE)
    assert (found.suite, found.benchmark, found.ranks) == ("ucc_perftest", "allgather", 4)
    assert (found.memory, found.options["datatype"]) == ("CUDA", "MPI_FLOAT")
    assert [(one.bytes, one.value) for one in found.rows] == [(4096, 9.54), (8192, 14.96)]
    with pytest.raises(
        WeftError, match=r"line 1: .* does not name its collective; put its command"
    ):
        reading(tmp_path, UCC_TABLE)


def test_size_of_ucx_perftest_without_a_command(tmp_path: Path) -> None:
    text = ucx("", "3.1 3.2 3.25 1171.88 1171.88 300000 300000").partition("\n")[2]
    assert one(tmp_path, text).rows[0].bytes == 4096
    with pytest.raises(WeftError, match="does not state the size of its messages"):
        reading(tmp_path, text.replace("300000 300000", "601 601"))


VERBS = """                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 TX depth        : 64
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 2          5000             8.00               7.50                 3.9
 65536      5000             0.00               11000.00             0.18
"""
VERBS_LATENCY = """                    Send Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    \
99% percentile[usec]
 2       1000          0.85           3.01         0.90               0.91            1.10
 4       1000          0.86           3.01         0.90               0.92            1.10
"""


def test_perftest(tmp_path: Path) -> None:
    found = one(tmp_path, VERBS)
    assert (found.suite, found.benchmark, found.options["window"]) == ("perftest", "bw", "64")
    assert [one.value for one in found.rows] == pytest.approx([7.5 * 1.048576, 11000 * 1.048576])
    gbits = VERBS.replace("MB/sec", "Gb/sec").replace("11000.00", "97.00")
    assert one(tmp_path, gbits).rows[1].value == 97 * 125
    found = one(tmp_path, VERBS_LATENCY)
    assert (found.benchmark, found.unit, found.hosts) == ("latency", "us", 2)
    assert [(one.bytes, one.value) for one in found.rows] == [(2, 0.91), (4, 0.92)]
    reads = VERBS_LATENCY.replace("Send", "RDMA_Read")
    assert one(tmp_path, reads).benchmark == "get_latency"
    alone = "ib_read_bw -a node1\n" + VERBS.partition("---\n")[2]
    assert one(tmp_path, alone).benchmark == "get_bw"
    both = VERBS.replace("BW Test", "Bidirectional BW Test")
    assert one(tmp_path, both).benchmark == "bibw"
    with pytest.raises(WeftError, match=r"line 7: column 'BW average\[MB/sec\]': found '0.00'"):
        reading(tmp_path, VERBS.replace("11000.00", "0.00"))


# ---- All readers of measurements
# ---------------------------------------------------------------------


def test_tables_of_other_suites(tmp_path: Path) -> None:
    path = tmp_path / "nccl.txt"
    path.write_text(nccl("all_reduce_perf", row(64, 16) + row(128, 32)))
    assert read_allreduce(path).by_size() == pytest.approx({64: 20.0, 128: 20.0})
    table = read_table(path, "Allreduce")
    assert table.method().back_to_back
    assert table.method("nccl-tests").name == "nccl-tests"
    with pytest.raises(WeftError, match=r"found osu, and .* is of nccl-tests"):
        table.method("osu")
    with pytest.raises(WeftError, match="found allreduce of nccl-tests; wanted is latency"):
        read_pingpong(path)
    path.write_text(VERBS_LATENCY)
    assert read_pingpong(path).one_way.by_size() == pytest.approx({2: 0.91, 4: 0.92})
    path.write_text(VERBS)
    assert read_table(path, "Bandwidth").names == ("bytes", "stream_GBps")


def test_mpi_latencies_are_preferred_to_those_below(tmp_path: Path) -> None:
    (tmp_path / "ib_send_lat.txt").write_text(VERBS_LATENCY)
    assert [one.suite for one in read_folder(tmp_path).latency] == ["perftest"]
    osu = "# OSU MPI Latency Test v7.4\n# Size   Latency (us)\n8    1.5\n16    1.6\n"
    (tmp_path / "osu.txt").write_text(osu)
    evidence = read_folder(tmp_path)
    assert [one.suite for one in evidence.latency] == ["OSU"]
    assert evidence.unused == [
        (
            "ib_send_lat.txt: perftest",
            "messages without an MPI library; a ping-pong of MPI is there",
        )
    ]


def test_other_files_are_refused_by_the_names_of_what_is_read(tmp_path: Path) -> None:
    with pytest.raises(NoBenchmarkError, match="OSU micro-benchmarks, IMB, nccl-tests, ucc_perf"):
        reading(tmp_path, "hello\n")
