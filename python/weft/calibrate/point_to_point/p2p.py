# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point messages: what cables, network and cores take of a ping-pong, and its figure.

A message of S bytes takes, one way:

    eager        send(S) + latency + (S + envelope) / rate + receive(S)
    rendezvous   latency of the segment + (S + envelope) / rate

`rate` is that of the largest messages and holds for all: what smaller ones take beside it is not
the cable's, which others can use meanwhile. Of an eager message it is the two cores' time: where
only a ping-pong is known, half each; where MPI_Send was timed apart, the receiver has the rest. Of
a rendezvous message, which nobody copies, it is waiting.

A stream of messages (osu_bw) tells cores and network apart: cores work on one message after the
other, and only latency overlaps. Where cores limit the stream, each has what a message of it
takes, and the latency of eager messages is the rest of the ping-pong.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.measured import Column, LogError, log_error
from weft.base.plots import Series, check_format, plot_by_size
from weft.calibrate.measurements.samples import Floats, PingPong, check_count
from weft.calibrate.measurements.tables import Rows
from weft.calibrate.point_to_point import piecewise
from weft.calibrate.point_to_point.affine import Affine, best_affine, default_affine
from weft.calibrate.point_to_point.overheads import Overheads, fit_overheads
from weft.calibrate.point_to_point.piecewise import ENVELOPE, MIN_ROWS, Piecewise, Segment, Side

# The rate is that of messages down to so much smaller than the largest.
_LARGE = 16
# Of the first rows, what is taken for latency: nearly all of them took that long at least.
_LOW = 0.25
# Messages of a window of osu_bw, after which the receiver answers (OSU micro-benchmarks, default of
# --window-size).
_WINDOW = 64
# Where a stream's messages take so much longer than their bytes on the link, the cores limit it.
# Chosen here among 1.25, 1.5 and 2 on alaska: hosts of InfiniBand predict RoCE's collectives 11.6,
# 11.6 and 11.7 % off, and those of RoCE InfiniBand's 18.0, 18.0 and 18.3 %.
_BY_CORES = 1.5
# Of the shortest ping-pong, at most this is the cores': a network takes some time.
_MOST_OF_CORES = 0.9


@dataclass(frozen=True)
class Core:
    """What one message costs the core that sends or receives it."""

    fixed_s: float
    per_byte_s: float


@dataclass(frozen=True)
class Eager:
    """Costs of eager messages of at least so many bytes, to the network and to cores."""

    from_bytes: int
    latency_s: float
    send: Core
    receive: Core


@dataclass(frozen=True)
class Shares:
    """What of a message is the network's and what the cores'."""

    latency_s: float
    """The network's, of eager messages."""
    eager: tuple[Eager, ...]


@dataclass(frozen=True)
class Calibration:
    """What a ping-pong says of point-to-point messages."""

    pingpong: PingPong
    rows: Rows
    """Of the table, those fitted to."""
    transfer: Piecewise
    """All that is not the sender's measured overhead."""
    overheads: Overheads | None
    """Of the sender, where MPI_Send was timed apart."""
    eager_threshold: int
    """Measured, or else what the fabric has."""
    latency_s: float
    """Of the shortest messages: what network and cores take together beside their bytes."""
    per_byte_s: float
    """Of the largest messages."""
    default: Affine
    best: Affine
    stream: Mapping[int, float] = field(default_factory=dict)
    """Measured time of a message of a stream, in seconds by size."""

    @cached_property
    def measured(self) -> Column:
        """Return the measured one-way times in microseconds by size."""
        return self.pingpong.one_way.by_size()

    @property
    def fitted(self) -> Column:
        """Return those fitted to."""
        return self.pingpong.of(self.rows).one_way.by_size()

    @property
    def held_out(self) -> Column:
        """Return the others."""
        return {size: time for size, time in self.measured.items() if size not in self.fitted}

    @property
    def rendezvous(self) -> tuple[Segment, ...]:
        """The segments of messages that wait for their receiver."""
        return tuple(
            one for one in self.transfer.segments if one.from_bytes >= self.eager_threshold
        )

    def shares(self, most_latency_s: float | None = None) -> Shares:
        """Say what is whose; of the shortest messages, at most so much is the network's."""
        latency = self.latency_s if most_latency_s is None else min(self.latency_s, most_latency_s)
        eager = (one for one in self.transfer.segments if one.from_bytes < self.eager_threshold)
        return Shares(latency, tuple(self._eager(segment, latency) for segment in eager))

    def _eager(self, segment: Segment, latency_s: float) -> Eager:
        per_byte = max(0.0, segment.per_byte_s - self.per_byte_s)
        fixed = max(0.0, segment.fixed_s - latency_s) + per_byte * ENVELOPE
        send = self.overheads
        if send is None:
            own = self._core_seconds(segment, per_byte / 2)
            own = fixed / 2 if own == 0 else min(own, _MOST_OF_CORES * (latency_s + fixed) / 2)
            half = Core(own, per_byte / 2)
            return Eager(segment.from_bytes, latency_s + fixed - 2 * own, half, half)
        sender = Core(send.send_fixed_s, send.send_per_byte_s)
        return Eager(segment.from_bytes, latency_s, sender, Core(fixed, per_byte))

    def _core_seconds(self, segment: Segment, per_byte_s: float) -> float:
        """Return what a message of a stream takes each core beside its bytes; 0 if none tells."""
        after = [one.from_bytes for one in self.transfer.segments]
        end = min((one for one in after if one > segment.from_bytes), default=math.inf)
        answer = 2 * self.latency_s / _WINDOW
        cores = [
            seconds - answer - per_byte_s * size
            for size, seconds in self.stream.items()
            if segment.from_bytes <= size < end
            and seconds > _BY_CORES * self.per_byte_s * (size + ENVELOPE)
        ]
        return max(0.0, float(np.median(cores))) if cores else 0.0

    def seconds(self, sizes: Floats) -> Floats:
        """Return the fitted one-way times."""
        transfer = self.transfer.seconds(sizes)
        return transfer if self.overheads is None else transfer + self.overheads.send_seconds(sizes)

    @cached_property
    def affine(self) -> Mapping[str, Column]:
        """Return what the two affine models say of the measured sizes."""
        sizes = self.pingpong.one_way.bytes
        return {
            "best-fit affine": self._column(self.best.seconds(sizes)),
            "default affine": self._column(self.default.seconds(sizes)),
        }

    def _column(self, seconds: Floats) -> Column:
        return dict(zip(self.measured, (seconds * 1e6).tolist(), strict=True))

    def error(self, model: str) -> LogError:
        """Return how far an affine model is from the measurement."""
        return log_error(self.affine[model], self.measured)


