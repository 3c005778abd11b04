# SPDX-License-Identifier: LGPL-2.1-only
"""Intervals of gains, from a campaign's runs at the ends of calibrated fabrics' intervals."""

from collections.abc import Callable, Iterator, Mapping

from weft.campaign.campaign import Prepared
from weft.campaign.store.index import Index
from weft.report.data.axes import FABRIC
from weft.study.comparison.intervals import Range, combined

IntervalOf = Callable[[int, int], Range | None]
"""Returns the interval of a row's gain over another row; None if it is unknown."""


def no_interval(_row: int, _other: int) -> Range | None:
    """Return None: no fabric has intervals."""
    return None


def of(prepared: Prepared, found: Index) -> IntervalOf:
    """Return a function that combines both rows' times at the ends of each value's interval.

    Rows on different fabrics have no interval, as it is unknown which values share a calibration.
    """
    done = found.rows.filter(found.rows["state"] == "done")
    times = dict(zip(done["run"], done["simulated_time_s"], strict=True))
    ends = dict(_ends(prepared, times))

    def interval(row: int, other: int) -> Range | None:
        own, theirs = ends.get(row, {}), ends.get(other, {})
        runs = prepared.runs[row], prepared.runs[other]
        if not own or own.keys() != theirs.keys():
            return None
        if runs[0].point[FABRIC] != runs[1].point[FABRIC]:
            return None
        at_ends = [(theirs[key][0] / own[key][0], theirs[key][1] / own[key][1]) for key in own]
        return combined(times[runs[1].digest] / times[runs[0].digest], at_ends)

    return interval


def _ends(
    prepared: Prepared, times: Mapping[str, float]
) -> Iterator[tuple[int, Mapping[str, Range]]]:
    """Yield the rows whose runs at interval ends are all done, with their times by value."""
    for row, run in enumerate(prepared.runs):
        pairs = {
            key: (times.get(low.digest, 0.0), times.get(high.digest, 0.0))
            for key, (low, high) in run.ends.items()
        }
        if pairs and all(low and high for low, high in pairs.values()):
            yield row, pairs
