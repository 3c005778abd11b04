# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point calibration: shares of cables, network and cores in a ping-pong, and its figure.

The one-way time of a message of S bytes is

    eager        send(S) + latency + (S + envelope) / rate + receive(S)
    rendezvous   latency of the segment + (S + envelope) / rate

`rate` is that of the largest messages and holds for all sizes: the extra time of smaller messages
does not occupy the cable, which others can use meanwhile. For an eager message the extra time is
spent on the two cores: half each if only a ping-pong is known; if MPI_Send was timed separately,
the receiver gets the rest. For a rendezvous message, which is not copied, the extra time is
waiting.

A stream of messages (osu_bw) separates cores from network: cores process messages sequentially, and
only latency overlaps. If cores limit the stream, the stream's time per message becomes the time of
each core, and the latency of eager messages is the remainder of the ping-pong.
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

# The rate is fitted to messages down to this factor below the largest.
_LARGE = 16
# Quantile of the first rows taken as latency: nearly all of them took at least that long.
_LOW = 0.25
# Messages per window of osu_bw, after which the receiver answers (OSU micro-benchmarks, default of
# --window-size).
_WINDOW = 64
# Cores limit a stream if its messages take this many times longer than their bytes on the link.
# Chosen among 1.25, 1.5 and 2 on alaska: hosts fitted to InfiniBand predict RoCE's collectives with
# errors of 11.6, 11.6 and 11.7 %, and those fitted to RoCE InfiniBand's with 18.0, 18.0 and 18.3 %.
_BY_CORES = 1.5
# Largest share of the cores in the shortest ping-pong; the remainder is the network's.
_MOST_OF_CORES = 0.9


@dataclass(frozen=True)
class Core:
    """Time that a message costs the sending or receiving core."""

    fixed_s: float
    per_byte_s: float


@dataclass(frozen=True)
class Eager:
    """Network and core costs of eager messages of at least `from_bytes`."""

    from_bytes: int
    latency_s: float
    send: Core
    receive: Core


@dataclass(frozen=True)
class Shares:
    """Split of a message's time between network and cores."""

    latency_s: float
    """Network latency of eager messages."""
    eager: tuple[Eager, ...]


@dataclass(frozen=True)
class Calibration:
    """Point-to-point model fitted to a ping-pong."""

    pingpong: PingPong
    rows: Rows
    """Rows of the table that were fitted."""
    transfer: Piecewise
    """Everything but the sender's measured overhead."""
    overheads: Overheads | None
    """Sender overhead, if MPI_Send was timed separately."""
    eager_threshold: int
    """Measured threshold, or else the fabric's."""
    latency_s: float
    """Network and core time of the shortest messages, without their bytes."""
    per_byte_s: float
    """Time per byte of the largest messages."""
    default: Affine
    best: Affine
    stream: Mapping[int, float] = field(default_factory=dict)
    """Measured seconds per message of a stream, by size."""

    @cached_property
    def measured(self) -> Column:
        """Measured one-way times in microseconds by size."""
        return self.pingpong.one_way.by_size()

    @property
    def fitted(self) -> Column:
        """Measured times that were fitted."""
        return self.pingpong.of(self.rows).one_way.by_size()

    @property
    def held_out(self) -> Column:
        """Measured times that were held out."""
        return {size: time for size, time in self.measured.items() if size not in self.fitted}

    @property
    def rendezvous(self) -> tuple[Segment, ...]:
        """Segments of messages that wait for their receiver (rendezvous)."""
        return tuple(
            one for one in self.transfer.segments if one.from_bytes >= self.eager_threshold
        )

    def shares(self, most_latency_s: float | None = None) -> Shares:
        """Return the shares; the network gets at most `most_latency_s` of the shortest messages."""
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
        """Return the core time per message of a stream, without its bytes; 0 if none is known."""
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
        """Times of the two affine models at the measured sizes."""
        sizes = self.pingpong.one_way.bytes
        return {
            "best-fit affine": self._column(self.best.seconds(sizes)),
            "default affine": self._column(self.default.seconds(sizes)),
        }

    def _column(self, seconds: Floats) -> Column:
        return dict(zip(self.measured, (seconds * 1e6).tolist(), strict=True))

    def error(self, model: str) -> LogError:
        """Return the error of an affine model."""
        return log_error(self.affine[model], self.measured)


def calibrate(
    pingpong: PingPong,
    segments: int | None = None,
    rows: Rows = "all",
    eager_threshold: int | None = None,
    stream: Mapping[int, float] | None = None,
) -> Calibration:
    """Fit all models with this number of segments, or as many as Schwarz's criterion selects.

    `eager_threshold` is the fabric's threshold, used if the table does not reveal one; `stream` is
    the time per message of osu_bw, by size.
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
    """Return the seconds per byte of the largest messages."""
    large = max(MIN_ROWS, int((sizes >= sizes[-1] / _LARGE).sum()))
    return piecewise.fit(sizes[-large:], seconds[-large:], 1).segments[0].per_byte_s


def _latency(sizes: Floats, seconds: Floats, per_byte: float) -> float:
    """Return the time of the shortest messages without their bytes."""
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
        samples.table.fail(samples.table.rows[-1].line, samples.column, f"{error}; use fewer")


def check_plot(target: Path) -> None:
    """Check that the figure's format can be written."""
    check_format(named("plot"), target)


def plot(calibration: Calibration, simulated: Column, target: Path) -> None:
    """Plot the measurement, the simulation on the written fabric, and the affine models."""
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
    """Drop the empty message, which logarithmic axes cannot show."""
    return {size: time for size, time in column.items() if size > 0}
