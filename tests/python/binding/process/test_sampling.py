# SPDX-License-Identifier: LGPL-2.1-only
"""SMPI's sampled computation and shared memory under `weft run`."""

import pytest

from tests.support.simulated import Result, Run

SPEED = ("--host-speed", "76.8Gf")  # the fabric's own speed, without scaling


def computed(result: Result) -> list[int]:
    """Return the number of iterations computed by each rank."""
    return [int(line.split()[-1]) for line in result.lines]


@pytest.mark.parametrize(("part", "iterations"), [("local", [3] * 4), ("global", [0, 0, 0, 3])])
def test_sampled_iterations_count_as_if_all_were_computed(
    run: Run, part: str, iterations: list[int]
) -> None:
    sampled = run("sampling.c", part, options=SPEED)
    whole = run("sampling.c", "all", options=SPEED)
    assert sorted(computed(sampled)) == iterations
    assert computed(whole) == [40] * 4
    times = [result.record["simulated_time_s"] for result in (sampled, whole)]
    assert times[0] == pytest.approx(times[1], rel=0.5)  # an iteration takes a few milliseconds
    assert times[0] > 0.01
    assert sampled.record["cpu_time_s"] < 0.5 * whole.record["cpu_time_s"]


@pytest.mark.parametrize("options", [SPEED, ()])
def test_a_sampled_iteration_may_read_the_clock(run: Run, options: tuple[str, ...]) -> None:
    plain, reading = (run("sampling.c", part, options=options) for part in ("local", "clocks"))
    assert computed(reading) == [3] * 4
    times = [result.record["simulated_time_s"] for result in (plain, reading)]
    assert times[1] == pytest.approx(times[0], rel=0.5)


def test_a_known_delay_is_not_computed(run: Run) -> None:
    delayed = run("sampling.c", "delay", options=SPEED)
    assert computed(delayed) == [0] * 4
    assert delayed.record["simulated_time_s"] == pytest.approx(0.25, rel=0.02)


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_shared_memory_is_one_for_all_and_takes_the_same_time(run: Run, offload: str) -> None:
    own, shared = (
        run("sampling.c", part, options=("--offload", offload)) for part in ("own", "shared")
    )
    assert own.lines == ["0 reads 17", "1 reads 0", "2 reads 0", "3 reads 0"]
    assert shared.lines == [f"{rank} reads 17" for rank in range(4)]
    assert shared.record["simulated_time_s"] == own.record["simulated_time_s"]
