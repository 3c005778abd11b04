# SPDX-License-Identifier: LGPL-2.1-only
"""OSU's micro-benchmarks in weft: measurements, output, and rejected arguments."""

import csv
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import weft as weft_api
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import weft_says as weft
from weft.base import paths
from weft.base.errors import WeftError
from weft.benchmarks.output import read
from weft.runs.launch import prepare
from weft.runs.launch import run as launched
from weft.runs.options import DEFAULT_FALLBACK
from weft.runs.request import Request
from weft.runs.toolchain import call_tool, compile_c
from weft.study.bench import like as likeness
from weft.study.bench import micro_benchmarks as api
from weft.study.bench import osu_format
from weft.study.bench.benchmarks import BENCHMARKS, OPERATIONS, TYPES, Benchmark, find
from weft.study.bench.micro_benchmarks import Study, Time
from weft.study.bench.modes import Way

STAR = "star-8"


def study(name: str, ranks: int, *sizes: int, ppn: int | None = None, **more: object) -> Study:
    one = find(name)
    modes = (DEFAULT_FALLBACK,) if one.collective else ()
    given = {"modes": modes, "type": one.default_type, **more}
    return Study(one, STAR, [ranks], [ppn], sizes or (0,), **given)  # type: ignore[arg-type]


def figures(name: str, ranks: int, *sizes: int, **more: object) -> list[dict[str, float]]:
    return [dict(row.figures) for row in api.run(study(name, ranks, *sizes, **more))]  # type: ignore[arg-type]


# ---- Measurements


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_measures(name: str) -> None:
    one = BENCHMARKS[name]
    ranks = 4 if one.collective or one.pairs else 2
    sizes = {"nothing": (0,), "element": (8,)}.get(one.sized, (64, 4096))
    rows = api.run(study(name, ranks, *sizes, type="double" if one.sums else "char"))
    assert [row.bytes for row in rows] == (
        [8]
        if one.sized == "element" and one.sums
        else [1]
        if one.sized == "element"
        else list(sizes)
    )
    for row in rows:
        assert list(row.figures) == [column.key for column in one.columns]
        assert 0 < row.figure < 1e6
        assert all(math.isfinite(number) for number in row.figures.values())


def test_one_pair_is_what_two_ranks_are() -> None:
    (many,), (two,) = figures("mbw_mr", 2, 65536), figures("bw", 2, 65536)
    # A barrier precedes each window, and the sender may leave it later: by 2 of 358 us.
    assert many["bandwidth_MBps"] == pytest.approx(two["bandwidth_MBps"], rel=1e-2)
    assert many["messages_per_s"] * 65536 / 1e6 == pytest.approx(many["bandwidth_MBps"])
    (pair,), (alone,) = figures("multi_lat", 2, 1024), figures("latency", 2, 1024)
    assert pair["latency_us"] == pytest.approx(alone["latency_us"], rel=1e-3)


def test_the_nic_limits_the_messages_of_all_pairs() -> None:
    """Four pairs send at the NIC's rate; a ping-pong takes as long as without a rate limit."""
    command = "bench mbw_mr --fabric star-8 -n 8 --ppn 4 --sizes 8 --format osu"
    free, bound = (
        weft(*command.split(), *more) for more in ((), ("--set", "nic.message_rate=1MHz"))
    )
    assert bound.returncode == 0, bound.stderr
    rates = [float(one.stdout.split()[-1]) for one in (free, bound)]
    assert rates[0] > 2e6
    # Windows pass the NIC sequentially, and OSU averages the times of the pairs.
    assert 1e6 <= rates[1] < 1.25e6
    command = "bench latency --fabric star-8 --sizes 8 --format osu"
    free, bound = (
        weft(*command.split(), *more) for more in ((), ("--set", "nic.message_rate=1MHz"))
    )
    assert bound.stdout.split()[-1] == free.stdout.split()[-1]


