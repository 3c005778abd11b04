# SPDX-License-Identifier: LGPL-2.1-only
"""Growth and scale: fitted exponents match the data, and memory covers all processes."""

import random
import sys
from pathlib import Path

import pytest

from studies import many_ranks, resume, scale
from studies.growth import measure as growth
from studies.growth.explained import EXPLAINED
from studies.growth.fit import FASTER, LEAST_POINTS, UPPER_PART, fit
from studies.growth.page import exponent, faster
from studies.growth.series import AXES, SERIES, Series
from studies.study import Table, read_table
from studies.usage import watched

HALVES = [float(1 << k) for k in range(6, 15)]


# ---- The fit -------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0, 0.5, 1, 1.5, 2])
def test_a_power_law_has_its_exponent(power: float) -> None:
    found = fit({x: 3 * x**power for x in HALVES}, 0)
    assert found is not None
    assert found.exponent == pytest.approx(power)
    assert found.factor == pytest.approx(3)
    assert found.uncertainty < 1e-6
    assert found.points == 5
    assert found.faster_than_linear == (power > FASTER)


def test_start_up_does_not_flatten_the_line() -> None:
    grows_late = {x: (x**2 if x >= HALVES[-1] / UPPER_PART else 1e9) for x in HALVES}
    found = fit(grows_late, 0)
    assert found is not None
    assert found.exponent == pytest.approx(2)


def test_the_range_holds_the_exponent_nearly_always() -> None:
    source = random.Random(1)
    held = 0
    for _ in range(400):
        found = fit({x: x * source.lognormvariate(0, 0.1) for x in HALVES}, 0)
        assert found is not None
        held += abs(found.exponent - 1) <= found.uncertainty
    assert 0.92 < held / 400 < 0.98


def test_what_is_not_above_noise_has_no_exponent() -> None:
    enough = {x: (1.0 if x >= HALVES[-LEAST_POINTS] else 0.01) for x in HALVES}
    assert fit(enough, 0.02) is not None
    assert fit({**enough, HALVES[-1]: 0.01}, 0.02) is None
    assert fit({}, 0) is None
    assert exponent(None) == "-"


def test_what_is_surely_faster_is_bold_and_what_may_be_is_asked() -> None:
    def shown(bend: float) -> str:
        wiggle = (1, 1 + bend, 1, 1 + bend, 1)
        points = {x: x**1.2 * more for x, more in zip(HALVES[-5:], wiggle, strict=True)}
        return exponent(fit(points, 0))

    assert shown(0) == "**1.20 ± 0.00**"
    assert shown(1).startswith("1.20 ±") and shown(1).endswith("?")


# ---- Measurements --------------------------------------------------------------------------------


def row(series: Series, number: int, cpu_s: float, round_: int = 1) -> dict[str, str]:
    cells = (series.axis, series.name, number, round_, cpu_s, 64 + number)
    names = ("axis", "series", "number", "round", "cpu_s", "memory_mib")
    return dict(zip(names, map(str, cells), strict=True))


def test_the_least_of_the_rounds_counts_and_the_base_is_subtracted() -> None:
    start = Series("ranks", "start", 64, ("none", 0, 0))
    calls = Series("ranks", "calls", 64, ("allreduce", 4, 1), "start")
    rows: Table = [row(start, n, 0.5 + n) for n in (1, 4, 8)]
    rows += [row(calls, n, 0.5 + 3 * n, 2) for n in (4, 8)]
    rows += [row(calls, n, 99, 1) for n in (4, 8)]
    first, second = growth.grown(rows, (start, calls))
    assert first.cpu_s == {3: 3, 7: 7}
    assert second.cpu_s == {4: 8, 8: 16}
    assert first.memory_mib == {3: 3, 7: 7}


def test_each_series_has_the_runs_that_are_subtracted_from_it() -> None:
    for one in SERIES:
        assert one.axis in AXES
        bases = [other for other in SERIES if (other.axis, other.name) == (one.axis, one.base)]
        assert len(bases) == bool(one.base)
        for base in bases:
            assert set(one.numbers) <= set(base.numbers)


def test_a_series_is_run_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resume, "RESULTS", tmp_path)
    tiny = Series(
        "ranks", "tiny", 16, ("allreduce", 64, 1, "dup", 2), options={"offload": "stream"}
    )
    rows = growth.measure([tiny], 1)
    assert [int(row["number"]) for row in rows] == [1, 2, 4, 8, 16]
    assert all(float(row["memory_mib"]) > 10 for row in rows)
    assert growth.measure([tiny], 1) == rows


