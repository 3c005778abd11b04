# SPDX-License-Identifier: LGPL-2.1-only
"""Times, shares and values of keys in the notation of pages."""

from weft.base import units


def in_time(seconds: float) -> str:
    """Return a time in the notation of pages."""
    return units.format_seconds(seconds).replace(" us", " µs")


def named_value(axis: str, value: str) -> str:
    """Return a key's value in words: `16 ranks`, `64KiB`, `switch.slots 256`."""
    if axis == "ranks":
        return units.plural(int(value), "rank")
    return value if axis == "bytes" else f"{axis} {value or '(none)'}"


def in_percent(share: float, digits: int = 0) -> str:
    """Format a fraction as a percentage in the notation of pages, with a non-breaking space."""
    return f"{share:.{digits}%}".replace("%", "\N{NO-BREAK SPACE}%")