def test_a_message_rate_needs_wefts_messages() -> None:
    program = str(compiled.program(TESTS / "smpi" / "pingpong.c"))
    options = ("--messages", "smpi", "--set", "nic.message_rate=1MHz")
    result = weft("run", "--fabric", "star-8", "-n", "2", *options, "--", program)
    assert result.returncode == 2
    assert "[nic] message_rate" in result.stderr


def test_two_directions_carry_twice_as_much_and_windows_hide_latency() -> None:
    (both,), (one,) = figures("bibw", 2, 1 << 20), figures("bw", 2, 1 << 20)
    assert both["bandwidth_MBps"] == pytest.approx(2 * one["bandwidth_MBps"], rel=0.05)
    (narrow,) = figures("bw", 2, 1024, window=1)
    (wide,) = figures("bw", 2, 1024, window=64)
    assert wide["bandwidth_MBps"] > 4 * narrow["bandwidth_MBps"]


def test_a_get_accumulate_crosses_the_network_twice() -> None:
    (put,), (there_and_back,) = figures("put_latency", 2, 8), figures("get_acc_latency", 2, 8)
    assert there_and_back["latency_us"] == pytest.approx(2 * put["latency_us"], rel=0.02)


def test_the_overlap_is_osus() -> None:
    (row,) = figures("iallreduce", 8, 65536, changes=("mpi.progress=thread",))
    (blocking,) = figures("allreduce", 8, 65536)
    share = (row["overall_us"] - row["compute_us"]) / row["pure_us"]
    assert row["overlap_percent"] == pytest.approx(max(0, 100 * (1 - share)), abs=1e-6)
    # No other rank computes: the call completes during the computation, which takes equally long.
    assert row["compute_us"] == pytest.approx(row["pure_us"], rel=1e-3)
    assert row["overlap_percent"] > 99
    assert row["pure_us"] > 0.5 * blocking["latency_us"]
    (alone,) = figures("iallreduce", 8, 65536)  # progresses only in its two calls
    assert 0 < alone["overlap_percent"] < 50


def test_a_reduce_scatter_has_bytes_of_the_whole_vector() -> None:
    """In osu_reduce_scatter.c, the size is that of the whole vector, split among the ranks."""
    (whole,) = figures("reduce_scatter_block", 8, 1 << 20)
    (vector,) = figures("allreduce", 8, 1 << 20)
    assert whole["latency_us"] < vector["latency_us"]


def test_each_rank_gets_an_element_of_a_reduce_scatter_block() -> None:
    """A call without elements would take no time and measure nothing."""
    one = find("ireduce_scatter_block")
    assert one.sizes("int", 12) == "64:1048576"
    assert one.sizes("double", 1 << 20) == "8388608:8388608"
    with pytest.raises(WeftError, match=r"found 32 bytes; MPI_Ireduce_scatter_block gives each"):
        api.check(study("ireduce_scatter_block", 12, 32, 64, type="int"))
    api.check(study("reduce_scatter", 12, 4, type="int"))


def test_calls_back_to_back_are_those_of_a_loop() -> None:
    """With four ranks, Open MPI's barrier releases one rank later than the other three."""
    program = compiled.example("allreduce_latency")
    lines: list[str] = []
    asked = Request.of(
        fabric=STAR,
        ranks=4,
        program=str(program),
        arguments=("256", "50"),
        offload="off",
        fallback=DEFAULT_FALLBACK,
    )
    assert launched(prepare(asked), lines.append).exit_status == 0
    (found,) = figures("allreduce", 4, 256, back_to_back=True, iterations=50)
    (osus,) = figures("allreduce", 4, 256)
    assert found["latency_us"] == pytest.approx(float(lines[-1].split()[1]), rel=0.005)
    assert osus["max_us"] > 1.2 * found["max_us"]


def test_the_iterations_do_not_matter() -> None:
    few, many = (figures("alltoall", 8, 4096, iterations=n) for n in (2, 30))
    assert few[0]["latency_us"] == pytest.approx(many[0]["latency_us"], rel=1e-6)


def test_percentiles_are_of_single_calls() -> None:
    (row,) = api.run(study("allreduce", 4, 1024, percentiles=(0.0, 100.0)))
    low, high = row.percentiles_us.values()
    assert low == pytest.approx(row.figures["min_us"], rel=1e-6)
    assert high == pytest.approx(row.figures["max_us"], rel=1e-6)


