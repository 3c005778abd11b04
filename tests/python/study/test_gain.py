# SPDX-License-Identifier: LGPL-2.1-only
"""Gains: factors, the faster side, crossings of 1, and bounds."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.errors import WeftError
from weft.study.validation import gain, gain_report, gain_runs
from weft.study.validation.gain import Gain, GainResult, Pair, Times, crossings


def result(*pairs: tuple[int, float, float], **bounds: float) -> GainResult:
    """Return a result from (key, measured factor, simulated factor) tuples."""
    asked = Gain(
        *("t.csv", "switch_us", "hosts_us", "tofino-4", "ring"),
        mean=bounds.get("mean"),
        wrong=int(bounds["wrong"]) if "wrong" in bounds else None,
    )
    made = (
        Pair(key, key, 4, 1, Times(2, 2 * real), Times(3, 3 * ours), 0.1, 0.1)
        for key, real, ours in pairs
    )
    return GainResult(asked, "bytes", tuple(made))


def test_a_factor_is_the_hosts_time_by_the_switches() -> None:
    assert Times(offloaded_us=2, hosts_us=3).factor == 1.5


def test_a_pair_near_equality_is_counted_apart() -> None:
    one = result((4, 0.95, 1.05), (8, 1.05, 0.9), (16, 1.2, 0.99), (32, 0.5, 0.9), (64, 2, 3))
    assert [pair.key for pair in one.wrong] == [16]
    assert [pair.key for pair in one.wrong_near] == [4, 8]
    assert gain_report.wrong_sides(one) == "1 and 2 near 1"
    assert "5 pairs" in gain_report.summary([one])


@pytest.mark.parametrize(
    ("mean", "wrong", "holds"),
    [(0.3, 1, True), (0.1, 1, False), (0.3, 0, False), (None, None, True)],
)
def test_bounds_are_of_the_factor_and_of_sides(
    mean: float | None, wrong: int | None, holds: bool
) -> None:
    named = {"mean": mean, "wrong": wrong}
    bounds = {name: value for name, value in named.items() if value is not None}
    assert result((4, 1.2, 0.96), (8, 2, 2.5), **bounds).holds is holds


def test_a_factor_passes_1_on_a_straight_line_of_logarithms() -> None:
    factors = {1024: 0.5, 4096: 2.0, 65536: 0.5}
    at, rises = zip(*crossings(factors), strict=True)
    assert at == pytest.approx((2048, 16384))
    assert rises == (True, False)
    one = result(*((key, factor, 2) for key, factor in factors.items()))
    assert one.crossings(one.measured) == "faster from 2 KiB, slower from 16 KiB"
    assert one.crossings(one.simulated) == "always faster"
    assert result((4, 1, 0.5)).crossings({4: 0.5, 8: 0.7}) == "never faster"


@given(
    st.dictionaries(
        st.integers(1, 2**40), st.floats(0.01, 100).filter(lambda x: x != 1), min_size=1
    )
)
def test_sides_change_at_crossings_alone(factors: dict[int, float]) -> None:
    at = [0.0, *(size for size, _ in crossings(factors)), float("inf")]
    for low, high in pairwise(at):
        sides = {factor > 1 for key, factor in factors.items() if low < key < high}
        assert len(sides) <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[gain]]\nmeen = 0.1", "gain 1: unknown key 'meen'"),
        ('[[gain]]\ntable = "t.csv"', "gain 1: .*offloaded"),
        ("gain = 3", "gain"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "checks.toml"
    path.write_text(text)
    with pytest.raises(WeftError, match=message):
        gain.read_gains(path)


def test_rows_that_nobody_measured_are_refused() -> None:
    asked = Gain(*("sharp_edr_128x1.csv", "sharp_us", "hosts_us", "hdr100-128", "ring"), least=8192)
    with pytest.raises(WeftError, match="no row is selected"):
        gain_runs.run([asked])
