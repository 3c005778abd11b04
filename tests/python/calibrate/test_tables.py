# SPDX-License-Identifier: LGPL-2.1-only
"""Tables in the formats of the benchmark tools, and errors in them."""

from pathlib import Path

import click
import pytest

from weft.base import paths
from weft.base.errors import WeftError
from weft.calibrate.measurements.samples import read_pingpong
from weft.cli.files import measured_table

OSU = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.60
2                       1.62
4                       1.65
"""
OLD_OSU = """
# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       1.55
1                       1.60
"""
IMB = """
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.50         0.00
            1         1000         1.60         0.60
            2         1000         1.70         1.20

#---------------------------------------------------
# Benchmarking PingPing
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         9.00         0.00
            1         1000         9.00         0.11
"""
SKAMPI = """
# SKaMPI Version 5.0 rev. 355
# begin result "Pingpong_Send_Recv"
count= 1 4 3.2 0.1 8 3.2 3.1
count= 2 8 3.4 0.1 8 3.4 3.3
# end result "Pingpong_Send_Recv"
"""
CSV = "bytes,time_us\n1,2\n2,3\n4,4\n"
APART = "op,bytes,median_us\nMPI_Send,1,2\nMPI_Send,2,3\nMPI_Recv,1,10\nMPI_Recv,2,12\n"


def read(tmp_path: Path, text: str, column: str | None = None) -> tuple[list[float], list[float]]:
    path = tmp_path / "table"
    path.write_text(text)
    samples = read_pingpong(path, column).one_way
    return samples.bytes.tolist(), (samples.seconds * 1e6).tolist()


@pytest.mark.parametrize(
    ("text", "sizes", "times"),
    [
        (OSU, [1, 2, 4], [1.6, 1.62, 1.65]),
        (OLD_OSU, [0, 1], [1.55, 1.6]),
        (IMB, [0, 1, 2], [1.5, 1.6, 1.7]),
        (SKAMPI, [4, 8], [1.6, 1.7]),  # half of the round trip
        (CSV, [1, 2, 4], [2, 3, 4]),
        ("# words\nsize,time_ms\n1,2\n2,3\n", [1, 2], [2000, 3000]),
        ("bytes,rtt_us\n1,2\n2,3\n", [1, 2], [1, 1.5]),
        ("bytes,mean_us,median_us\n1,9,2\n2,9,3\n", [1, 2], [2, 3]),
        (APART, [1, 2], [6, 7.5]),
    ],
    ids=["osu", "old osu", "imb", "skampi", "csv", "unit", "round trip", "median", "apart"],
)
def test_each_format_is_read(
    tmp_path: Path, text: str, sizes: list[float], times: list[float]
) -> None:
    found = read(tmp_path, text)
    assert found[0] == sizes
    assert found[1] == pytest.approx(times)


def test_a_column_can_be_named(tmp_path: Path) -> None:
    assert read(tmp_path, "bytes,a_us,b_us\n1,1,5\n2,1,6\n", "b_us")[1] == pytest.approx([5, 6])


def test_the_shipped_tables_are_read() -> None:
    azure = read_pingpong(paths.data("p2p_azure_hc44rs_mpi.csv"))
    assert (len(azure.one_way.bytes), azure.one_way.column) == (25, "median_us")
    assert azure.send_seconds is None
    taurus = read_pingpong(paths.data("p2p_taurus_ethernet.csv"))
    assert len(taurus.one_way.bytes) == 490
    assert taurus.send_seconds is not None
    assert (taurus.send_seconds < 2 * taurus.one_way.seconds).all()


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("bytes,time_us\n", 1, "bytes", "no rows"),
        ("", 1, "bytes", "holds no table"),
        ("bytes,time_us\n1,2\n2,-3\n", 3, "time_us", "found '-3'"),
        ("bytes,time_us\n1,2\n2,0\n", 3, "time_us", "found 0"),
        ("bytes,time_us\n1,2\n2,fast\n", 3, "time_us", "found 'fast'"),
        ("bytes,time_us\n1,2\n2,nan\n", 3, "time_us", "found 'nan'"),
        ("bytes,time_us\n1,2\n2,20\n4,3\n", 4, "time_us", "must increase with the size"),
        ("bytes,time_us\n1,2\n1,2\n", 3, "bytes", "sizes must increase"),
        ("bytes,time_us\n1.5,2\n", 2, "bytes", "whole bytes"),
        ("bytes,time_us\n1,2\n2\n", 3, "time_us", "is missing: 1 of 2"),
        ("bytes,time_us\n1,2\n2,3,4\n", 3, "time_us", "are these two tables"),
        ("bytes,time_us\n1,2\nbytes,time_us\n1,3\n", 3, "bytes", "second header; put each table"),
        ("bytes,time\n1,2\n", 1, "bytes, time", "none is a time"),
        ("bytes,time_fortnights\n1,2\n", 1, "bytes, time_fortnights", "none is a time"),
        ("weight,time_us\n1,2\n", 1, "weight", "no column of message sizes"),
        ("bytes,a_us,b_us\n1,2,3\n", 1, "a_us, b_us", "choose one with column"),
        ("op,bytes,t_us\nMPI_Put,1,2\n", 2, "op", "found 'MPI_Put'"),
        (APART + "MPI_Recv,4,13\n", 6, "bytes", "only one of MPI_Send and MPI_Recv"),
        ("op,bytes,t_us\nMPI_Send,1,2\n", 2, "op", "no row of MPI_Recv"),
        (IMB.replace("PingPong", "Bcast"), 3, "benchmark", "no PingPong in this file"),
        (IMB.replace("PingPing", "PingPong"), 12, "benchmark", "a second PingPong"),
        (OSU + OLD_OSU, 10, "Size", "a second header; put each table into its own file"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_column(
    tmp_path: Path, text: str, line: int, column: str, problem: str
) -> None:
    with pytest.raises(WeftError) as error:
        read(tmp_path, text)
    message = str(error.value)
    assert message.startswith(f"{tmp_path / 'table'}: line {line}: column '{column}': ")
    assert problem in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("column", "problem"),
    [("t_us", "did you mean time_us?"), ("bytes", "unknown unit ''")],
)
def test_a_column_that_cannot_be_taken_is_named(tmp_path: Path, column: str, problem: str) -> None:
    with pytest.raises(WeftError, match=rf"line 1: column '{column}': .*") as error:
        read(tmp_path, CSV, column)
    assert problem in str(error.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WeftError, match="is not text: line 1 is not UTF-8"):
        read_pingpong(path)


def test_shipped_tables_have_names_on_the_command_line() -> None:
    assert measured_table.convert("p2p_azure_hc44rs_mpi", None, None) == paths.data(
        "p2p_azure_hc44rs_mpi.csv"
    )
    with pytest.raises(click.BadParameter, match=r"no such file.*p2p_azure_hc44rs_mpi"):
        measured_table.convert("p2p_azure", None, None)


def test_a_file_goes_before_a_shipped_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p2p_alaska_ib").write_text("bytes,a_us\n1,1\n")
    assert measured_table.convert("p2p_alaska_ib", None, None) == Path("p2p_alaska_ib")
