# SPDX-License-Identifier: LGPL-2.1-only
"""Switch calibration: fits recover known parameters and report what the data cannot determine."""

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.python.binding.calls.test_timing import measure
from tests.support.simulated import Run
from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.benchmarks.methods import METHODS
from weft.calibrate.switch import run as switch_run
from weft.calibrate.switch import switch
from weft.calibrate.switch.observations import read_observations
from weft.calibrate.switch.switch import (
    BASE,
    COPY_RATE,
    GAP,
    TURNAROUND,
    Hardware,
    Observations,
    fit,
    hardware_of,
    model_seconds,
)
from weft.cli.root import weft
from weft.fabric.toml_file import with_values

TOFINO = Hardware(256, 256, 82, 12.5e9)
SIZES = np.array([float(4 << k) for k in range(19)])
OSU = "tofino_osu_allreduce_4x1.csv"
LOOP = "tofino_micro_allreduce_4x1.csv"
BY_RANKS = "tofino_micro_allreduce_vs_ranks.csv"
TRUTH = {BASE: 8e-6, TURNAROUND: 12e-6, COPY_RATE: 6e9, GAP: 1.5e-6}


def synthetic(truth: dict[str, float], noise: float, seed: int) -> list[Observations]:
    """Return a table by size with one rank per host, and a table of 256 B with one to four."""
    crowd = np.repeat([1.0, 2.0, 3.0, 4.0], 3)
    tables = [
        Observations("by size", SIZES, np.ones(len(SIZES)), SIZES),
        Observations("by ranks", np.full(len(crowd), 256.0), crowd, crowd),
    ]
    random = np.random.default_rng(seed)
    made = []
    for table in tables:
        seconds = model_seconds(TOFINO, table, truth[BASE], truth)
        seconds = seconds * np.exp(random.normal(0, noise, len(seconds)))
        made.append(Observations(table.name, table.bytes, table.ranks_a_host, seconds))
    return made


def test_exact_tables_give_the_parameters_back() -> None:
    found = fit(TOFINO, synthetic(TRUTH, 1e-6, 0))
    for estimate in found.estimates:
        assert estimate.value == pytest.approx(TRUTH[estimate.name], rel=1e-3)
        assert estimate.determined
    assert not found.missing


def test_the_best_fit_is_found_whatever_the_rounding() -> None:
    """The noise of each trial is as small as rounding; 8 of 30 fits once ended beside the best."""
    for seed in range(30):
        problem = switch._Problem(TOFINO, synthetic(TRUTH, 1e-6, seed))
        logs, _ = switch._best_and_limit(problem)
        found = dict(zip(problem.names, np.exp(logs).tolist(), strict=True))
        assert found == pytest.approx(TRUTH, rel=1e-3), seed


def contains_the_truth(tables: list[Observations]) -> bool:
    """Return true if all intervals of a fit contain the true values."""
    problem = switch._Problem(TOFINO, tables)
    logs, limit = switch._best_and_limit(problem)
    steps = [math.log(TRUTH[name]) - logs[k] for k, name in enumerate(problem.names)]
    return all(switch._profile(problem, logs, k, limit)(step) <= 0 for k, step in enumerate(steps))


@pytest.mark.slow
def test_intervals_contain_the_truth_in_at_least_90_of_100_trials() -> None:
    """All parameters are fitted jointly, with 5 % noise on every row.

    Coverage is tested at the true value. Computing the ends of the intervals takes far longer, so
    only every tenth trial computes them, and checks that both methods agree.
    """
    covered = 0
    widths = []
    for seed in range(100):
        tables = synthetic(TRUTH, 0.05, seed)
        inside = contains_the_truth(tables)
        covered += inside
        if seed % 10 == 0:
            found = fit(TOFINO, tables)
            assert {one.name for one in found.estimates} == set(TRUTH)
            assert inside == all(one.low <= TRUTH[one.name] <= one.high for one in found.estimates)
            widths += [one.high / one.low for one in found.estimates if one.name == BASE]
    assert covered >= 90
    # Coverage is meaningless for intervals that contain everything.
    assert np.median(widths) < 1.15


def test_a_copy_rate_above_the_switch_s_is_only_bounded_below() -> None:
    found = fit(TOFINO, synthetic({**TRUTH, COPY_RATE: math.inf}, 0.01, 3))
    copy_rate = found.estimate(COPY_RATE)
    assert copy_rate is not None
    assert not copy_rate.determined
    assert 5e9 < copy_rate.low < 12.5e9
    assert copy_rate.high == math.inf


def test_what_no_row_depends_on_is_missing() -> None:
    small = Observations("small", SIZES[:10], np.ones(10), 8e-6 + SIZES[:10] / 1e10)
    found = fit(TOFINO, [small])
    assert dict(found.missing) == {
        TURNAROUND: "no message exceeds the window",
        GAP: "no row has several ranks per host",
    }
    assert found.estimate(TURNAROUND) is None