def test_all_that_grows_faster_than_linearly_is_explained() -> None:
    found = {
        (axis, name, what)
        for axis, name, what, fit in faster(growth.read())
        if fit.faster_than_linear
    }
    assert found <= set(EXPLAINED)


# ---- Scale ---------------------------------------------------------------------------------------


def test_memory_is_that_of_all_processes() -> None:
    child = "import time; x = bytearray(60_000_000); time.sleep(1)"
    parent = (
        "import subprocess, sys; x = bytearray(60_000_000);"
        f"subprocess.run([sys.executable, '-c', '{child}']); sys.exit('ended')"
    )
    usage = watched([sys.executable, "-c", parent])
    assert (usage.status, usage.errors) == (1, "ended")
    assert 120e6 < usage.resident_bytes < 220e6
    assert 60e6 < usage.proportional_bytes <= usage.resident_bytes
    assert usage.user_s + usage.system_s > 0
    assert usage.wall_s > 1


def test_what_does_not_fit_is_said_and_the_others_go_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    cases = [scale.Case("allreduce_latency", "64 1", ranks) for ranks in (4, 1000, 8, 4)]
    runs = [scale.measure(case, "tofino-4", 2) for case in cases]
    assert [bool(run.refused) for run in runs] == [False, True, False, False]
    (said,) = capfd.readouterr().err.splitlines()
    assert said == f"allreduce_latency 64 1, 1,000 ranks: {runs[1].refused}"
    runs = scale.read([scale._cells(run) for run in runs])
    text = scale.table(runs)
    in_one_line = " ".join(text.split())
    assert f"- allreduce_latency 64 1, 1,000 ranks: {runs[1].refused}" in in_one_line
    assert "differs by up to" in in_one_line
    (of_four,) = [line for line in text.splitlines() if "| 4 |" in line]
    assert f"| {max(runs[0].peak_gib, runs[3].peak_gib):.2f} GiB |" in of_four
    assert of_four.endswith("| 2 |")
    assert 0.01 < runs[0].record_gib < runs[0].peak_gib < 0.5


def test_runs_of_other_arguments_are_not_taken_for_these(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(resume, "RESULTS", tmp_path)
    monkeypatch.setattr(scale, "TABLE", tmp_path / "scale.csv")
    ran: list[str] = []

    def measure(case: scale.Case, _fabric: str, _ppn: int) -> scale.Run:
        ran.append(case.arguments)
        return scale.Run(case.program, case.arguments, case.ranks)

    monkeypatch.setattr(scale, "measure", measure)
    for calls in ("1", "1", "2"):
        case = scale.Case("allreduce_latency", f"64 {calls}", 4, rounds=2)
        monkeypatch.setattr(scale, "CASES", (case,))
        scale.write()
    assert ran == ["64 1", "64 1", "64 2", "64 2"]


def test_the_page_has_the_medians_of_many_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(resume, "RESULTS", tmp_path)
    monkeypatch.setattr(many_ranks, "TABLE", tmp_path / "many-ranks.csv")
    cases = (many_ranks.Case(2), many_ranks.Case(2, copied=True))
    monkeypatch.setattr(many_ranks, "CASES", cases)
    many_ranks.write()
    rows = read_table(many_ranks.TABLE)
    assert [row["program"] for row in rows] == ["shared", "copied"] * many_ranks.ROUNDS
    peaks = [[float(row["peak_mib"]) for row in rows[kind::2]] for kind in (0, 1)]
    assert max(peaks[0]) + 1 < min(peaks[1])
    shared, copied = many_ranks.table(rows).splitlines()[2:]
    assert shared.startswith("| star, 64 x 2 | shared | 128 | ")
    assert copied.endswith(f" s | {sorted(peaks[1])[1]:.0f} MiB |")


def test_limits_are_held_against_memory_and_time() -> None:
    def run(program: str, ranks: int, gib: float, wall_s: float) -> scale.Run:
        return scale.Run(program, "8", ranks, "", 1, 1, wall_s, gib, gib, gib)

    small, large = 1_048_576, 2_097_152
    text = scale.table(
        [run("a", small, 13, 119), run("b", small, 13.1, 121), run("a", large, 22, 500)]
    )
    text = " ".join(text.split())
    assert "13.0 GiB (14 GB) and 120 s; `a 8` holds it, `b 8` exceeds it (memory and time)." in text
    assert "22.4 GiB (24 GB); `a 8` holds it." in text
