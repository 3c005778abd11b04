# SPDX-License-Identifier: LGPL-2.1-only
"""Eager threshold and sender overhead, from ping-pongs that time MPI_Send separately.

An eager MPI_Send returns once the message is copied, a rendezvous one once the receiver has it. The
time of MPI_Send therefore jumps at the threshold, and below it equals the sender's overhead
(LogGP's o). The time of MPI_Recv in the same ping-pong is mostly waiting and does not reveal the
receiver's overhead.
"""

from dataclasses import dataclass

import numpy as np

from weft.calibrate.measurements.samples import Floats
from weft.calibrate.point_to_point.regression import relative_line

_ROWS = 5
# Rendezvous waits for at least a round trip, eager only for a copy; noise does not double medians.
_JUMP = 2.0


@dataclass(frozen=True)
class Overheads:
    """Sender's share of the model."""

    eager_threshold: int
    """Messages of at least this size wait for their receiver."""
    last_eager: int
    first_rendezvous: int
    send_fixed_s: float
    send_per_byte_s: float

    def send_seconds(self, sizes: Floats) -> Floats:
        """Return the sender's time before the message is in flight: zero for rendezvous."""
        eager = self.send_fixed_s + self.send_per_byte_s * sizes
        seconds: Floats = np.where(sizes < self.eager_threshold, eager, 0.0)
        return seconds


def fit_overheads(sizes: Floats, send_seconds: Floats) -> Overheads | None:
    """Return the threshold and the overhead below it; None if MPI_Send shows no jump."""
    at = _jump(send_seconds)
    if at is None:
        return None
    fixed, per_byte = relative_line(sizes[:at], send_seconds[:at])
    last, first = int(sizes[at - 1]), int(sizes[at])
    return Overheads(_threshold(last, first), last, first, fixed, per_byte)


def _jump(seconds: Floats) -> int | None:
    """Return the first row after the largest persistent jump."""
    steps = {
        row: seconds[row] / seconds[row - 1]
        for row in range(_ROWS, len(seconds) - _ROWS + 1)
        if np.median(seconds[row : row + _ROWS]) > _JUMP * np.median(seconds[row - _ROWS : row])
    }
    return max(steps, key=steps.__getitem__, default=None)


def _threshold(last_eager: int, first_rendezvous: int) -> int:
    """Return the power of two in between, as MPI libraries use, else the first rendezvous size."""
    power = 1 << last_eager.bit_length()
    return power if power <= first_rendezvous else first_rendezvous