def test_types_and_operations_are_those_of_the_programs() -> None:
    for kind in TYPES:
        for op in OPERATIONS:
            if kind in ("float", "double") and op[0] == "b":
                with pytest.raises(WeftError, match=f"op: found {op} with MPI_{kind.upper()}"):
                    api.check(study("allreduce", 2, 64, type=kind, op=op))
    rows = api.run(study("allreduce", 2, 64, type="double", op="max", iterations=1))
    assert rows[0].figure > 0


@pytest.mark.parametrize(
    "arguments",
    ["", "allreduce", "allreduce x", "allreduce 4,", "nothing 4", "allreduce 4 type=int8",
     "allreduce 4 iterations=0", "allreduce 4 op=avg", "bw 4", "allreduce 4 each more"],
)  # fmt: skip
def test_the_programs_refuse_what_they_do_not_understand(arguments: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    compile_c(paths.example("benchmark_collectives.c"), program)
    asked = Request.of(
        fabric=STAR, ranks=2, program=str(program), arguments=tuple(arguments.split())
    )
    assert launched(prepare(asked), lambda line: None).exit_status == 2


# ---- Placement


def test_ranks_per_host_are_measured_one_after_the_other(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    command = "bench alltoall --fabric star-8 --nodes 2 --ppn 1,2,4 --sizes 1KiB --modes mpich-4"
    result = weft(*command.split(), "--csv", str(target))
    assert result.returncode == 0, result.stderr
    heading, head, line = result.stdout.splitlines()
    assert heading == (
        "MPI_Alltoall on star-8, 2, 4 and 8 ranks, 1, 2 and 4 per host: Avg Latency(us)"
    )
    assert head.split("  ") == ["# Size", *(f"mpich-4, {n} per host" for n in (1, 2, 4))]
    one, two, four = map(float, line.split()[1:])
    assert one < two < four
    with target.open() as file:
        rows = [(row["ranks"], row["ppn"], row["path"]) for row in csv.DictReader(file)]
    assert [row[:2] for row in rows] == [("2", "1"), ("4", "2"), ("8", "4")]


def test_messages_need_no_number_of_ranks() -> None:
    result = weft("bench", "latency", "--fabric", STAR, "--sizes", "8,1KiB")
    heading, head, *lines = result.stdout.splitlines()
    assert heading == "message latency on star-8, 2 ranks, 1 per host: Avg Latency(us)"
    assert head.split("  ") == ["# Size", "Avg Latency(us)"]
    assert [line.split()[0] for line in lines] == ["8", "1024"]


# ---- OSU's format


def rows_of(one: Benchmark, numbers: tuple[float, ...], mode: str) -> list[Time]:
    keys = [column.key for column in one.columns]
    figure = dict(zip(keys, numbers, strict=True))
    return [Time(one.name, mode, 8, 4, 1024, figure, "f", Way("ring", label="ring for stream"))]


def test_a_collective_prints_as_osus_does() -> None:
    asked = study("allreduce", 8, 1024, ppn=4, modes=("stream",))
    rows = rows_of(asked.benchmark, (7.875, 7.0, 10.125), "stream")
    assert list(osu_format.lines(asked, rows)) == [
        "",
        "# simulated by weft: ring for stream on f",
        "# mpiexec -n 8 -ppn 4 osu_allreduce",
        "# OSU MPI Allreduce Latency Test v7.4",
        "# Datatype: MPI_INT.",
        "# Size         Avg Latency(us)",
        "1024                      7.88",
    ]
    *_, head, line = osu_format.lines(asked, rows, full=True)
    # As printed by osu_allreduce -f of OSU 7.4.
    assert head == (
        "# Size         Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations"
    )
    assert line == (
        "1024                      7.88                7.00               10.12          10"
    )


def test_overlap_prints_as_osus_does() -> None:
    asked = study("iallreduce", 8, 1024)
    rows = rows_of(asked.benchmark, (8.37, 8.35, 0.01, 0, 0.01, 8.34, 8, 9, 99.76), "stream")
    text = list(osu_format.lines(asked, rows))
    assert text[4] == "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait"
    heads = ("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)")
    assert text[-2] == "# Size".ljust(10) + "".join(head.rjust(20) for head in heads)
    assert text[-1] == "1024".ljust(10) + "".join(
        number.rjust(20) for number in ("8.37", "8.35", "8.34", "99.76")
    )


@pytest.mark.parametrize(
    "command",
    [
        "alltoall --fabric star-8 -n 8 --ppn 4 --modes openmpi-5.0 --sizes 8:1KiB",
        "bcast --fabric star-8 -n 8 --ppn 4 --modes openmpi-5.0 --sizes 8:1KiB",
        "ibcast --fabric star-8 -n 8 --ppn 4 --modes openmpi-5.0 --sizes 8:1KiB -f",
        "barrier --fabric star-8 -n 8 --ppn 4 --modes openmpi-5.0",
        "mbw_mr --fabric star-8 -n 8 --ppn 4 --sizes 8:1KiB",
        "latency --fabric star-8 --sizes 8:1KiB",
        "put_bibw --fabric star-8 --sizes 8:1KiB",
    ],
)
def test_what_is_printed_is_read_and_simulated_again(command: str, tmp_path: Path) -> None:
    printed = tmp_path / "osu.txt"
    table = tmp_path / "table.csv"
    result = weft("bench", *command.split(), "--format", "osu")
    assert result.returncode == 0, result.stderr
    printed.write_text(result.stdout)
    (measured,) = read(printed)
    assert measured.benchmark == command.split()[0]
    again = weft("bench", "--like", str(printed), "--fabric", STAR, "--csv", str(table))
    assert again.returncode == 0, again.stderr
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert rows
    # OSU prints two decimals.
    assert max(abs(float(row["error"])) * float(row["measured"]) for row in rows) < 0.006
    assert {row["ranks"] for row in rows} == {"2" if "-n" not in command else "8"}


# ---- Measured and simulated

REDUCE_SCATTER = """# OSU MPI Reduce_scatter_block Latency Test v5.6.2
# Size       Avg Latency(us)
4                      20.00
1024                   10.00
"""
RATES = """# OSU MPI Multiple Bandwidth / Message Rate Test v5.7
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1024                 6144.00        6000000.00
"""
ALLREDUCE = """# OSU MPI Allreduce Latency Test v5.6.2
# Size       Avg Latency(us)
4                      20.00
1024                   10.00
"""


def like(path: Path, text: str, *more: str) -> tuple[int, str, str]:
    path.write_text(text)
    result = weft("bench", "--like", str(path), "--fabric", STAR, *more)
    return result.returncode, result.stdout, result.stderr


def test_both_are_shown_with_their_errors(tmp_path: Path) -> None:
    status, out, _ = like(tmp_path / "a.txt", ALLREDUCE, "-n", "8", "--modes", "ring,mpich-4")
    assert status == 0
    heading, head, first, second, *means = out.splitlines()
    assert (
        heading == "MPI_Allreduce of a.txt (line 1) on star-8, 8 ranks, 1 per host: Avg Latency(us)"
    )
    assert head.split()[:3] == ["#", "Size", "measured"]
    errors = []
    for line in (first, second):
        _, real, *cells = map(float, line.split())
        for simulated, error in zip(cells[::2], cells[1::2], strict=True):
            assert error == pytest.approx(100 * (simulated / real - 1), abs=0.2)
        errors.append(abs(math.log(cells[2] / real)))
    mean = 100 * math.expm1(sum(errors) / 2)
    assert float(means[1].split("error ")[1].split(" %")[0]) == pytest.approx(mean, abs=0.3)


def test_two_benchmarks_of_one_file_have_a_table_each(tmp_path: Path) -> None:
    text = (
        ALLREDUCE + "\n# OSU MPI Multi-threaded Latency Test v5.6.2\n# Size  Latency (us)\n8 1.0\n"
    )
    text += "\n# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n0  1.00\n8  1.02\n"
    status, out, err = like(tmp_path / "a.txt", text, "-n", "8")
    assert status == 0
    assert "MPI_Allreduce of a.txt (line 1)" in out
    assert "message latency of a.txt (line 10)" in out
    assert "a.txt: line 6: `weft bench` has no latency_mt" in err


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("hello\n", [], "a.txt: has no output of the OSU micro-benchmarks, IMB, nccl-tests"),
        (ALLREDUCE, [], "a.txt: line 1: allreduce: the file does not state the number of ranks"),
        (
            "# mpiexec -n 16 -ppn 8 osu_allreduce\n" + ALLREDUCE,
            ["-n", "8"],
            "-n: found 8, and a.txt: line 2: allreduce has 16",
        ),
        (
            "# mpiexec -n 16 -ppn 8 osu_allreduce\n" + ALLREDUCE,
            ["--ppn", "4"],
            "--ppn: found 4, and a.txt: line 2: allreduce has 8",
        ),
        (ALLREDUCE.replace("20.00", "20 5"), ["-n", "8"], "a.txt: line 3: found 3 columns"),
        (
            ALLREDUCE.replace("# Size", "# Datatype: MPI_LOGICAL.\n# Size"),
            ["-n", "8"],
            "a.txt: line 1: datatype MPI_LOGICAL; allowed are MPI_CHAR",
        ),
        (
            ALLREDUCE.replace("# Size", "# MPI_Op: MPI_MAXLOC\n# Size"),
            ["-n", "8"],
            "a.txt: line 1: allreduce: op: found 'maxloc'; did you mean max",
        ),
        (
            ALLREDUCE.replace("OSU MPI", "OSU MPI-CUDA"),
            ["-n", "8"],
            "nothing in it can be run: a.txt: line 1: buffers in CUDA memory",
        ),
        (RATES.replace("size: 64", "size: 0"), [], "a.txt: line 1: mbw_mr: window: found 0;"),
        (RATES.replace("pairs: 1", "pairs: 0"), [], "a.txt: line 1: mbw_mr: -n: found 0 ranks"),
        (
            "# OSU MPI Neighborhood Alltoall Latency Test v7.4\n# Size  Avg Latency(us)\n8 1.0\n",
            ["-n", "8"],
            "a.txt: nothing in it can be run: a.txt: line 1: `weft bench` has no neighborhood",
        ),
    ],
)
def test_a_file_that_cannot_be_run_is_named(
    text: str, more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = like(Path("a.txt"), text, *more)
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1


def test_vectors_without_an_element_for_each_rank_are_left_out(tmp_path: Path) -> None:
    status, out, err = like(tmp_path / "a.txt", REDUCE_SCATTER, "-n", "8")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[2:-1]] == ["1024"]
    assert (
        "a.txt: line 3: 4 bytes of reduce_scatter_block are no MPI_FLOAT (4 bytes) for each of"
        in err
    )