def test_the_model_is_what_the_simulator_does(run: Run) -> None:
    """The fitted formula agrees with a run of two ranks per host."""
    fabric = _core.load_fabric("tofino-4")
    switch, nic = fabric.switches[0], fabric.nic
    base = nic["offload_overhead_s"] + switch["processing_latency_s"] + 2 * 0.94e-6
    across = switch["pipe_latency_s"]
    calls = measure(run, "stream", 8, 2)
    sizes = np.array([float(size) for size in calls])
    values = {TURNAROUND: switch["turnaround_s"], GAP: nic["message_gap_s"]}
    rows = Observations("", sizes, np.full(len(sizes), 2.0), sizes, longer_s=across)
    expected = model_seconds(hardware_of(fabric), rows, base, values)
    assert [call.duration for call in calls.values()] == pytest.approx(expected, rel=1e-9)


def test_the_even_rows_give_the_presets_values(tmp_path: Path) -> None:
    target = tmp_path / "fitted.toml"
    arguments = ["--column", "mpitofino_us", "--rows", "even", "--base", "tofino-4"]
    tables = [str(paths.data(name)) for name in (OSU, LOOP)]
    result = CliRunner().invoke(
        weft, ["calibrate", "switch", *tables, *arguments, "-o", str(target)]
    )
    assert result.exit_code == 0, result.output
    fitted, shipped = _core.load_fabric(str(target)), _core.load_fabric("tofino-4")
    assert fitted.nic["offload_overhead_s"] == pytest.approx(
        shipped.nic["offload_overhead_s"], rel=1e-3
    )
    assert fitted.switches[0]["turnaround_s"] == pytest.approx(
        shipped.switches[0]["turnaround_s"], rel=1e-3
    )
    assert fitted.nic["offload_copy_rate_Bps"] == math.inf
    assert "copy_rate cannot be determined: at least" in result.stderr
    assert "gap cannot be determined: no row has several ranks per host" in result.stderr


def test_one_set_of_values_explains_several_benchmarks(tmp_path: Path) -> None:
    target = tmp_path / "fitted.toml"
    arguments = ["--column", "mpitofino_us", "--bytes", "256", "--base", "tofino-4"]
    tables = [str(paths.data(name)) for name in (OSU, BY_RANKS)]
    result = CliRunner().invoke(
        weft, ["calibrate", "switch", *tables, *arguments, "-o", str(target)]
    )
    assert result.exit_code == 0, result.output
    for table, most in ((OSU, 1.5), (BY_RANKS, 0.7)):
        error = re.search(rf"{table}: simulation error ([\d.]+)% mean", result.stderr)
        assert error is not None and float(error[1]) < most
    assert _core.load_fabric(str(target)).nic["message_gap_s"] == pytest.approx(1.66e-6, rel=0.05)


