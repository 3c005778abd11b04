# SPDX-License-Identifier: LGPL-2.1-only
"""Measured iterations: times match the table, within the errors stated on the page."""

import pytest

from studies import iterations
from studies.study import read_table
from weft.training.accelerator import load_accelerator

TABLE = {row["training"]: row for row in read_table(iterations.TIMES)}
FITTED = [name for name, row in TABLE.items() if row["use"] != "check"]


def error(row: dict[str, str]) -> float:
    return float(row["simulated_s"]) / float(row["measured_s"]) - 1


@pytest.mark.parametrize("name", FITTED)
def test_one_node_takes_the_measured_time(name: str) -> None:
    training = iterations.training_of(name)
    time_s, _ = iterations.simulated(training, load_accelerator(training.method.gpu))
    assert time_s == pytest.approx(float(TABLE[name]["simulated_s"]), rel=1e-3)
    assert time_s == pytest.approx(float(TABLE[name]["measured_s"]), rel=2e-3)


def test_errors_of_rows_that_nothing_was_fitted_to() -> None:
    found = {name: error(row) for name, row in TABLE.items() if row["use"] == "check"}
    assert set(found) == set(TABLE) - set(FITTED)
    assert all(abs(one) < 0.2 for one in found.values())
    assert sum(abs(one) < 0.16 for one in found.values()) == 3


def test_the_fit_gives_the_preset() -> None:
    rows = [row for row in TABLE.values() if row["use"] == "fit"]
    names = [row["training"] for row in rows]
    gpu = iterations.fitted(names, [float(row["measured_s"]) for row in rows])
    shipped = load_accelerator("h100-sxm")
    assert gpu.efficiency == pytest.approx(shipped.efficiency, rel=1e-3)
    assert gpu.half_size == pytest.approx(shipped.half_size, rel=1e-3)