def test_a_fabric_that_is_too_small_is_named_with_the_line(tmp_path: Path) -> None:
    text = "# mpiexec -n 80 -ppn 1 osu_allreduce\n" + ALLREDUCE
    status, _, err = like(tmp_path / "a.txt", text)
    assert status == 2
    assert "a.txt: line 2: allreduce: --ppn: found 1; fabric star-8 has 8 hosts" in err


def test_calls_follow_each_other_as_in_the_file_s_benchmark(tmp_path: Path) -> None:
    """IMB has had a barrier after each call since 2019."""
    table = "# Benchmarking Allreduce\n# #processes = 4\n#bytes #repetitions t_avg[usec]\n256 9 5\n"
    for number, (version, follow) in enumerate((("4.1", True), ("2019", False), ("2021.3", False))):
        file = tmp_path / f"{number}.txt"
        file.write_text(f"# Intel(R) MPI Benchmarks {version}, MPI-1 part\n{table}")
        ((_, study),) = likeness.plan(file, likeness.LikeOptions(STAR)).runs
        assert study.back_to_back == follow, version


# ---- In Python


def test_the_calls_are_the_commands(tmp_path: Path) -> None:
    frame = weft_api.bench("ialltoall", STAR, nodes=4, ppn=[1, 2], sizes="1KiB", modes=["mpich-4"])
    assert frame["ranks"].to_list() == [4, 8]
    assert frame["overlap_percent"].min() > 50  # type: ignore[operator]
    assert weft_api.bench("bw", STAR, sizes=[8, "1KiB"]).columns[-1] == "bandwidth_MBps"
    assert weft_api.bench("osu_bcast", STAR, 4, sizes=8, modes=["ring"])["min_us"].len() == 1
    file = tmp_path / "a.txt"
    file.write_text(ALLREDUCE)
    both = weft_api.bench_like(file, STAR, 8)
    assert both.columns == list(likeness.COLUMNS)
    assert both["measured"].to_list() == [20.0, 10.0]
    for row in both.iter_rows(named=True):
        assert row["error"] == pytest.approx(row["simulated"] / row["measured"] - 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"benchmark": "alreduce", "ranks": 4}, "benchmark: found 'alreduce'; did you mean"),
        ({"benchmark": "allreduce"}, "ranks: is missing"),
        ({"benchmark": "bcast", "ranks": 4, "type": "int"}, "type: bcast has no such argument"),
        ({"benchmark": "allreduce", "ranks": 4, "op": "avg"}, "op"),
        ({"benchmark": "bw", "modes": ["ring"]}, "modes: bw has no modes"),
        ({"benchmark": "bw", "percentiles": [5]}, "percentiles: apply to times"),
    ],
)
def test_wrong_arguments_of_the_call_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(WeftError, match=message):
        weft_api.bench(fabric=STAR, **arguments)


