# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point messages: the models fitted to a ping-pong, their errors, and their figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from weft.base.errors import named
from weft.base.measured import Column, LogError, log_error
from weft.base.plots import Series, check_format, plot_by_size
from weft.calibrate import piecewise
from weft.calibrate.affine import Affine, best_affine, default_affine
from weft.calibrate.overheads import Overheads, fit_overheads
from weft.calibrate.piecewise import Piecewise
from weft.calibrate.samples import Floats, PingPong, check_count

DEFAULT_SEGMENTS = 3


@dataclass(frozen=True)
class Calibration:
    """What a ping-pong says of point-to-point messages."""

    pingpong: PingPong
    transfer: Piecewise
    """The network's part: all that is not the sender's overhead."""
    overheads: Overheads | None
    default: Affine
    best: Affine

    @cached_property
    def measured(self) -> Column:
        """Return the measured one-way times in microseconds by size."""
        return self.pingpong.one_way.by_size()

    def seconds(self, sizes: Floats) -> Floats:
        """Return the fitted one-way times."""
        transfer = self.transfer.seconds(sizes)
        return transfer if self.overheads is None else transfer + self.overheads.send_seconds(sizes)

    @cached_property
    def models(self) -> Mapping[str, Column]:
        """Return what each of the models says of the measured sizes."""
        sizes = self.pingpong.one_way.bytes
        return {
            f"piecewise linear, {len(self.transfer.segments)} segments": self._column(
                self.seconds(sizes)
            ),
            "best-fit affine": self._column(self.best.seconds(sizes)),
            "default affine": self._column(self.default.seconds(sizes)),
        }

    def _column(self, seconds: Floats) -> Column:
        return dict(zip(self.measured, (seconds * 1e6).tolist(), strict=True))

    def error(self, model: str) -> LogError:
        """Return how far a model is from the measurement."""
        return log_error(self.models[model], self.measured)


def calibrate(pingpong: PingPong, segments: int | None = DEFAULT_SEGMENTS) -> Calibration:
    """Fit all models; with so many segments, or as many as cross-validation finds."""
    samples = pingpong.one_way
    sizes, seconds = samples.bytes, samples.seconds
    check_count(samples, piecewise.MIN_ROWS * max(2, segments or 0), _segments_text(segments))
    overheads = None
    if pingpong.send_seconds is not None:
        overheads = fit_overheads(sizes, pingpong.send_seconds)
    return Calibration(
        pingpong,
        _fit_transfer(pingpong, overheads, segments),
        overheads,
        default_affine(sizes, seconds),
        best_affine(sizes, seconds),
    )


def _segments_text(segments: int | None) -> str:
    return "the models" if segments is None else f"{segments} segments"


def _fit_transfer(
    pingpong: PingPong, overheads: Overheads | None, segments: int | None
) -> Piecewise:
    samples = pingpong.one_way
    sizes, seconds, bound = samples.bytes, samples.seconds, None
    if overheads is not None:
        seconds = seconds - overheads.send_seconds(sizes)
        bound = None if segments == 1 else overheads.eager_threshold
    try:
        if segments is None:
            return piecewise.fit_best(sizes, seconds, bound)
        return piecewise.fit(sizes, seconds, segments, bound)
    except piecewise.TooFewRowsError as error:
        samples.table.fail(samples.table.rows[-1].line, samples.column, f"{error}; take fewer")


def check_plot(target: Path) -> None:
    """Prove that the figure can be written."""
    check_format(named("plot"), target)


def plot(calibration: Calibration, target: Path) -> None:
    """Draw the measurement and the models."""
    series = [
        Series("measured", _drawable(calibration.measured), 6, measured=True),
        *(
            Series(f"{name} ({calibration.error(name).mean:.1%})", _drawable(column), number)
            for number, (name, column) in enumerate(calibration.models.items())
        ),
    ]
    title = f"One-way time: {calibration.pingpong.source}"
    plot_by_size(series, title, [target], named("plot"))


def _drawable(column: Column) -> Column:
    """Leave out the empty message, for which logarithmic axes have no place."""
    return {size: time for size, time in column.items() if size > 0}