@pytest.mark.parametrize(
    ("text", "size", "line", "column", "problem"),
    [
        ("bytes,t_us\n4,7\n8,7\n", None, 3, "t_us", "a fit needs 3"),
        ("bytes,t_us\n0,7\n4,7\n8,7\n", None, 2, "bytes", "empty Allreduce"),
        ("ranks,nodes,t_us\n2,2,7\n3,3,7\n4,4,7\n", None, 1, "ranks", "give it with bytes"),
        ("ranks,t_us\n2,7\n3,7\n4,7\n", 256, 1, "ranks", "needs the column 'nodes'"),
        ("ranks,nodes,t_us\n2,2,7\n3,2,7\n4,4,7\n", 256, 3, "nodes", "cannot be divided evenly"),
        ("bytes,t_us\n4,7\n8,-7\n16,7\n", None, 3, "t_us", "found '-7'"),
        ("bytes,t_us\n4,7\n8,7\n16,1\n", None, 4, "t_us", "must increase"),
    ],
)
def test_bad_tables(
    tmp_path: Path, text: str, size: int | None, line: int, column: str, problem: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(WeftError) as error:
        read_observations(path, None, "all", size, 1, benchmark="osu")
    assert str(error.value).startswith(f"{path}: line {line}: column '{column}': ")
    assert problem in str(error.value)


def test_the_base_must_have_smart_switches_all_alike(tmp_path: Path) -> None:
    with pytest.raises(
        WeftError, match=r"star-8 has no switch that reduces; the fit needs equal smart"
    ):
        hardware_of(_core.load_fabric("star-8"))
    text = smart_tree()
    rule = '[[switches]]\nmatch = "level2*"\npreset = "sharp"\n'
    (tmp_path / "mixed.toml").write_text(text + rule)
    with pytest.raises(WeftError, match=r"has switches that reduce with different windows"):
        hardware_of(_core.load_fabric(str(tmp_path / "mixed.toml")))


def written(directory: Path, table: str, arguments: list[str]) -> tuple[_core.Fabric, str]:
    """Return the fabric that the command writes, and the command's output."""
    (directory / "table.csv").write_text(table)
    target = directory / "fitted.toml"
    command = ["calibrate", "switch", str(directory / "table.csv"), *arguments, "-o", str(target)]
    result = CliRunner().invoke(weft, command)
    assert result.exit_code == 0, result.output
    return _core.load_fabric(str(target)), result.stderr


def smart_tree() -> str:
    """Return two levels of reducing switches."""
    text = Path(_core.load_fabric("fat-tree-8").file).read_text()
    return text.replace('preset = "l2"', 'preset = "tofino"')


def table_of(sizes: Sequence[int], times_us: Iterable[float]) -> str:
    rows = zip(sizes, times_us, strict=True)
    return (
        "\n".join(["# benchmark: osu", "bytes,t_us", *(f"{size},{time!r}" for size, time in rows)])
        + "\n"
    )


def test_a_tree_gives_its_switches_values_back(tmp_path: Path) -> None:
    """The measurement is a simulated two-level tree, half of whose hosts participate."""
    text = smart_tree()
    (tmp_path / "base.toml").write_text(text)
    truth = with_values(
        with_values(text, "nic", {"offload_overhead": "3us", "message_gap": "0s"}),
        "switch",
        {"turnaround": "12us"},
    )
    sizes = [4 << power for power in range(0, 19, 2)]
    measured = switch_run.simulated(truth, 6, 1, METHODS["osu"], sizes)
    table = table_of(sizes, measured.values())
    found, said = written(tmp_path, table, ["--base", str(tmp_path / "base.toml"), "--nodes", "6"])
    assert found.nic["offload_overhead_s"] == pytest.approx(3e-6, rel=0.01)
    assert found.switches[0]["turnaround_s"] == pytest.approx(12e-6, rel=0.01)
    assert re.search(r"table.csv: simulation error 0\.[0-2]% mean", said)


def test_of_two_that_stand_for_each_other_one_is_written(tmp_path: Path) -> None:
    """A single row exceeds the window; slots or a slow copy explain it equally well."""
    sizes = np.append(SIZES[:8], 131072.0)
    rows = Observations("", sizes, np.ones(len(sizes)), sizes)
    seconds = model_seconds(TOFINO, rows, 8e-6, {TURNAROUND: 20e-6})
    seconds *= np.exp(np.random.default_rng(5).normal(0, 0.01, len(sizes)))
    table = table_of(sizes.astype(int).tolist(), (seconds * 1e6).tolist())
    found, said = written(tmp_path, table, ["--base", "tofino-4"])
    assert said.count("cannot be determined: at") == 2
    assert said.count("its value is written, because the fit is worse without it") == 1
    copies = found.nic["offload_copy_rate_Bps"] < math.inf
    waits = found.switches[0]["turnaround_s"] > 15e-6
    assert copies != waits
    error = re.search(r"simulation error ([\d.]+)% mean", said)
    assert error is not None
    assert float(error[1]) < 1.5


def test_the_errors_are_of_what_is_written(tmp_path: Path) -> None:
    """A file without a fitted key has correspondingly larger errors."""
    fabric = _core.load_fabric("tofino-4")
    sizes = SIZES[-4:]
    rows = Observations("", sizes, np.ones(4), sizes)
    seconds = model_seconds(TOFINO, rows, 7.18e-6, {TURNAROUND: 9.29e-6})
    text = Path(fabric.file).read_text()
    dropped = with_values(text, "switch", {"turnaround": "1ns"})
    near, far = (switch_run.simulated_seconds(one, fabric, rows) for one in (text, dropped))
    assert near == pytest.approx(seconds, rel=0.02)
    assert (far / seconds < 0.95).all()


def test_rows_that_memory_is_lacking_for_are_left_out() -> None:
    fabric = _core.load_fabric("tofino-4")
    sizes = np.array([4.0, float(1 << 40)])
    rows = Observations("", sizes, np.ones(2), sizes)
    simulated = switch_run.simulated_seconds(Path(fabric.file).read_text(), fabric, rows)
    assert np.isnan(simulated).tolist() == [False, True]


def test_more_hosts_than_the_base_has_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table_of([4, 8, 16, 32], [7, 7, 7, 7]))
    arguments = ["calibrate", "switch", str(tmp_path / "t.csv"), "--base", "tofino-4"]
    result = CliRunner().invoke(weft, [*arguments, "--nodes", "9", "-o", str(tmp_path / "o.toml")])
    assert isinstance(result.exception, WeftError)
    assert "tofino-4 has 4 hosts, and the tables are of up to 9" in str(result.exception)
    assert not (tmp_path / "o.toml").exists()