# ---- Wrong arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("alreduce", "Did you mean one of: 'allreduce'"),
        ("latency -n 3", "-n: found 3 ranks; latency needs 2"),
        ("mbw_mr -n 3", "-n: found 3 ranks; mbw_mr needs an even number"),
        ("allreduce", "-n: is missing; allreduce takes a number of ranks, or --nodes with --ppn"),
        ("allreduce -n 4 --nodes 2", "--nodes: found together with -n; give only one of them"),
        ("allreduce -n 1", "-n: found 1 rank; allreduce needs 2 and more"),
        ("reduce -n 4 --sizes 6", "--sizes: found 6 bytes; an MPI_INT has 4"),
        ("reduce -n 4 --type real", "'real' is not one of"),
        ("reduce -n 4 --op avg", "'avg' is not one of"),
        ("reduce -n 4 --op bor --type float", "--op: found bor with MPI_FLOAT"),
        ("iallreduce -n 4 --back-to-back", "No such option '--back-to-back'"),
        ("latency --op sum", "No such option '--op'"),
        ("alltoallv -n 8 --sizes 1GiB", "--sizes: found 1 GiB; allowed are at most"),
        ("allreduce -n 4 --ppn 0", "--ppn: found '0'"),
        ("allreduce --nodes 400", "--nodes: found 400; fabric star-8 has 8 hosts"),
        ("bcast -n 4 --format osu --unchecked", "--unchecked: found with --format osu"),
    ],
)
def test_wrong_arguments_are_named(arguments: str, message: str) -> None:
    name, *more = arguments.split()
    result = weft("bench", name, "--fabric", STAR, *more)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


