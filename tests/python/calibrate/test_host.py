# SPDX-License-Identifier: LGPL-2.1-only
"""Host calibration: rows, keys, the search, and the output of the command."""

import math
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.benchmarks.methods import METHODS
from weft.calibrate.host import host
from weft.calibrate.host.intervals import NO_ROW, Interval, Local, blocks, folds
from weft.calibrate.host.keys import DEFAULT_KEYS, Key, find_keys, value_in, with_keys
from weft.calibrate.host.rows import (
    HostRow,
    choose,
    named_rows,
    predict_in,
    read_rows,
    simulate_as_measured,
    simulate_rows,
)
from weft.calibrate.host.search import Search, explore, find
from weft.cli.root import weft
from weft.fabric.toml_file import with_values

ALASKA = "alaska_ib_openmpi4.csv"
LATENCY, BANDWIDTH = "host.loopback_latency", "host.loopback_bandwidth"
HEAD = "collective,ranks,ppn,bytes,time_us\n"
ROWS = [HostRow("allreduce", 4, 2, size) for size in (4, 1024, 65536)]


def test_the_shipped_table_is_read_and_its_rows_are_taken() -> None:
    times = read_rows(paths.data(ALASKA))
    assert len(times) == 19 + 21 + 21
    # Repeated runs are combined by their geometric mean.
    assert times[HostRow("allreduce", 64, 32, 4)] == pytest.approx(math.sqrt(5.47 * 5.38) * 1e-6)
    assert set(choose(times)) == set(times)
    assert [(row.collective, row.bytes) for row in choose(times, 6)] == [
        *(("allgather", 1), ("allgather", 1 << 20)),
        *(("allreduce", 4), ("allreduce", 1 << 20)),
        *(("alltoall", 1), ("alltoall", 1 << 20)),
    ]
    assert [row.bytes for row in choose(times, 9)[:3]] == [1, 1024, 1 << 20]
    assert [row.collective for row in choose(times, 2)] == ["allgather", "alltoall"]
    large = {HostRow("alltoall", 4096, 32, 1 << size): 1.0 for size in range(20)}
    assert len(choose(large)) == 12
    assert named_rows(times, ["alltoall:1"]) == [HostRow("alltoall", 64, 32, 1)]
    assert choose(dict.fromkeys(ROWS, 1.0)) == ROWS


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("ranks,ppn,bytes,time_us\n4,2,4,1\n", 1, "collective", "there is none"),
        (
            HEAD + "allreduce,4,2,4,1\nalreduce,4,2,4,1\n",
            3,
            "collective",
            "found 'alreduce'; did you mean allreduce",
        ),
        (HEAD + "allreduce,4,3,4,1\n", 2, "ppn", "4 ranks are not a multiple of 3 ranks each"),
        (HEAD + "allreduce,4,0,4,1\n", 2, "ppn", "4 ranks are not a multiple of 0 ranks each"),
        (HEAD + "allreduce,4.5,2,4,1\n", 2, "ranks", "allowed are whole numbers"),
        (HEAD + "allreduce,4,2,4,0\n", 2, "time_us", "found 0"),
        (HEAD + "allreduce,4,2,1e18,1\n", 2, "bytes", "bytes; allowed are at most 1 TiB"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, line: int, column: str, problem: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(WeftError) as error:
        read_rows(path)
    assert str(error.value).startswith(f"{path}: line {line}: column '{column}': ")
    assert problem in str(error.value)


def test_keys_are_those_of_fabric_files() -> None:
    usual = [key.text for key in find_keys([])]
    assert {LATENCY, BANDWIDTH} <= set(usual) <= set(DEFAULT_KEYS)
    (key,) = find_keys([f"{LATENCY}=5e-8s:2e-6s"])
    assert (key.low, key.high, key.toml(1.5e-6)) == (5e-8, 2e-6, "1.5e-06s")
    (key,) = find_keys(["mpi.eager_threshold=64:1e6"])
    assert key.toml(4095.7) == "4096B"
    tofino = _core.load_fabric("tofino-4")
    assert value_in(tofino, find_keys([LATENCY])[0]) == 3.5e-7
    assert value_in(tofino, key) == 65536
    assert tomllib.loads(with_keys(tofino, {key: 8192.0}, {}))["mpi"]["eager_threshold"] == "8192B"


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("host.loopback_latancy", "cannot be fitted; did you mean host.loopback_latency"),
        ("host.preset", "found host.preset, which cannot be fitted"),
        (f"{LATENCY}=2", "allowed is host.loopback_latency=LOW:HIGH"),
        (f"{LATENCY}=2s:1s", "two increasing numbers with the unit s"),
        (f"{LATENCY}=a:b", "two increasing numbers"),
    ],
)
def test_bad_keys(key: str, problem: str, tmp_path: Path) -> None:
    arguments = ["calibrate", "host", str(paths.data(ALASKA)), "--base", "tofino-4", "--key", key]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "o.toml")])
    assert isinstance(result.exception, WeftError)
    assert str(result.exception).startswith("--key: ")
    assert problem in str(result.exception)


