# SPDX-License-Identifier: LGPL-2.1-only
"""Measured tables, and errors relative to them."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import OSU_4X1, log_error, read_columns

latencies = st.dictionaries(
    st.integers(1, 1 << 20), st.floats(1e-3, 1e6, allow_nan=False), min_size=1
)


def test_the_osu_table_has_19_sizes() -> None:
    columns = read_columns(OSU_4X1)
    assert set(columns) == {"mpitofino_us", "openmpi_basic_us", "openmpi_tuned_us"}
    assert list(columns["mpitofino_us"]) == [4 << k for k in range(19)]
    assert columns["mpitofino_us"][1024] == 7.95


def test_every_shipped_table_says_where_it_is_from() -> None:
    tables = sorted(paths.installed("data").glob("*.csv"))
    assert len(tables) >= 6
    for table in tables:
        comments = [line for line in table.read_text().splitlines() if line.startswith("#")]
        assert any("Source: " in line for line in comments), table


def test_twice_and_half_are_errors_of_100_percent() -> None:
    error = log_error({1: 2.0, 2: 0.5, 3: 1.0}, {1: 1.0, 2: 1.0, 3: 1.0})
    assert error.worst == pytest.approx(1.0)
    assert error.mean == pytest.approx(math.exp(2 / 3 * math.log(2)) - 1)


@given(latencies)
def test_a_perfect_simulation_has_no_error(real: dict[int, float]) -> None:
    assert log_error(real, real) == log_error({**real, -1: 5.0}, real)
    assert log_error(real, real).worst == 0


@given(latencies, st.floats(0.1, 10))
def test_a_constant_factor_is_the_error(real: dict[int, float], factor: float) -> None:
    simulated = {key: value * factor for key, value in real.items()}
    expected = max(factor, 1 / factor) - 1
    error = log_error(simulated, real)
    assert error.mean == pytest.approx(expected, abs=1e-9)
    assert error.worst == pytest.approx(expected, abs=1e-9)
    assert log_error(real, simulated).mean == pytest.approx(error.mean, abs=1e-9)


def test_a_table_with_another_key_is_refused() -> None:
    with pytest.raises(WeftError, match=r"data: .* is no table of numbers by 'ranks'"):
        read_columns(OSU_4X1, "ranks")


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(WeftError, match=f"installation: .*{Path('data/none.csv')} is missing"):
        read_columns("none.csv")
