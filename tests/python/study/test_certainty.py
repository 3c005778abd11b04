# SPDX-License-Identifier: LGPL-2.1-only
"""Certainty of gains: expected errors of both sides, their intervals, and values not measured."""

import csv
import math
import re
from dataclasses import replace

import pytest

from tests.support import compiled
from tests.support.simulated import weft_says
from weft.base import paths
from weft.benchmarks.certainty import CALIBRATION, Certainty, gained, of_interval
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

SMALL = Call("allreduce", 1024, 8, 1, 1, "stream")


def rows(
    device: str, *errors: float, call: Call = SMALL, table: str = "t", unfitted: bool = False
) -> list[ErrorRow]:
    return [ErrorRow(SWITCHES, table, device, call, 1e10, error, unfitted) for error in errors]


def expected(device: str, known: list[ErrorRow], call: Call = SMALL) -> float:
    return api.expected_error(SWITCHES, device, call, known)


def test_eight_of_ten_other_calls_are_off_by_no_more() -> None:
    known = rows("mine", *(-0.01 * number for number in range(1, 15)))
    assert expected("mine", known) == pytest.approx(0.12)  # the error of rank 0.8 x 15
    assert expected("mine", known[:9]) == pytest.approx(0.08)


def test_a_device_without_measurements_is_as_wrong_as_unfitted_machines_are() -> None:
    known = rows("mine", *[0.01] * 10) + rows("theirs", *[0.3] * 10, unfitted=True)
    assert expected("mine", known) == 0.01
    assert expected("another", known) == 0.3
    assert expected("mine", known[3:]) == 0.3  # seven errors of its own are too few


def test_the_executor_distinguishes_errors() -> None:
    message, other = replace(SMALL, executor="message"), replace(SMALL, collective="bcast")
    known = rows("mine", *[0.01] * 8) + rows("mine", *[0.2] * 8, call=message)
    known += rows("theirs", *[0.3] * 8, unfitted=True)
    assert expected("mine", known) == 0.01
    assert expected("mine", known, message) == 0.2
    assert expected("mine", known, replace(SMALL, executor="multicast")) == 0.3
    assert expected("mine", known, other) == 0.01  # mechanisms stream all collectives alike
    of_hosts = [replace(row, side=HOSTS) for row in known]
    assert api.expected_error(HOSTS, "mine", SMALL, of_hosts) == 0.01
    assert api.expected_error(HOSTS, "mine", other, of_hosts) == 0.3  # another algorithm


def test_the_worst_table_of_a_device_counts() -> None:
    known = rows("mine", *[0.01] * 20) + rows("mine", *[0.2] * 4, table="another")
    assert expected("mine", known) == 0.2
    unfitted = [replace(row, unfitted=True) for row in known]
    assert expected("another", unfitted) == 0.01


def test_calls_alike_count_where_there_are_enough() -> None:
    large = replace(SMALL, bytes=1 << 20)
    known = rows("mine", *[0.01] * 8) + rows("mine", *[0.2] * 8, call=large)
    assert expected("mine", known) == 0.01
    assert expected("mine", known, large) == 0.2
    assert expected("mine", known[:-1], large) == 0.2  # of all fifteen
    twelve = replace(SMALL, ranks=12)
    known = rows("mine", *[0.01] * 8) + rows("mine", *[0.2] * 8, call=twelve)
    assert expected("mine", known) == 0.01
    assert expected("mine", known, replace(SMALL, ranks=6)) == 0.2


def test_few_machines_do_not_vouch_for_unfitted_ones() -> None:
    several = replace(SMALL, ppn=2)
    known = rows("first", *[0.01] * 20, unfitted=True) + rows("second", *[0.02] * 20, unfitted=True)
    known += rows("third", *[0.3] * 20, call=several, unfitted=True)
    assert expected("mine", known) == 0.3
    assert expected("mine", known + rows("fourth", 0.02, unfitted=True)) == 0.02


def sides(*widths: float) -> list[Side]:
    return [Side(width, ()) for width in widths]


def test_an_interval_that_contains_1_cannot_tell() -> None:
    assert api.of_gain(1.2, sides(0.3, 0.0)).says == "cannot tell"
    assert api.of_gain(1.2, sides(0.1, 0.1)).says == "faster"
    assert api.of_gain(0.8, sides(0.1, 0.1)).says == "slower"


