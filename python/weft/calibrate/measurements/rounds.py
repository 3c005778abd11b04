# SPDX-License-Identifier: LGPL-2.1-only
"""Times of single messages, derived from an Allreduce executed by the hosts.

Open MPI's fixed decision for 4 to 15 ranks (SimGrid's copy: smpi_openmpi_selector.cpp) is recursive
doubling below 8 KiB and Rabenseifner's algorithm above. If the number of ranks is a power of two,
all ranks exchange messages simultaneously and in the same way:

    recursive doubling   T(S) = log2(ranks) * t(S)
    Rabenseifner         T(S) = 2 * (t(S/2) + t(S/4) + … + t(S/ranks))

so that a table whose sizes double yields t, the time of one message and of the addition by its
receiver.
"""

import numpy as np

from weft.base.errors import WeftError, named
from weft.calibrate.measurements.samples import PingPong, Samples
from weft.calibrate.measurements.tables import size_column

_RABENSEIFNER_FROM = 8192
_RANKS = (4, 8)


def single_messages(allreduce: Samples, ranks: int) -> PingPong:
    """Return the one-way times that make up an Allreduce with one rank on each of `ranks` hosts."""
    if ranks not in _RANKS:
        raise WeftError(f"{named('allreduce')}: found {ranks} ranks; allowed are 4 and 8")
    rounds = ranks.bit_length() - 1
    calls = dict(zip(allreduce.bytes.tolist(), allreduce.seconds.tolist(), strict=True))
    single = {size: time / rounds for size, time in calls.items() if size < _RABENSEIFNER_FROM}
    for size in (size for size in calls if size >= _RABENSEIFNER_FROM):
        parts = [size / (1 << part) for part in range(2, rounds + 1)]
        lacking = [part for part in parts if part not in single]
        if lacking:
            _fail(allreduce, size, lacking[0])
        # A size measured with recursive doubling is one message and needs no difference.
        if size / 2 not in single:
            single[size / 2] = calls[size] / 2 - sum(single[part] for part in parts)
    return PingPong(
        Samples(
            allreduce.table,
            f"{allreduce.column}, single messages of an Allreduce on {ranks} ranks",
            np.array(list(single)),
            np.array(list(single.values())),
        )
    )


def _fail(allreduce: Samples, size: float, lacking: float) -> None:
    table = allreduce.table
    line = next(row.line for row in table.rows if table.number(row, size_column(table)) == size)
    wanted = lacking if lacking < _RABENSEIFNER_FROM else 2 * lacking
    table.fail(line, "bytes", f"{size:.0f} B needs a row of {wanted:.0f} B too: sizes must double")