def test_other_bad_input(tmp_path: Path) -> None:
    def message(*arguments: str) -> str:
        command = ["calibrate", "host", str(paths.data(ALASKA)), *arguments]
        result = CliRunner().invoke(weft, [*command, "-o", str(tmp_path / "o.toml")])
        assert isinstance(result.exception, WeftError)
        assert not (tmp_path / "o.toml").exists()
        return str(result.exception)

    assert message("--base", "tofino-64x64", "--fit", "allreduce:5").startswith(
        "--fit: no row is allreduce:5; "
    )


def test_a_base_with_too_few_cores_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEAD + "allreduce,400,100,4,1\n")
    arguments = ["calibrate", "host", str(tmp_path / "t.csv"), "--base", "tofino-4"]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "o.toml")])
    assert str(result.exception) == (
        "--base: tofino-4 has 4 hosts of 72 cores, and the table has 4 hosts of 100 ranks"
    )


def made_up(latency: float, bandwidth: float) -> dict[HostRow, float]:
    return {row: 3 * latency + row.bytes / bandwidth for row in ROWS}


def of_text(text: str) -> dict[HostRow, float]:
    """Return times computed from the file's values, in place of a simulator."""
    table = tomllib.loads(text)["host"]
    return made_up(
        float(table["loopback_latency"].removesuffix("s")),
        float(table["loopback_bandwidth"].removesuffix("Bps")),
    )


def search(predict: Callable[[str], dict[HostRow, float]] = of_text) -> Search:
    keys = find_keys([LATENCY, BANDWIDTH, "mpi.eager_threshold"])
    return Search(_core.load_fabric("tofino-4"), keys, made_up(3e-6, 2e9), predict)


def intervals(one: Search, rows: list[HostRow] = ROWS) -> dict[str, Interval]:
    found = Local(one, find(one)).intervals(rows)
    return {key.text: interval for key, interval in found.items()}


def test_the_search_finds_what_rows_depend_on_and_says_what_not() -> None:
    one = search()
    found = intervals(one)
    values = {key: found[key].value for key in (LATENCY, BANDWIDTH)}
    assert values == pytest.approx({LATENCY: 3e-6, BANDWIDTH: 2e9}, rel=0.06)
    assert found["mpi.eager_threshold"].why == NO_ROW
    assert intervals(search()) == found
    assert one.tries < 150


def test_intervals_hold_the_value_behind_wrong_rows() -> None:
    """Rows have errors of 20 % in both directions; two of nineteen determine a key to 10 %."""
    rows = [HostRow("allreduce", 4, 2, 4 << one) for one in range(19)]

    def times(latency: float, bandwidth: float) -> dict[HostRow, float]:
        return {row: 3 * latency + row.bytes / bandwidth for row in rows}

    def predict(text: str) -> dict[HostRow, float]:
        table = tomllib.loads(text)["host"]
        return times(
            float(table["loopback_latency"].removesuffix("s")),
            float(table["loopback_bandwidth"].removesuffix("Bps")),
        )

    true = times(1e-6, 2e11)
    measured = {row: time * (1.2 if row.bytes & 0x55555 else 1 / 1.2) for row, time in true.items()}
    keys = find_keys([LATENCY, BANDWIDTH])
    one = Search(_core.load_fabric("tofino-4"), keys, measured, predict)
    found = intervals(one, rows)
    assert found[LATENCY].low < 1e-6 < found[LATENCY].high
    assert found[LATENCY].high / found[LATENCY].low > 1.05
    assert found[LATENCY].determined
    assert not found[BANDWIDTH].determined
    assert "fit as well" in found[BANDWIDTH].why


def test_blocks_are_neighbours_and_folds_have_all_rows_once() -> None:
    rows = [
        HostRow(collective, 4, 2, 4 << one)
        for collective in ("bcast", "allreduce")
        for one in range(7)
    ]
    parts = blocks(rows)
    assert sorted(place for part in parts for place in part) == list(range(14))
    assert [len(part) for part in parts] == [3, 3, 1, 3, 3, 1]
    assert [rows[place].bytes for place in parts[0]] == [4, 8, 16]
    left_out = folds(rows)
    assert [len(part) for part in left_out] == [3, 3, 3, 3, 2]
    assert sorted(place for part in left_out for place in part) == list(range(14))


