# SPDX-License-Identifier: LGPL-2.1-only
"""`weft validate` on users' tables: errors of the model, and diagnostics for invalid tables."""

import json
from pathlib import Path

import pytest

from tests.support import simulated

SIZES = "# from my cluster\n# benchmark: loop\nbytes,time_us\n4,7.9\n1024,8.0\n65536,14\n"
RANKS = "ranks,nodes,mine_us\n2,2,6.4\n4,4,7.2\n8,4,8.9\n"
COLLECTIVES = "collective,ranks,ppn,bytes,time_us\nbcast,4,1,1024,5\nallgather,4,1,4096,10.2\n"
ON = ("--fabric", "tofino-4")
STREAM = (*ON, "--mode", "stream")
OPEN_MPI = (*ON, "--mode", "openmpi-5.0")


def validate(folder: Path, text: str, *options: str) -> simulated.Result:
    table = folder / "own.csv"
    table.write_text(text)
    said = () if "benchmark" in f"{text}{options}" else ("--benchmark", "osu")
    return simulated.run_command([*simulated.WEFT, "validate", str(table), *options, *said])


def test_rows_and_errors_of_a_table_by_size(tmp_path: Path) -> None:
    written = tmp_path / "errors.json"
    result = validate(tmp_path, SIZES, *STREAM, "--mean", "0.02", "--json", str(written))
    assert result.status == 1
    assert "BOUND EXCEEDED" in result.stdout
    (check,) = json.loads(written.read_text())["checks"]
    simulated_us = [7.192, 7.292, 14.11]
    assert [one["simulated_us"] for one in check["points"]] == pytest.approx(simulated_us, rel=1e-3)
    assert [one["measured_us"] for one in check["points"]] == pytest.approx([7.9, 8.0, 14])
    assert check["mean_error"] == pytest.approx(0.0672, rel=0.01)
    assert not check["holds"]
    assert "65536    14.000     14.102  +0.7%" in result.stdout


def test_a_table_by_ranks_and_one_of_collectives(tmp_path: Path) -> None:
    by_ranks = validate(tmp_path, RANKS, *STREAM, "--bytes", "256", "--worst", "0.5")
    assert by_ranks.status == 0, by_ranks.stderr
    assert "8     8.900" in by_ranks.stdout
    both = validate(tmp_path, COLLECTIVES, *OPEN_MPI)
    assert both.status == 0, both.stderr
    assert "own bcast" in both.stdout
    assert "own allgather" in both.stdout


def test_calls_are_timed_as_their_benchmark_does(tmp_path: Path) -> None:
    """OSU's barrier releases one of four ranks later than the other three, which wait for it."""
    written = tmp_path / "errors.json"
    times = {}
    for name in ("loop", "osu", "imb 4.1", "imb 2018", "imb 2021.3", "ucc_perftest"):
        text = f"# benchmark: {name}\nbytes,time_us\n1024,8.0\n"
        result = validate(tmp_path, text, *STREAM, "--json", str(written))
        assert result.status == 0, result.stderr
        (check,) = json.loads(written.read_text())["checks"]
        times[name] = check["points"][0]["simulated_us"]
    assert times["osu"] == times["imb 2021.3"] == times["ucc_perftest"]
    assert (
        times["loop"]
        == times["imb 4.1"]
        == times["imb 2018"]
        == pytest.approx(times["osu"] - 0.59, abs=0.02)
    )


