# SPDX-License-Identifier: LGPL-2.1-only
"""Rows of the profile table: the use of the ranks' simulated time."""

from weft.runs.record_data import ProfilePart, RecordData

_LABELS = {"other": "other MPI calls", "ended": "after its end"}
_SHOWN_S = 0.5e-9
"""Threshold below which a time prints as 0.000 us; rows with only such times are omitted."""


def profile_rows(record: RecordData) -> list[dict[str, str]]:
    """Return the rows of the profile, whose means add up to the run's time."""
    taking = [part for part in record.profile if takes_time(part.most_s)]
    return [_row(part, record.simulated_time_s) for part in taking]


def kind_name(kind: str) -> str:
    """Return the name of a `profile` kind in tables."""
    return _LABELS.get(kind, kind)


def takes_time(time_s: float) -> bool:
    """Return True if a table would show this time as nonzero."""
    return time_s >= _SHOWN_S


def _row(part: ProfilePart, simulated_time_s: float) -> dict[str, str]:
    return {
        "time per rank": kind_name(part.kind),
        "calls": str(part.calls) if part.calls else "",
        "min(us)": f"{part.least_s * 1e6:.3f}",
        "mean(us)": f"{part.mean_s * 1e6:.3f}",
        "max(us)": f"{part.most_s * 1e6:.3f}",
        "App%": f"{part.mean_s / simulated_time_s * 100:.1f}",
    }


def _percent(share: float, digits: int) -> str:
    return f"{share * 100:.{digits}f} %"
