# SPDX-License-Identifier: LGPL-2.1-only
"""Where the eager protocol ends and what MPI_Send costs, from ping-pongs that time it apart.

An eager MPI_Send returns when it has copied the message, a rendezvous one when the receiver has it.
So the time of MPI_Send jumps at the threshold, and below it is the sender's overhead (LogGP's o).
What MPI_Recv takes of the same ping-pong is mostly waiting: it does not tell the receiver's.
"""

from dataclasses import dataclass

import numpy as np

from weft.calibrate.measurements.samples import Floats
from weft.calibrate.point_to_point.regression import relative_line

_ROWS = 5
# Rendezvous waits for a round trip at least, eager for a copy; noise alone does not double medians.
_JUMP = 2.0


@dataclass(frozen=True)
class Overheads:
    """The sender's part of the model."""

    eager_threshold: int
    """Messages of at least so many bytes wait for their receiver."""
    last_eager: int
    first_rendezvous: int
    send_fixed_s: float
    send_per_byte_s: float

    def send_seconds(self, sizes: Floats) -> Floats:
        """Return what a sender spends before the message is on its way: nothing in rendezvous."""
        eager = self.send_fixed_s + self.send_per_byte_s * sizes
        seconds: Floats = np.where(sizes < self.eager_threshold, eager, 0.0)
        return seconds


def fit_overheads(sizes: Floats, send_seconds: Floats) -> Overheads | None:
    """Return the threshold and the overhead below it; none where MPI_Send does not jump."""
    at = _jump(send_seconds)
    if at is None:
        return None
    fixed, per_byte = relative_line(sizes[:at], send_seconds[:at])
    last, first = int(sizes[at - 1]), int(sizes[at])
    return Overheads(_threshold(last, first), last, first, fixed, per_byte)


def _jump(seconds: Floats) -> int | None:
    """Return the first row after the largest step of those that stay."""
    steps = {
        row: seconds[row] / seconds[row - 1]
        for row in range(_ROWS, len(seconds) - _ROWS + 1)
        if np.median(seconds[row : row + _ROWS]) > _JUMP * np.median(seconds[row - _ROWS : row])
    }
    return max(steps, key=steps.__getitem__, default=None)


def _threshold(last_eager: int, first_rendezvous: int) -> int:
    """Return the power of two between, as MPI libraries have them, or else the size measured."""
    power = 1 << last_eager.bit_length()
    return power if power <= first_rendezvous else first_rendezvous