def test_rows_left_out_are_predicted_from_others() -> None:
    """A single wrong row influences the fit, but not the prediction of its own fold."""
    rows = [HostRow("allreduce", 4, 2, 4 << one) for one in range(3)]
    rows += [HostRow("bcast", 4, 2, 4)]
    measured = dict.fromkeys(rows, 1e-6) | {rows[3]: 1.3e-6}
    keys = find_keys([LATENCY])

    def predict(text: str) -> dict[HostRow, float]:
        table = tomllib.loads(text)["host"]
        return dict.fromkeys(rows, float(table["loopback_latency"].removesuffix("s")))

    one = Search(_core.load_fabric("tofino-4"), keys, measured, predict)
    best = find(one)
    held_out = Local(one, best).held_out(rows)
    assert held_out[rows[3]] == pytest.approx(-math.log(1.3), abs=0.01)
    assert abs(one.errors(best)[3]) < abs(held_out[rows[3]]) - 0.02


def test_an_exploration_leaves_a_local_optimum() -> None:
    """Two pairs of values fit the small rows; only one of them also fits the large rows."""
    rows = [HostRow("allreduce", 4, 2, 4 << (2 * one)) for one in range(10)]

    def times(latency: float, bandwidth: float) -> dict[HostRow, float]:
        shift = 2e-6 * math.exp(-((math.log(latency / 4e-6) / 0.3) ** 2))
        return {row: latency + shift + row.bytes / bandwidth for row in rows}

    def predict(text: str) -> dict[HostRow, float]:
        table = tomllib.loads(text)["host"]
        return times(
            float(table["loopback_latency"].removesuffix("s")),
            float(table["loopback_bandwidth"].removesuffix("Bps")),
        )

    keys = find_keys([LATENCY, BANDWIDTH])
    one = Search(_core.load_fabric("tofino-4"), keys, times(3e-7, 5e9), predict)
    points = explore(one)
    assert [one.loss(point) for point in points] == sorted(one.loss(point) for point in points)
    assert points[0] == pytest.approx((3e-7, 5e9), rel=0.05)


def test_what_rows_do_not_tell_stays_near_where_it_starts() -> None:
    """One row depends on both keys: each absorbs part of the error, within a factor of 4."""
    row = ROWS[1]

    def predict(text: str) -> dict[HostRow, float]:
        return {row: of_text(text)[row]}

    keys = find_keys([LATENCY, BANDWIDTH])
    start = _core.load_fabric("tofino-4").host
    measured = {row: 2 * made_up(start["loopback_latency_s"], start["loopback_bandwidth_Bps"])[row]}
    one = Search(_core.load_fabric("tofino-4"), keys, measured, predict)
    best = find(one)
    assert abs(one.errors(best)[0]) < 0.05
    for begin, value in zip(one.start(), best, strict=True):
        assert begin / 4 < value < begin * 4


def test_thresholds_are_independent_of_each_other() -> None:
    keys = find_keys(["host.single_copy_threshold", "mpi.eager_threshold"])
    rows = [HostRow("allreduce", 4, 2, 4 << one) for one in range(19)]

    def times(single_copy: int, eager: int) -> dict[HostRow, float]:
        return {
            row: 1e-6 * (1 + (row.bytes >= single_copy)) * (1 + 3 * (row.bytes >= eager))
            for row in rows
        }

    def predict(text: str) -> dict[HostRow, float]:
        tables = tomllib.loads(text)
        return times(
            int(tables["host"]["single_copy_threshold"].removesuffix("B")),
            int(tables["mpi"]["eager_threshold"].removesuffix("B")),
        )

    one = Search(_core.load_fabric("tofino-4"), keys, times(4096, 262144), predict)
    assert find(one) == (4096, 262144)
    found = intervals(one, rows)
    assert found["mpi.eager_threshold"].determined


def test_a_threshold_is_found_between_two_rows() -> None:
    (key,) = find_keys(["host.single_copy_threshold"])

    def predict(text: str) -> dict[HostRow, float]:
        threshold = int(tomllib.loads(text)["host"]["single_copy_threshold"].removesuffix("B"))
        return {row: 1e-6 if row.bytes >= threshold else 2e-6 for row in ROWS}

    measured = {row: 1e-6 if row.bytes >= 65536 else 2e-6 for row in ROWS}
    one = Search(_core.load_fabric("tofino-4"), [key], measured, predict)
    assert 1024 < find(one)[0] <= 65536


