# SPDX-License-Identifier: LGPL-2.1-only
"""Intervals of calibration, propagated into `--compare`."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.support.places import ROOT
from weft import _core
from weft.base.errors import WeftError
from weft.cli.root import weft as command
from weft.study.comparison.intervals import combined

EXAMPLE = ROOT / "examples" / "allreduce_latency.c"
SPEED_UPS = st.floats(0.01, 100)


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """Return a Tofino whose turnaround and host reductions have intervals."""
    text = Path(_core.load_fabric("tofino-4").file).read_text(encoding="utf-8")
    target = tmp_path / "calibrated.toml"
    target.write_text(
        text
        + """
[calibration.intervals]
"switch.processing_latency" = ["2us", "4us"]
"link.latency" = ["0.9us", "1us"]
"""
    )
    return target


def speed_up(fabric: Path, *changes: str) -> float:
    changed = dict(change.split("=") for change in changes)
    compared = weft.compare(
        EXAMPLE, ranks=4, arguments=["64", "2"], fabric=fabric, set=changed, intervals=False
    )
    assert compared.speed_up is not None
    assert compared.speed_up_interval is None
    return compared.speed_up


def test_each_value_alone_and_all_in_quadrature(fabric: Path) -> None:
    compared = weft.compare(EXAMPLE, ranks=4, arguments=["64", "2"], fabric=fabric)
    middle = speed_up(fabric)
    assert compared.speed_up == middle
    low, high = compared.speed_up_interval or (0, 0)
    assert low < middle < high
    ups, downs = [], []
    for key, ends in {
        "switch.processing_latency": ("2us", "4us"),
        "link.latency": ("0.9us", "1us"),
    }.items():
        changes = [math.log(speed_up(fabric, f"{key}={end}") / middle) for end in ends]
        ups.append(max(0, *changes))
        downs.append(min(0, *changes))
    assert high == pytest.approx(middle * math.exp(math.hypot(*ups)))
    assert low == pytest.approx(middle * math.exp(-math.hypot(*downs)))


def test_a_value_that_the_user_set_has_no_interval(fabric: Path) -> None:
    compared = weft.compare(
        EXAMPLE,
        ranks=4,
        arguments=["64", "2"],
        fabric=fabric,
        set={"switch.processing_latency": "3us", "link.latency": "0.94us"},
    )
    assert compared.speed_up_interval is None


@pytest.mark.parametrize("without", [False, True])
def test_the_command_says_what_is_left_open(fabric: Path, tmp_path: Path, without: bool) -> None:
    program = weft.compile(EXAMPLE, tmp_path / "program")
    target = tmp_path / "compared.json"
    options = ["--fabric", str(fabric), "-n", "4", "--compare", "--json", str(target)]
    options += ["--no-intervals"] if without else []
    result = CliRunner().invoke(command, ["run", *options, "--", str(program), "64", "2"])
    said = result.output + (result.stderr if result.stderr_bytes else "")
    assert (", by calibration)" in said) is not without
    interval = json.loads(target.read_text()).get("speed_up_interval")
    assert (interval is None) is without


def test_an_end_that_makes_no_fabric_is_named_before_anything_runs(fabric: Path) -> None:
    fabric.write_text(fabric.read_text() + '"link.bandwidth" = ["0Bps", "1GBps"]\n')
    with pytest.raises(WeftError, match=r"calibration.intervals.*link.bandwidth: its end 0Bps"):
        weft.compare(EXAMPLE, ranks=4, arguments=["64", "2"], fabric=fabric)


@given(SPEED_UPS, st.lists(st.tuples(SPEED_UPS, SPEED_UPS)))
def test_an_interval_holds_the_gain_and_each_end(
    middle: float, ends: list[tuple[float, float]]
) -> None:
    low, high = combined(middle, ends)
    assert low <= middle * (1 + 1e-9)
    assert high >= middle * (1 - 1e-9)
    for pair in ends:
        assert low * (1 - 1e-9) <= min(pair)
        assert high * (1 + 1e-9) >= max(pair)