# ---- OSU's own programs

WEFT = str(Path(sys.executable).with_name("weft"))
SOURCES = os.environ.get("WEFT_OSU_SOURCES")  # c/ of the OSU micro-benchmarks 7.4
UTIL = ("osu_util", "osu_util_mpi", "osu_util_graph", "osu_util_papi", "osu_util_validation")
OSUS = [
    *(("latency", 2, 1), ("bw", 2, 1), ("bibw", 2, 1), ("mbw_mr", 8, 4), ("multi_lat", 8, 4)),
    *(("put_latency", 2, 1), ("get_latency", 2, 1), ("acc_latency", 2, 1), ("put_bw", 2, 1)),
    *(("get_bw", 2, 1), ("put_bibw", 2, 1), ("get_acc_latency", 2, 1)),
    *((one.name, 8, 2) for one in BENCHMARKS.values() if one.collective and "scan" not in one.name),
]


@pytest.mark.skipif(not SOURCES, reason="WEFT_OSU_SOURCES does not name OSU's sources")
@pytest.mark.parametrize(("name", "ranks", "ppn"), OSUS)
def test_osus_own_programs_say_the_same(name: str, ranks: int, ppn: int, tmp_path: Path) -> None:
    assert SOURCES is not None
    (source,) = Path(SOURCES).rglob(f"osu_{name}.c")
    program, one = tmp_path / name, find(name)
    units = [str(Path(SOURCES) / "util" / f"{unit}.c") for unit in UTIL]
    options = ["-O1", "-w", f"-I{SOURCES}/util", '-DPACKAGE_VERSION="7.4"']
    call_tool("compiler", [WEFT, "cc", *options, *units, str(source), "-o", str(program), "-lm"])
    sized = one.sized != "nothing"
    sizes = (8, 1024, 65536) if sized else (0,)
    arguments = ["-i", "10", "-x", "2", *(["-m", "8:65536"] if sized else [])]
    lines: list[str] = []
    place = {"fabric": "tofino-4", "ranks": ranks, "ppn": ppn}
    # OSU's computation loop reads the clock twice as often as it counts.
    quick = ("smpi/wtime:1e-9",) if one.family == "non-blocking" else ()
    asked = Request.of(program=str(program), arguments=tuple(arguments), config=quick, **place)
    assert launched(prepare(asked), lines.append).exit_status == 0
    words = [
        line.split() for line in lines if line[:1].isdigit() or (not sized and line[:1] == " ")
    ]
    theirs = {int(word[0]) if sized else 0: word[1 if sized else 0 :] for word in words}
    modes = ("stream",) if one.collective else ()
    mine = Study(one, "tofino-4", [ranks], [ppn], sizes, modes, type="char")
    for row in api.run(mine):
        their = theirs[row.bytes]
        if one.family == "non-blocking":
            assert row.figures["pure_us"] == pytest.approx(float(their[2]), rel=0.01, abs=0.02)
            assert row.figures["overlap_percent"] == pytest.approx(float(their[3]), abs=5)
        else:
            assert row.figure == pytest.approx(float(their[0]), rel=0.01, abs=0.011)


