# SPDX-License-Identifier: LGPL-2.1-only
"""Certainty of gains: expected errors of both sides, their intervals, and values not measured."""

import csv
import math
from collections import defaultdict

import pytest

from tests.support import compiled
from tests.support.simulated import weft_says
from weft.base import paths
from weft.benchmarks.measured import (
    HOSTS,
    SWITCHES,
    Call,
    Device,
    ErrorRow,
    Machine,
    beyond_measured,
    error_rows,
)
from weft.study.comparison import certainty as api
from weft.study.comparison.certainty import CallsOfKind, Side, TimedRun

SMALL = Call("allreduce", 1024, 8, 1, 1)


def rows(device: str, *errors: float, call: Call = SMALL, unfitted: bool = False) -> list[ErrorRow]:
    return [ErrorRow(SWITCHES, "t", device, call, 1e10, error, unfitted) for error in errors]


def test_eight_of_ten_calls_are_off_by_no_more() -> None:
    known = rows("mine", *(-0.01 * number for number in range(1, 11)))
    assert api.expected_error(SWITCHES, "mine", SMALL, known) == pytest.approx(0.08)


def test_a_device_without_measurements_is_as_wrong_as_unfitted_machines_are() -> None:
    known = rows("mine", *[0.01] * 10) + rows("theirs", *[0.3] * 10, unfitted=True)
    assert api.expected_error(SWITCHES, "mine", SMALL, known) == 0.01
    assert api.expected_error(SWITCHES, "another", SMALL, known) == 0.3


def test_calls_alike_count_where_there_are_enough() -> None:
    large = Call("allreduce", 1 << 20, 8, 1, 1)
    known = rows("mine", *[0.01] * 8) + rows("mine", *[0.2] * 8, call=large)
    assert api.expected_error(SWITCHES, "mine", SMALL, known) == 0.01
    assert api.expected_error(SWITCHES, "mine", large, known) == 0.2
    few = rows("mine", *[0.01] * 8) + rows("mine", *[0.2] * 7, call=large)
    assert api.expected_error(SWITCHES, "mine", large, few) == 0.2  # of all fifteen


def sides(*widths: float) -> list[Side]:
    return [Side(width, ()) for width in widths]


def test_an_interval_that_contains_1_cannot_tell() -> None:
    assert api.of_gain(1.2, sides(0.3, 0.0)).says == "cannot tell"
    assert api.of_gain(1.2, sides(0.1, 0.1)).says == "faster"
    assert api.of_gain(0.8, sides(0.1, 0.1)).says == "slower"
    found = api.of_gain(2.0, sides(0.3, 0.4))
    assert (found.low, found.high) == pytest.approx((2 / math.exp(0.5), 2 * math.exp(0.5)))


def machine(rate_Gbps: float = 100, **devices: str) -> Machine:  # noqa: N803
    names = devices or {SWITCHES: "sharp+connectx-6-hdr100"}
    found = {side: Device(name, rate_Gbps / 8 * 1e9) for side, name in names.items()}
    return Machine("mine", found, 8, [8] * 8)


def test_values_outside_the_measurements_are_named() -> None:
    call = Call("allreduce", 64 << 20, 256, 2, 2)
    assert [str(one) for one in beyond_measured(SWITCHES, machine(200), [call])] == [
        "switches: cables of 200 Gb/s (up to 100 Gb/s)",
        "switches: calls of 64 MiB (up to 16 MiB)",
    ]
    assert beyond_measured(SWITCHES, machine(), [SMALL]) == []
    assert beyond_measured(HOSTS, machine(), [SMALL]) == []


def test_devices_without_measurements_and_changed_values_are_named() -> None:
    (never,) = beyond_measured(SWITCHES, machine(switches="ideal+mine"), [SMALL])
    assert str(never) == "switches: ideal+mine"
    changes = ("switch.slots=4", "switch.max_ports=8", "nic.preset=x", "host.speed=1Gf")
    (changed,) = beyond_measured(SWITCHES, machine().changed(changes), [SMALL])
    assert str(changed) == "switches: switch.slots"