def test_benchmarks_that_cannot_be_told_are_one_message(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    for comments, options, message in (
        ("", (), "own.csv: names no benchmark, and they time collectives differently; give"),
        ("# benchmark: skampi\n", (), "own.csv: line 1: found 'skampi'"),
        (
            "# by osu_allreduce\n# and by ucc_perftest\n",
            (),
            "own.csv: line 2: found the benchmarks osu (line 1) and ucc_perftest (line 2)",
        ),
        ("# OSU 7.4\n", ("--benchmark", "loop"), "--benchmark: found loop, and"),
    ):
        table.write_text(comments + "bytes,time_us\n4,7.9\n")
        command = [*simulated.WEFT, "validate", str(table), *STREAM, *options]
        result = simulated.run_command(command)
        assert (result.status, result.stderr.count("\n")) == (2, 1)
        assert message in result.stderr


def test_messages_between_two_hosts(tmp_path: Path) -> None:
    times = validate(tmp_path, "bytes,half_rtt_us\n8,2.4\n1024,3.4\n", *ON, "--mode", "pingpong")
    assert times.status == 0, times.stderr
    rates = "bytes,stream_GBps\n1048576,12\n4194304,12.1\n"
    result = validate(tmp_path, rates, *ON, "--mode", "bandwidth")
    assert result.status == 0, result.stderr
    assert "bandwidth (GB/s)" in result.stdout


WRONG = {
    "a text": ("bytes,time_us\n4,much\n", STREAM, "line 2: column 'time_us': found 'much'"),
    "a time of zero": ("bytes,time_us\n4,0\n", STREAM, "line 2: column 'time_us': found 0"),
    "not a number": ("bytes,time_us\n4,nan\n", STREAM, "line 2: column 'time_us': found 'nan'"),
    "a size twice": ("bytes,time_us\n4,1\n4,2\n", STREAM, "line 3: column 'bytes': 4 B follows 4"),
    "odd bytes": ("bytes,time_us\n6,1\n", STREAM, "line 2: column 'bytes': found 6; Allreduces"),
    "a cell too few": ("bytes,time_us\n4\n", STREAM, "line 2: column 'time_us': is missing"),
    "no unit": ("bytes,time\n4,1\n", STREAM, "line 1: column 'bytes, time': none is a time"),
    "no rows": ("bytes,time_us\n", STREAM, "there are no rows below it"),
    "no even row": ("bytes,time_us\n4,1\n", (*STREAM, "--rows", "even"), "--rows: "),
    "too many hosts": (SIZES, (*STREAM, "--ranks", "9"), "--ranks: found 9, one on each host"),
    "no such mode": (SIZES, (*ON, "--mode", "strem"), "did you mean stream?"),
    "no mode": (SIZES, ON, "--mode: is missing"),
    "no fabric": (SIZES, ("--mode", "stream"), "--fabric: is missing"),
    "no such column": (SIZES, (*STREAM, "--column", "tim_us"), "did you mean time_us?"),
    "no size": (RANKS, STREAM, "--bytes: "),
    "no nodes": (
        "ranks,time_us\n2,1\n",
        (*STREAM, "--bytes", "4"),
        "column 'nodes': there is none",
    ),
    "uneven ranks": (
        "ranks,nodes,a_us\n5,2,1\n",
        (*STREAM, "--bytes", "4"),
        "line 2: column 'nodes': 5 ranks cannot be divided evenly among 2 hosts",
    ),
    "more hosts than there are": (
        "ranks,nodes,a_us\n2,2,1\n8,8,1\n",
        (*STREAM, "--bytes", "4"),
        "line 3: column 'nodes': 8 hosts, and tofino-4 has 4",
    ),
    "switches and collectives": (COLLECTIVES, STREAM, "--mode: found 'stream'"),
    "an unknown collective": (
        COLLECTIVES.replace("bcast", "bcst"),
        OPEN_MPI,
        "line 2: column 'collective': found 'bcst'",
    ),
    "no rate": (SIZES, (*ON, "--mode", "bandwidth"), "no rate in GB/s"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_message_with_its_place(tmp_path: Path, case: str) -> None:
    text, options, says = WRONG[case]
    result = validate(tmp_path, text, *options)
    assert (result.status, result.stdout) == (2, "")
    (said,) = result.stderr.splitlines()
    assert says in said


def test_two_tables_of_one_name_and_options_without_a_table(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    tables = [tmp_path / "a" / "own.csv", tmp_path / "b" / "own.csv"]
    for table in tables:
        table.write_text(SIZES)
    command = [*simulated.WEFT, "validate", *map(str, tables), *STREAM]
    assert "two have the name 'own'" in simulated.run_command(command).stderr
    alone = simulated.run_command([*simulated.WEFT, "validate", *STREAM])
    assert alone.status == 2
    assert "--fabric: applies to your own TABLE" in alone.stderr
