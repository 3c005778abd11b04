# SPDX-License-Identifier: LGPL-2.1-only
"""Where the ranks' simulated time went, in words: rows of a table and what to do about polls."""

from weft.base.units import plural
from weft.runs.record import ProfilePart, Record

_LABELS = {"other": "other MPI calls", "ended": "after its end"}
_MOST = 0.5
"""Share of a rank's time from which on polls are worth a warning."""
_SHOWN_S = 0.5e-9
"""Rows whose times would all be 0.000 us are left out."""
_POLL_OPTIONS = {"smpi/iprobe": ("MPI_Iprobe",), "smpi/test": ("MPI_Test",)}
"""SMPI's options, and how the names of the functions begin whose cost they are."""
_GROWTH = "smpi/grow-injected-times"
_USUAL_POLL = "1e-7"
"""100 ns, in seconds: the order of an MPI_Test of a library on a CPU of today."""


def profile_rows(record: Record) -> list[dict[str, str]]:
    """Return the rows of the table of where time went; their means add up to the run's time."""
    taking = [part for part in record.profile if takes_time(part.most_s)]
    return [_row(part, record.simulated_time_s) for part in taking]


def kind_name(kind: str) -> str:
    """Return a kind of `profile` as tables name it."""
    return _LABELS.get(kind, kind)


def takes_time(time_s: float) -> bool:
    """Whether a table would show it as more than nothing."""
    return time_s >= _SHOWN_S


def _row(part: ProfilePart, simulated_time_s: float) -> dict[str, str]:
    return {
        "time of a rank": kind_name(part.kind),
        "calls": str(part.calls) if part.calls else "",
        "least us": f"{part.least_s * 1e6:.3f}",
        "mean us": f"{part.mean_s * 1e6:.3f}",
        "most us": f"{part.most_s * 1e6:.3f}",
        "share": _percent(part.mean_s / simulated_time_s, 1),
    }


def _percent(share: float, digits: int) -> str:
    return f"{share * 100:.{digits}f} %"


def poll_warning(record: Record) -> list[str]:
    """Say so where a rank polled most of the time, at a price that nobody chose."""
    polls = next((part for part in record.profile if part.kind == "polls"), None)
    if polls is None or polls.most_s <= _MOST * record.simulated_time_s:
        return []
    chosen = {setting.split(":", 1)[0] for setting in record.config}
    names = [call.call for call in record.mpi_calls if call.kind == "polls"]
    options = [
        option
        for option, prefixes in _POLL_OPTIONS.items()
        if option not in chosen and any(name.startswith(prefixes) for name in names)
    ]
    if not options:
        return []
    settings = [f"{option}:{_USUAL_POLL}" for option in options]
    if _GROWTH not in chosen:
        settings.append(f"{_GROWTH}:no")
    share = _percent(polls.most_s / record.simulated_time_s, 0)
    return [
        f"warning: polls took up to {share} of a rank's time ({plural(polls.calls, 'call')} of"
        f" {', '.join(names)}): SimGrid lets each take 100 us, and more after each that finds"
        f" nothing. For the 100 ns of a library: {' '.join(f'--cfg {item}' for item in settings)}"
    ]
