# SPDX-License-Identifier: LGPL-2.1-only
"""Range notation of campaign files: { from = "4B", to = "1MiB", times = 4 }."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weft.base.units import UNITS
from weft.campaign.file.axes import Value

_KEYS = ("from", "to", "times", "plus")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_MOST = 10_000
_EXAMPLE = '{ from = "4B", to = "1MiB", times = 2 } or { from = 8, to = 64, plus = 8 }'
_Number = int | float


def is_range(value: Mapping[str, Any]) -> bool:
    """Return True if a table is a range, and not a table of fabric keys."""
    return bool({"from", "to"} & value.keys())


def spread(value: Mapping[str, Any]) -> list[Value]:
    """Return the values of a range; the last value is the largest that does not exceed `to`.

    Strings are numbers with a unit, which must be the same at both ends. Sizes may differ in unit;
    results use the largest binary unit in which they are integers. Raises `ValueError` with the
    problem.
    """
    step = [key for key in ("times", "plus") if key in value]
    if not {"from", "to"} <= value.keys() or len(step) != 1 or not value.keys() <= set(_KEYS):
        raise ValueError(f"found {_said(value)}; write a range as {_EXAMPLE}")
    first, last, by = value["from"], value["to"], value[step[0]]
    if isinstance(first, str) and isinstance(last, str):
        return _of_texts(value, first, last, step[0], by)
    for one in (first, last):
        if type(one) not in (int, float):
            raise ValueError(f"found {_said(value)}; its ends must be two numbers or two texts")
    return list(_numbers(value, first, last, step[0], by))


def _of_texts(value: Mapping[str, Any], first: str, last: str, step: str, by: Any) -> list[Value]:
    ends = [_QUANTITY.fullmatch(text.strip()) for text in (first, last)]
    if ends[0] is None or ends[1] is None:
        raise ValueError(f"found {_said(value)}; its ends must be numbers with a unit, such as 4B")
    (low, unit), (high, other) = ends[0].groups(), ends[1].groups()
    if unit in UNITS and other in UNITS and "." not in low + high:
        plus = _QUANTITY.fullmatch(by.strip()) if isinstance(by, str) and step == "plus" else None
        if plus is not None and plus[2] in UNITS and plus[1].isdigit():
            by = int(plus[1]) * UNITS[plus[2]]
        sizes = _numbers(value, int(low) * UNITS[unit], int(high) * UNITS[other], step, by)
        return [_size(int(one)) for one in sizes]
    if unit != other:
        raise ValueError(f"found {_said(value)}; both ends must have the same unit")
    return [f"{one:g}{unit}" for one in _numbers(value, _number(low), _number(high), step, by)]


def _number(text: str) -> _Number:
    return float(text) if "." in text else int(text)


def _size(number: int) -> str:
    for unit in ("GiB", "MiB", "KiB"):
        if number and number % UNITS[unit] == 0:
            return f"{number // UNITS[unit]}{unit}"
    return f"{number}B"


def _numbers(
    value: Mapping[str, Any], first: _Number, last: _Number, step: str, by: Any
) -> Iterator[_Number]:
    if type(by) not in (int, float) or by <= (1 if step == "times" else 0):
        least = "more than 1" if step == "times" else "more than 0"
        raise ValueError(f"found {_said(value)}; {step} is a number {least}")
    if first > last or (step == "times" and first <= 0):
        above = ", which is above 0," if step == "times" else ""
        raise ValueError(f"found {_said(value)}; from{above} is not above to")
    whole = isinstance(first, int)
    for k in range(_MOST + 1):
        found = first * by**k if step == "times" else first + by * k
        if found > last * (1 + 1e-12):
            return
        if k == _MOST:
            break
        if whole and found != int(found):
            raise ValueError(f"found {_said(value)}; {step} makes {found:g} of it; take whole ones")
        yield int(found) if whole else float(f"{found:.12g}")
    raise ValueError(f"found {_said(value)}, which has more than {_MOST:,} values")


def _said(value: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {one!r}" for key, one in value.items()) + " }"
