# SPDX-License-Identifier: LGPL-2.1-only
"""Sizes and times in human-readable form."""

import re
from collections.abc import Sequence

from weft import _core
from weft.base.errors import WeftError

UNITS = {"": 1, **{name: int(factor) for name, factor in _core.units()["size"]}}
UNIT_NAMES = ", ".join(name for name in UNITS if name)
_LARGEST = 2**53  # doubles represent all integers up to this one
_COUNTS = re.compile(r"[1-9][0-9]{0,5}([,:][1-9][0-9]{0,5})*")
_NUMBER = re.compile(r"[0-9]+")
_SIZE = re.compile(r"([0-9]+)\s*([A-Za-z]*)")
QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")
"""A number and its unit."""
_SECONDS = dict(_core.units()["duration"])
_DIGITS = 18


def parse_size(text: str, option: str = "size") -> int:
    """Parse a size option such as `64`, `4B`, `1KiB` or `2MB` into bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2] not in UNITS or not match[1].strip("0"):
        raise WeftError(
            f"{option}: found '{text}'; allowed is a positive whole number with one of the units"
            f" {UNIT_NAMES} (or none, for bytes); for example 1KiB"
        )
    digits = match[1].lstrip("0")
    size = int(digits[:_DIGITS]) * UNITS[match[2]]
    if size > _LARGEST or len(digits) > _DIGITS:
        raise WeftError(f"{option}: found '{text}'; allowed are at most 2^53 bytes, 8 PiB")
    return size


def parse_duration(text: str) -> float | None:
    """Parse a duration with a unit, such as `90s`, `2h` or `1d`, into seconds; None if invalid."""
    match = QUANTITY.fullmatch(text.strip())
    if match is None or match[2] not in _SECONDS:
        return None
    return float(match[1]) * _SECONDS[match[2]]


def parse_sizes(text: str, option: str = "sizes") -> list[int]:
    """Parse sizes such as `4:1MiB` (doubling) or `4,1KiB,1000`; sorted and unique."""
    sizes: list[int] = []
    for part in text.split(","):
        sizes += _range_of_sizes(part, option) if ":" in part else [parse_size(part, option)]
    return list(dict.fromkeys(sizes))


def parse_counts(text: str, option: str = "counts") -> list[int]:
    """Parse counts such as `1:16` (doubling) or `1,4,16`; sorted and unique."""
    if not _COUNTS.fullmatch(text):
        raise WeftError(
            f"{option}: found '{text}'; write whole numbers from 1 to 999999, as a list (1,4,16)"
            " or a doubling range (1:16)"
        )
    return parse_sizes(text, option)


def _range_of_sizes(text: str, option: str) -> list[int]:
    ends = [parse_size(end, option) for end in text.split(":")]
    if len(ends) != 2 or ends[1] < ends[0]:
        raise WeftError(
            f"{option}: found '{text}'; write a doubling range as SMALLEST:LARGEST, for example"
            " 4:1MiB"
        )
    return _doubling(*ends)


def _doubling(first: int, last: int) -> list[int]:
    return [first << k for k in range((last // first).bit_length())]


def format_size(size: float) -> str:
    """Format a size in the largest suitable binary unit: `512 B`, `1 KiB`, `1.5 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{_three_digits(size)} {unit}"


def format_seconds(seconds: float) -> str:
    """Format a time in a suitable unit: `7.89 us`, `1.2 ms`, `3.4 s`."""
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:.0f} s"


def format_duration(seconds: float) -> str:
    """Format a real time roughly: `45 s`, `12 min`, `3 h 20 min`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"


def format_ratio(ratio: float | None) -> str:
    """Format a speed-up with three significant digits, or all integer digits: `1.70`, `1,240`."""
    if ratio is None:
        return ""
    return f"{ratio:,.0f}" if ratio >= 99.95 else f"{ratio:#.3g}"


def natural_order(name: str) -> tuple[tuple[str, int], ...]:
    """Return a sort key that orders names by their numbers: `hdr200-64` before `hdr200-512`."""
    parts = _NUMBER.split(name)
    numbers = [int(one) for one in _NUMBER.findall(name)]
    return tuple(zip(parts, [*numbers, -1], strict=True))


def ended(text: str) -> str:
    """Add a full stop to a sentence, unless it has one or is empty."""
    return text if not text or text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def plural(count: int, noun: str) -> str:
    """Return `1 call`, `2 calls`, `2 switches` or `2 entries`, with thousands separators."""
    if count == 1:
        return f"{count} {noun}"
    if noun.endswith("ch"):
        return f"{count:,} {noun}es"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("ry") else f"{count:,} {noun}s"


def join_sizes(sizes: Sequence[int]) -> str:
    """Format a list of sizes as the command line accepts it."""
    return ",".join(str(size) for size in sizes)