def test_sentences_about_a_gain_agree() -> None:
    """An interval that is shown as 1.00 to 1.00 is a tie in all sentences, whatever its ends."""
    for low, high, says, phrase in (
        (0.9996, 1.0004, "same", "no gain (1.00 to 1.00, 80 %)"),
        (1.0001, 1.004, "same", "no gain (1.00 to 1.00, 80 %)"),
        (0.996, 0.9999, "same", "no gain (0.996 to 1.00, 80 %)"),
        (0.9, 1.2, "cannot tell", "equally fast (0.900 to 1.20, 80 %): cannot tell"),
        (1.001, 1.3, "faster", "equally fast (1.00 to 1.30, 80 %)"),
        (0.7, 0.999, "slower", "equally fast (0.700 to 0.999, 80 %)"),
    ):
        found = of_interval(low, high, "measurements")
        assert found.says == says
        assert gained(1.0001 if low < 1 <= high or says == "faster" else 0.9999, found) == phrase
        assert (": cannot tell" in str(found)) == (says == "cannot tell")
    unsure = of_interval(0.9, 1.5, "measurements")
    assert gained(1.2, unsure) == "1.20 times as fast (0.900 to 1.50, 80 %): cannot tell"
    assert gained(0.8, of_interval(0.7, 0.9, CALIBRATION)) == (
        "0.800 times as fast (0.700 to 0.900, by calibration)"
    )
    assert (gained(1.003, None), gained(1.006, None)) == ("no gain", "1.01 times as fast")
    assert gained(None, None) == "no simulated time in either run"
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
    fitted = machine().changed(["switch.streaming_from=1TB"])
    assert beyond_measured(SWITCHES, fitted, [SMALL]) == []
    assert (
        len(beyond_measured(SWITCHES, fitted.changed(["switch.streaming_from=1GB"]), [SMALL])) == 1
    )


def test_calls_of_the_same_device_in_both_runs_are_not_counted() -> None:
    both = machine(switches="tofino+connectx-6-dx", hosts="xeon-8360+openmpi-ucx-roce")
    first, second = ("allreduce", 4, "INT", "SUM"), ("bcast", 4, "INT", "")

    def run(time_s: float, *, offloaded: bool) -> TimedRun:
        kinds = {
            first: [
                CallsOfKind("stream", 9, 9216, time_s / 2, offloaded=True),
                CallsOfKind("nonoverlapping", 1, 1024, time_s / 9, offloaded=False),
            ]
            if offloaded
            else [
                CallsOfKind("recursive_doubling", 5, 5120, time_s / 4, offloaded=False),
                CallsOfKind("nonoverlapping", 5, 5120, time_s / 4, offloaded=False),
            ],
            second: [CallsOfKind("binomial", 10, 10240, time_s / 3, offloaded=False)],
        }
        return TimedRun(both, time_s, 1, 4, kinds)

    ours, theirs = run(1.0, offloaded=True), run(2.0, offloaded=False)
    calls = [Call("allreduce", 1024, 4, 1, 1, "stream", 0.5)]
    theirs_calls = [
        Call("allreduce", 1024, 4, 1, 1, name, 0.25)
        for name in ("recursive_doubling", "nonoverlapping")
    ]
    widths = (
        api.of_side(SWITCHES, both, calls).width,
        api.of_side(HOSTS, both, theirs_calls).width,
    )
    assert 0 < widths[0] < widths[1]
    wide = math.hypot(*widths)
    found = api.of_runs(ours, theirs)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2 / math.exp(wide), 2 * math.exp(wide)))
    assert api.of_runs(ours, ours) is None
    assert api.of_runs(theirs, theirs) is None
    calibrated = api.of_runs(ours, theirs, (0.9, 2.5))
    assert calibrated is not None
    assert (calibrated.basis, calibrated.says) == ("calibration", "cannot tell")


def test_waiting_for_late_ranks_is_not_charged_to_a_side() -> None:
    both = machine(switches="tofino+connectx-6-dx", hosts="xeon-8360+openmpi-ucx-roce")
    kind = ("allreduce", 4, "INT", "SUM")

    def interval(wait_s: float) -> Certainty:
        ours, theirs = (
            TimedRun(
                both, 1.0, 1, 4, {kind: [CallsOfKind(name, 10, 10240, 0.9, offloaded, wait_s)]}
            )
            for name, offloaded in (("stream", True), ("recursive_doubling", False))
        )
        found = api.of_runs(ours, theirs)
        assert found is not None
        return found

    charged, waited = interval(0.0), interval(0.81)
    assert math.log(waited.high) == pytest.approx(0.1 * math.log(charged.high))
    assert (charged.says, interval(0.9).says) == ("cannot tell", "same")


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


def test_the_last_lines_and_the_file_say_how_sure_a_gain_is(tmp_path: object) -> None:
    program = str(compiled.example("allreduce_latency"))
    on = ("run", "--compare", "--fabric", "tofino-4", "-n", "4")
    known = weft_says(*on, "--", program, "1024")
    assert re.search(
        r"^[\d.]+ times as fast \([\d.]+ to [\d.]+, 80 %\)$", known.stderr, re.MULTILINE
    )
    assert "not measured: " not in known.stderr
    faster = weft_says(*on, "--set", "link.bandwidth=200Gbps", "--", program, "1024")
    (line,) = [one for one in faster.stderr.splitlines() if "not measured: " in one]
    assert "switches: cables of 200 Gb/s (up to 100 Gb/s)" in line
    nowhere = "cable host-0 of 200 Gb/s (a port of tofino (Ethernet) has 100 Gb/s)"
    assert nowhere in faster.stderr