def test_predictions_are_what_runs_take(tmp_path: Path) -> None:
    fabric = Path(_core.load_fabric("tofino-4").file).read_text()
    sizes = {"barrier": 0, "allreduce": 1024, "reduce_scatter_block": 4096, "allgather": 4096}
    rows = [HostRow(collective, 8, 2, size) for collective, size in sizes.items()]
    rows += [HostRow("alltoall", 8, 2, 64), HostRow("reduce_scatter_block", 8, 2, 1 << 20)]
    simulated = simulate_rows(fabric, rows, METHODS["osu"], fallback="openmpi-4.0")
    predicted = predict_in(tmp_path, fabric, rows, "openmpi-4.0")
    # Only one call is predicted; two consecutive calls overlap slightly with eager messages.
    assert predicted == pytest.approx(simulated, rel=0.02)


def test_a_wrong_row_pulls_nothing_to_it() -> None:
    rows = [HostRow("allreduce", 4, 2, 4 << (3 * one)) for one in range(6)]

    def simulate(text: str) -> dict[HostRow, float]:
        table = tomllib.loads(text)["host"]
        return {row: float(table["loopback_latency"].removesuffix("s")) for row in rows}

    measured = dict.fromkeys(rows, 1e-6) | {rows[2]: 1e-4}
    keys = find_keys([LATENCY])
    one = Search(_core.load_fabric("tofino-4"), keys, measured, simulate)
    assert find(one)[0] == pytest.approx(1e-6, rel=0.35)


def test_keys_of_names_are_tried_each() -> None:
    """The example is a key that selects the number of message copies."""
    kind = Key("host", "copies", "text", 0, 0, ("two", "one", "none"))

    def simulate(text: str) -> dict[HostRow, float]:
        factor = {"two": 2.0, "one": 1.0, "none": 0.1}[tomllib.loads(text)["host"]["copies"]]
        return {row: factor * time for row, time in made_up(1e-6, 1e9).items()}

    measured = made_up(1e-6, 1e9)
    one = Search(_core.load_fabric("tofino-4"), [kind], measured, simulate)
    assert kind.toml(find(one)[0]) == "one"


def test_the_command_gives_a_fabric_s_latency_back(tmp_path: Path) -> None:
    """The measurement comes from simulated hosts with a different latency."""
    truth = with_values(
        Path(_core.load_fabric("tofino-4").file).read_text(), "host", {"loopback_latency": "2us"}
    )
    measured = simulate_rows(truth, ROWS[:2], METHODS["osu"], fallback="recursive_doubling")
    table = tmp_path / "table.csv"
    lines = [
        f"{row.collective},{row.ranks},{row.ppn},{row.bytes},{time * 1e6!r}"
        for row, time in measured.items()
    ]
    table.write_text(HEAD + "\n".join(lines) + "\n")
    target = tmp_path / "fitted.toml"
    arguments = [
        "--base",
        "tofino-4",
        "--key",
        f"{LATENCY}=5e-7:8e-6",
        "--fallback",
        "recursive_doubling",
    ]
    result = CliRunner().invoke(
        weft,
        [
            *("calibrate", "host", str(table), "--benchmark", "osu", *arguments),
            *("--fit", "allreduce:4", "-o", str(target)),
        ],
    )
    assert result.exit_code == 0, result.output
    assert _core.load_fabric(str(target)).host["loopback_latency_s"] == pytest.approx(2e-6, rel=0.1)
    assert "of 1 rows fitted to; " in target.read_text().splitlines()[0]
    intervals_ = tomllib.loads(target.read_text())["calibration"]["intervals"]
    assert list(intervals_) == [LATENCY]
    assert "held out" in result.stderr


@pytest.mark.parametrize("name", ["osu", "loop"])
def test_a_fit_simulates_the_benchmark_of_the_rows(name: str) -> None:
    """Ranks leave Open MPI's barrier of four ranks at different times, and stay apart in a loop."""
    fabric = _core.load_fabric("tofino-4")
    truth = with_values(Path(fabric.file).read_text(), "host", {"loopback_latency": "2us"})
    rows = [HostRow("allreduce", 4, 2, size) for size in (4, 256, 4096)]
    methods = dict.fromkeys(rows, METHODS[name])
    measured = simulate_as_measured(truth, methods, "openmpi-4.1")
    found = host.fit(
        fabric, find_keys([f"{LATENCY}=5e-7:8e-6"]), measured, methods, rows, "openmpi-4.1"
    )
    assert found.predicted == simulate_as_measured(found.text, methods, "openmpi-4.1")
    (value,) = found.values.values()
    assert value.value == pytest.approx(2e-6, rel=0.05)


def test_a_table_must_name_its_benchmark(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEAD + "allreduce,4,2,4,1\n")
    arguments = ["calibrate", "host", str(tmp_path / "t.csv"), "--base", "tofino-4"]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "o.toml")])
    assert "t.csv: names no benchmark, and they time collectives differently" in str(
        result.exception
    )
