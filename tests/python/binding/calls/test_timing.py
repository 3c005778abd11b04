# SPDX-License-Identifier: LGPL-2.1-only
"""Times on an idle star compared with closed forms (docs/models.md), and late ranks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tests.support.simulated import Run
from weft.base import paths

TOLERANCE = 1e-9
SIZES = [4 << k for k in range(21)] + [252, 260, 65532, 65540, 131076, 1000000]


# Segments of messages in fabrics/tofino-4.toml: lower bound, latency factor, bandwidth factor.
SEGMENTS = (
    (0, 0.9902, 0.961934),
    (65536, 2.9814, 0.961934),
    (131072, 3.2761, 0.961934),
    (262144, 2.3205, 0.961934),
)
# Costs of a message on each host: lower bound, overhead, copy rate
# (presets/messages/openmpi-ucx-roce.toml).
OVERHEADS = (
    (0, 7.667e-9, 4.742e9),
    (32, 2.876e-8, 1.778e9),
    (256, 3.005e-7, 6.923e9),
    (2048, 4.466e-7, 1.138e10),
    (8192, 9.618e-7, 3.033e10),
    (65536, 0.0, math.inf),
)


@dataclass(frozen=True)
class Star:
    """Parameters of fabrics/tofino-4.toml and its presets, in seconds and bytes."""

    link_latency: float = 0.94e-6
    bandwidth: float = 100e9 / 8
    forwarding: float = 495.5e-9
    processing: float = 3.86e-6  # with the second pipeline
    turnaround: float = 9.29e-6  # with the second pipeline
    overhead: float = 1.44e-6
    gap: float = 1.684524e-6
    slots: int = 256
    payload: int = 256
    packet_overhead: int = 82

    def wire(self, size: float) -> float:
        return size + self.packet_overhead * math.ceil(size / self.payload)

    def streaming(self, size: int, rate: float) -> float:
        """Return the time of full windows, each at least a turnaround, plus the remainder."""
        window = self.slots * self.payload
        windows = (math.ceil(size / self.payload) - 1) // self.slots
        each = max(self.turnaround, self.wire(window) / rate)
        return windows * each + self.wire(size - windows * window) / rate

    def base(self, ppn: int = 1) -> float:
        return self.overhead + 2 * self.link_latency + self.processing + (ppn - 1) * self.gap

    def stream(self, size: int, ppn: int = 1) -> float:
        return self.base(ppn) + self.streaming(size, self.bandwidth / ppn)

    def message(self, size: int) -> float:
        way = self.link_latency + size / self.bandwidth
        return self.overhead + way + self.processing + way

    def small_message(self, size: int, ppn: int) -> float:
        """Return the time with several ranks per host if their messages do not queue in the NIC."""
        assert size / self.bandwidth < self.gap
        up = (ppn - 1) * self.gap + self.link_latency + size / self.bandwidth
        down = self.link_latency + ppn * size / self.bandwidth
        return self.overhead + up + self.processing + down

    def point_to_point(self, size: int, messages: int = 1) -> float:
        latency_factor, bandwidth_factor = _row(SEGMENTS, size)
        overhead, copy_rate = _row(OVERHEADS, size)
        route = 2 * self.link_latency + self.forwarding
        envelope = 16  # added by SMPI to every message
        alone = (size + envelope) / (bandwidth_factor * self.bandwidth)
        hosts = 2 * (overhead + size / copy_rate)
        return latency_factor * route + messages * alone + hosts


def _row(rows: Sequence[tuple[float, float, float]], size: int) -> tuple[float, float]:
    return next((one, other) for start, one, other in reversed(rows) if size >= start)


STAR = Star()


@dataclass(frozen=True)
class Call:
    """Times at which each rank entered and left an Allreduce."""

    entered: list[float]
    left: list[float]

    @property
    def duration(self) -> float:
        """Time from the last contribution to the last result."""
        return max(self.left) - max(self.entered)


def measure(run: Run, offload: str, ranks: int, ppn: int, *late: str) -> dict[int, Call]:
    """Return the calls by size; all ranks enter the first one at time 0."""
    sizes = ",".join(str(size) for size in SIZES)
    options = ("--offload", offload, "--ppn", str(ppn))
    calls = {size: Call([], []) for size in SIZES}
    for line in run("latency.c", sizes, *late, ranks=ranks, options=options).lines:
        _, size, entered, left = line.split()
        calls[int(size)].entered.append(float(entered))
        calls[int(size)].left.append(float(left))
    assert {len(call.left) for call in calls.values()} == {ranks}
    return calls


@pytest.mark.parametrize(("ranks", "ppn"), [(4, 1), (8, 2), (2, 1), (10, 3)])
def test_a_stream_lasts_as_long_as_its_closed_form(run: Run, ranks: int, ppn: int) -> None:
    star = STAR if ranks > 2 else replace(STAR, processing=3e-6, turnaround=8.43e-6)
    for size, call in measure(run, "stream", ranks, ppn).items():
        assert len(set(call.entered)) == len(set(call.left)) == 1
        assert call.duration == pytest.approx(star.stream(size, ppn), rel=TOLERANCE)


def test_a_message_lasts_as_long_as_its_closed_form(run: Run) -> None:
    for size, call in measure(run, "message", 4, 1).items():
        assert len(set(call.entered)) == len(set(call.left)) == 1
        assert call.duration == pytest.approx(STAR.message(size), rel=TOLERANCE)


def test_small_messages_of_ranks_that_share_a_nic_follow_one_another(run: Run) -> None:
    calls = measure(run, "message", 8, 2)
    for size in (4, 1024, 16384):
        expected = STAR.small_message(size, 2)
        assert calls[size].duration == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_all_leave_together_after_the_last_has_come(run: Run, offload: str) -> None:
    expected = {"stream": STAR.stream, "message": STAR.message}[offload]
    for size, call in measure(run, offload, 4, 1, "2", "500").items():
        assert max(call.entered) - min(call.entered) == pytest.approx(500e-6, rel=TOLERANCE)
        assert len(set(call.left)) == 1
        assert call.duration == pytest.approx(expected(size), rel=TOLERANCE)


def test_the_record_has_the_times_that_the_program_sees(run: Run) -> None:
    result = run("latency.c", "1024", "3", "20")
    row = result.row()
    assert row["max_time_s"] == pytest.approx(20e-6 + STAR.stream(1024), rel=TOLERANCE)
    assert row["total_time_s"] == pytest.approx(3 * 20e-6 + 4 * STAR.stream(1024), rel=TOLERANCE)
    assert result.record["simulated_time_s"] == pytest.approx(row["max_time_s"], rel=TOLERANCE)


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_ping_pong_takes_the_fabrics_factors(run: Run, ranks: int) -> None:
    sizes = (0, 1, 100, 255, 256, 2047, 2048, 65537, 131071, 131072, 1 << 20, 1 << 26)
    result = run("pingpong.c", ",".join(str(size) for size in sizes), ranks=ranks)
    times = {int(size): float(time) for size, time in map(str.split, result.lines)}
    assert sorted(times) == list(sizes)
    for size, time in times.items():
        assert time == pytest.approx(STAR.point_to_point(size), rel=TOLERANCE)


@pytest.mark.parametrize("size", [70000, 140000, 300000])
def test_a_halo_exchange_shares_each_cable_among_four_messages(run: Run, size: int) -> None:
    program = str(paths.example("halo_exchange.c"))
    (line,) = run(program, "3", str(size), options=("--offload", "off")).lines
    expected = STAR.point_to_point(size, messages=4)
    assert line == f"2 x 2 ranks, {size} bytes: {expected * 1e6:.3f} us"


@pytest.mark.parametrize("threshold", [0, 100])
def test_no_message_overtakes_another_of_its_tag(run: Run, threshold: int) -> None:
    """SMPI orders messages by numbering them; weft counts them instead."""
    options = ("--offload", "off", "--cfg", f"smpi/async-small-thresh:{threshold}")
    assert run("overtaking.c", options=options).lines == ["in order"]


def test_latency_of_1_kib_hardly_depends_on_the_number_of_hosts(run: Run) -> None:
    """Belbeisi et al. (CF '26), figure 5: the difference is below 1 us from 4 to 16 hosts."""
    times = [
        run("latency.c", "1024", on="tofino-16", ranks=hosts).row()["max_time_s"]
        for hosts in (4, 16)
    ]
    assert max(times) - min(times) < 1e-6
