# SPDX-License-Identifier: LGPL-2.1-only
"""Host calibration: rows, keys, the search, and what the command writes."""

import math
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.calibrate import host
from weft.calibrate.host import Search
from weft.calibrate.host_keys import DEFAULT_KEYS, Key, find_keys, value_in, with_keys
from weft.calibrate.host_rows import (
    HostRow,
    choose,
    named_rows,
    predict_rows,
    read_rows,
    simulate_rows,
)
from weft.calibrate.simulated import compiled
from weft.cli.root import weft
from weft.fabric.toml_file import with_values

ALASKA = "alaska_ib_openmpi4.csv"
LATENCY, BANDWIDTH = "host.loopback_latency", "host.loopback_bandwidth"
HEAD = "collective,ranks,ppn,bytes,time_us\n"
ROWS = [HostRow("allreduce", 4, 2, size) for size in (4, 1024, 65536)]


def test_the_shipped_table_is_read_and_six_rows_are_taken() -> None:
    times = read_rows(paths.data(ALASKA))
    assert len(times) == 19 + 21 + 21
    # Two runs: the geometric mean.
    assert times[HostRow("allreduce", 64, 32, 4)] == pytest.approx(math.sqrt(5.47 * 5.38) * 1e-6)
    rows = choose(times)
    assert [(row.collective, row.bytes) for row in rows] == [
        *(("allgather", 32), ("allgather", 32768)),
        *(("allreduce", 64), ("allreduce", 65536)),
        *(("alltoall", 32), ("alltoall", 32768)),
    ]
    assert named_rows(times, ["alltoall:1"]) == [HostRow("alltoall", 64, 32, 1)]
    assert len(choose({row: 1.0 for row in ROWS})) == 3


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
        (HEAD + "allreduce,4,3,4,1\n", 2, "ppn", "4 ranks are no hosts of 3 ranks each"),
        (HEAD + "allreduce,4,0,4,1\n", 2, "ppn", "4 ranks are no hosts of 0 ranks each"),
        (HEAD + "allreduce,4.5,2,4,1\n", 2, "ranks", "allowed are whole numbers"),
        (HEAD + "allreduce,4,2,4,0\n", 2, "time_us", "found 0"),
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
        ("host.loopback_latancy", "no key that can be fitted; did you mean host.loopback_latency"),
        ("host.preset", "found host.preset, which is no key that can be fitted"),
        (f"{LATENCY}=2", "allowed is host.loopback_latency=LOW:HIGH"),
        (f"{LATENCY}=2s:1s", "two rising numbers with the unit s"),
        (f"{LATENCY}=a:b", "two rising numbers"),
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
    seven = ",".join(f"alltoall:{1 << power}" for power in range(7))
    assert message("--base", "tofino-64x64", "--fit", seven) == "--fit: found 7 rows; allowed are 6"


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
    """In place of a simulator: times by what the file says."""
    table = tomllib.loads(text)["host"]
    return made_up(
        float(table["loopback_latency"].removesuffix("s")),
        float(table["loopback_bandwidth"].removesuffix("Bps")),
    )


def search(predict: Callable[[str], dict[HostRow, float]] = of_text) -> Search:
    keys = find_keys([LATENCY, BANDWIDTH, "mpi.eager_threshold"])
    return Search(_core.load_fabric("tofino-4"), keys, made_up(3e-6, 2e9), predict)


def test_the_search_finds_what_rows_depend_on_and_says_what_not() -> None:
    one = search()
    values, others = host.determined(one, host.find(one))
    found = {key.text: value for key, value in values.items()}
    assert found == pytest.approx({LATENCY: 3e-6, BANDWIDTH: 2e9}, rel=0.06)
    assert [key.text for key in others] == ["mpi.eager_threshold"]
    again = search()
    assert host.determined(again, host.find(again)) == (values, others)
    assert one.tries < 150