@pytest.mark.skipif(not SOURCES, reason="WEFT_OSU_SOURCES does not name OSU's sources")
@pytest.mark.parametrize(("ranks", "ppn"), [(4, 1), (8, 2)])
def test_osu_allreduce_says_exactly_the_same(ranks: int, ppn: int, tmp_path: Path) -> None:
    """Both clocks are free; by default, SMPI's clock takes 10 ns."""
    assert SOURCES is not None
    (source,) = Path(SOURCES).rglob("osu_allreduce.c")
    program = tmp_path / "allreduce"
    units = [str(Path(SOURCES) / "util" / f"{unit}.c") for unit in UTIL]
    options = ["-O1", "-w", f"-I{SOURCES}/util", '-DPACKAGE_VERSION="7.4"', "-DFLOAT_PRECISION=12"]
    call_tool("compiler", [WEFT, "cc", *options, *units, str(source), "-o", str(program), "-lm"])
    arguments = ("-i", "10", "-x", "2", "-m", "8:65536")
    lines: list[str] = []
    place = {"fabric": "tofino-4", "ranks": ranks, "ppn": ppn}
    asked = Request.of(program=str(program), arguments=arguments, config=("smpi/wtime:0",), **place)
    assert launched(prepare(asked), lines.append).exit_status == 0
    theirs = {int(line.split()[0]): float(line.split()[1]) for line in lines if line[:1].isdigit()}
    mine = Study(
        *(find("allreduce"), "tofino-4", [ranks], [ppn], (8, 1024, 65536), ("stream",)), type="char"
    )
    assert {row.bytes: row.figure for row in api.run(mine)} == pytest.approx(
        {size: theirs[size] for size in mine.sizes}, rel=1e-9
    )