def calibrate(
    pingpong: PingPong,
    segments: int | None = None,
    rows: Rows = "all",
    eager_threshold: int | None = None,
    stream: Mapping[int, float] | None = None,
) -> Calibration:
    """Fit all models; with so many segments, or as many as cross-validation finds.

    `eager_threshold` is of the fabric that keeps its own where the table does not tell it; `stream`
    is what a message of osu_bw takes, by size.
    """
    chosen = pingpong.of(rows)
    samples = chosen.one_way
    sizes, seconds = samples.bytes, samples.seconds
    check_count(samples, 2 * MIN_ROWS, "the models", rows)
    overheads = None
    if chosen.send_seconds is not None:
        overheads = fit_overheads(sizes, chosen.send_seconds)
    if overheads is not None:
        threshold = overheads.eager_threshold
        seconds = seconds - overheads.send_seconds(sizes)
    else:
        threshold = eager_threshold or _core.SMPI_EAGER_THRESHOLD_BYTES
    per_byte = _large_messages_cost(sizes, seconds)
    latency = _latency(sizes, seconds, per_byte)
    sides = (
        Side(0, latency, per_byte),
        Side(threshold, piecewise.LEAST_FIXED_S, per_byte, held=True),
    )
    return Calibration(
        pingpong,
        rows,
        _fit_transfer(chosen, seconds, segments, sides),
        overheads,
        threshold,
        latency,
        per_byte,
        default_affine(sizes, samples.seconds),
        best_affine(sizes, samples.seconds),
        stream or {},
    )


def _large_messages_cost(sizes: Floats, seconds: Floats) -> float:
    """Return what a byte of the largest messages takes."""
    large = max(MIN_ROWS, int((sizes >= sizes[-1] / _LARGE).sum()))
    return piecewise.fit(sizes[-large:], seconds[-large:], 1).segments[0].per_byte_s


def _latency(sizes: Floats, seconds: Floats, per_byte: float) -> float:
    """Return what the shortest messages take beside their bytes."""
    first = max(MIN_ROWS, len(sizes) // 25)
    rest = seconds[:first] - per_byte * (sizes[:first] + ENVELOPE)
    return max(piecewise.LEAST_FIXED_S, float(np.quantile(rest, _LOW)))


def _fit_transfer(
    chosen: PingPong, seconds: Floats, segments: int | None, sides: tuple[Side, ...]
) -> Piecewise:
    samples = chosen.one_way
    sizes = samples.bytes
    if segments is None:
        return piecewise.fit_best(sizes, seconds, sides)
    if segments < (least := piecewise.least_segments(sizes, sides)):
        raise WeftError(
            f"{named('segments')}: found {segments}; eager and rendezvous messages are segments of"
            f" their own, and {samples.table.path.name} has both (the eager threshold is"
            f" {sides[1].from_bytes} B): allowed are {least} to {piecewise.MAX_SEGMENTS}, and auto"
        )
    try:
        return piecewise.fit(sizes, seconds, segments, sides)
    except piecewise.TooFewRowsError as error:
        samples.table.fail(samples.table.rows[-1].line, samples.column, f"{error}; take fewer")


def check_plot(target: Path) -> None:
    """Prove that the figure can be written."""
    check_format(named("plot"), target)


def plot(calibration: Calibration, simulated: Column, target: Path) -> None:
    """Draw the measurement, what the written fabric gives, and the affine models."""
    columns = {"as simulated": simulated, **calibration.affine}
    series = [
        Series("measured", _drawable(calibration.measured), 6, measured=True),
        *(
            Series(
                f"{name} ({log_error(column, calibration.measured).mean:.1%})",
                _drawable(column),
                number,
            )
            for number, (name, column) in enumerate(columns.items())
        ),
    ]
    title = f"One-way time: {calibration.pingpong.source}"
    plot_by_size(series, title, [target], named("plot"))


def _drawable(column: Column) -> Column:
    """Leave out the empty message, for which logarithmic axes have no place."""
    return {size: time for size, time in column.items() if size > 0}