def test_calls_of_the_same_device_in_both_runs_are_not_counted() -> None:
    both = machine(switches="tofino+connectx-6-dx", hosts="xeon-8360+openmpi-ucx-roce")
    first, second = ("allreduce", 4, "INT", "SUM"), ("bcast", 4, "INT", "")

    def run(time_s: float, *, offloaded: bool) -> TimedRun:
        kinds = {
            first: CallsOfKind(10, 10240, time_s / 2, offloaded),
            second: CallsOfKind(10, 10240, time_s / 2, offloaded=False),
        }
        return TimedRun(both, time_s, 1, 4, kinds)

    ours, theirs = run(1.0, offloaded=True), run(2.0, offloaded=False)
    call = Call("allreduce", 1024, 4, 1, 1, 0.5)
    wide = math.hypot(*(api.of_side(side, both, [call]).width for side in (SWITCHES, HOSTS)))
    found = api.of_runs(ours, theirs)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2 / math.exp(wide), 2 * math.exp(wide)))
    assert api.of_runs(ours, ours) is None
    assert api.of_runs(theirs, theirs) is None
    calibrated = api.of_runs(ours, theirs, (0.9, 2.5))
    assert calibrated is not None
    assert (calibrated.basis, calibrated.says) == ("calibration", "cannot tell")


def test_measured_calls_have_their_ranks() -> None:
    placed = {(row.table, row.call.ranks, row.call.ppn) for row in error_rows()}
    for table, ranks, ppn in (
        ("alaska_ib_openmpi4", 64, 32),
        ("ucc_allreduce_32x40", 1280, 40),
        ("tofino_micro_allreduce_vs_ranks", 8, 2),
        ("tofino_osu_allreduce_4x1", 4, 1),
    ):
        assert (table, ranks, ppn) in placed


def test_hosts_without_measurements_are_as_wrong_as_clusters_left_out_of_the_fit() -> None:
    with paths.data("hosts_left_out.csv").open(encoding="utf-8") as file:
        predicted = [*csv.DictReader(line for line in file if not line.startswith("#"))]
    left_out = [row for row in error_rows() if row.device.endswith(" left out")]
    assert len(left_out) == len(predicted) > 700
    assert all(row.unfitted and row.side == HOSTS for row in left_out)
    assert {row["fabric"] for row in predicted} >= {"alaska-2", "csd3-2", "abci-v-32", "abci-a-16"}
    errors = sum(abs(row.error) for row in left_out) / len(left_out)
    assert math.expm1(errors) < 0.3


def test_intervals_hold_70_to_90_percent_of_measured_gains() -> None:
    """Each measured call of the switches beside each of the hosts in the same table."""
    pairs: dict[tuple[str, Call], dict[str, list[ErrorRow]]] = defaultdict(
        lambda: {SWITCHES: [], HOSTS: []}
    )
    for row in error_rows():
        pairs[row.table, row.call][row.side].append(row)
    inside = [
        abs(ours.error - theirs.error)
        <= math.hypot(
            api.expected_error(SWITCHES, ours.device, call),
            api.expected_error(HOSTS, theirs.device, call),
        )
        for (_, call), sides in pairs.items()
        for ours in sides[SWITCHES]
        for theirs in sides[HOSTS]
    ]
    assert len(inside) > 100
    assert 0.7 <= sum(inside) / len(inside) <= 0.9


def test_the_last_line_and_the_file_say_how_sure_a_gain_is(tmp_path: object) -> None:
    program = str(compiled.example("allreduce_latency"))
    on = ("run", "--compare", "--fabric", "tofino-4", "-n", "4")
    known = weft_says(*on, "--", program, "1024")
    (line,) = [one for one in known.stderr.splitlines() if "simulated time" in one]
    assert "in 80% of measured cases like it" in line
    assert "not measured" not in line
    faster = weft_says(*on, "--set", "link.bandwidth=200Gbps", "--", program, "1024")
    (line,) = [one for one in faster.stderr.splitlines() if "simulated time" in one]
    assert "(not measured: switches: cables of 200 Gb/s (up to 100 Gb/s)" in line