def test_what_rows_do_not_tell_stays_near_where_it_starts() -> None:
    """One row, which depends on both keys: each takes its part, and neither leaves its order."""
    row = ROWS[1]

    def predict(text: str) -> dict[HostRow, float]:
        return {row: of_text(text)[row]}

    keys = find_keys([LATENCY, BANDWIDTH])
    start = _core.load_fabric("tofino-4").host
    measured = {row: 2 * made_up(start["loopback_latency_s"], start["loopback_bandwidth_Bps"])[row]}
    one = Search(_core.load_fabric("tofino-4"), keys, measured, predict)
    values, _ = host.determined(one, host.find(one))
    assert abs(one.errors(host.find(one))[0]) < 0.05
    for key, value in values.items():
        begin = one.start()[one.keys.index(key)]
        assert begin / 4 < value < begin * 4


def test_a_threshold_is_found_between_two_rows() -> None:
    (key,) = find_keys(["host.single_copy_threshold"])

    def predict(text: str) -> dict[HostRow, float]:
        threshold = int(tomllib.loads(text)["host"]["single_copy_threshold"].removesuffix("B"))
        return {row: 1e-6 if row.bytes >= threshold else 2e-6 for row in ROWS}

    measured = {row: 1e-6 if row.bytes >= 65536 else 2e-6 for row in ROWS}
    one = Search(_core.load_fabric("tofino-4"), [key], measured, predict)
    values, _ = host.determined(one, host.find(one))
    assert 1024 < values[key] <= 65536


def test_predictions_are_what_runs_take() -> None:
    fabric = Path(_core.load_fabric("tofino-4").file).read_text()
    rows = [HostRow("allreduce", 8, 2, 1024), HostRow("alltoall", 8, 2, 64)]
    with compiled("collective_latency") as program:
        simulated = simulate_rows(program, fabric, rows, "openmpi-4.0")
    predicted = predict_rows(fabric, rows, "openmpi-4.0")
    # One call is predicted; eager messages of two in a row overlap a little.
    assert predicted == pytest.approx(simulated, rel=0.02)


def test_a_wrong_row_pulls_nothing_to_it() -> None:
    rows = [HostRow("allreduce", 4, 2, 4 << (3 * one)) for one in range(6)]

    def simulate(text: str) -> dict[HostRow, float]:
        table = tomllib.loads(text)["host"]
        return {row: float(table["loopback_latency"].removesuffix("s")) for row in rows}

    measured = dict.fromkeys(rows, 1e-6) | {rows[2]: 1e-4}
    keys = find_keys([LATENCY])
    one = Search(_core.load_fabric("tofino-4"), keys, measured, simulate)
    assert host.find(one)[0] == pytest.approx(1e-6, rel=0.35)


def test_keys_of_names_are_tried_each() -> None:
    """As for a key that says how often messages are copied."""
    kind = Key("host", "copies", "text", 0, 0, ("two", "one", "none"))

    def simulate(text: str) -> dict[HostRow, float]:
        factor = {"two": 2.0, "one": 1.0, "none": 0.1}[tomllib.loads(text)["host"]["copies"]]
        return {row: factor * time for row, time in made_up(1e-6, 1e9).items()}

    measured = made_up(1e-6, 1e9)
    one = Search(_core.load_fabric("tofino-4"), [kind], measured, simulate)
    values, _ = host.determined(one, host.find(one))
    assert [key.toml(value) for key, value in values.items()] == ["one"]


def test_the_command_gives_a_fabric_s_latency_back(tmp_path: Path) -> None:
    """Measured: simulated hosts of another latency."""
    truth = with_values(
        Path(_core.load_fabric("tofino-4").file).read_text(), "host", {"loopback_latency": "2us"}
    )
    with compiled("collective_latency") as program:
        measured = simulate_rows(program, truth, ROWS[:2], "recursive_doubling")
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
            *("calibrate", "host", str(table), *arguments),
            *("--fit", "allreduce:4", "-o", str(target)),
        ],
    )
    assert result.exit_code == 0, result.output
    assert _core.load_fabric(str(target)).host["loopback_latency_s"] == pytest.approx(2e-6, rel=0.1)
    assert "of 1 rows fitted to; " in target.read_text().splitlines()[0]
    assert "held out" in result.stderr
