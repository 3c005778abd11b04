# SPDX-License-Identifier: LGPL-2.1-only
"""Node lists in Slurm's notation (`scontrol show hostnames`): `node[1-4,7],login`."""

import re
from collections.abc import Iterator

_PART = re.compile(r"([^\[\],]*)(?:\[([0-9,-]+)\])?([^\[\],]*)(,|$)")
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
MOST_NODES = 1 << 20


def expand(text: str) -> list[str]:
    """Return the names in a node list. Raises `ValueError` with the mistake as a clause."""
    names: list[str] = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part.end() == at:
            raise ValueError('write names such as "node[1-4,7]", with commas between them')
        before, ranges, after, _ = part.groups()
        names += [before + number + after for number in _numbers(ranges)] if ranges else [before]
        if not before and not ranges:
            raise ValueError("a name between two commas is empty")
        if len(names) > MOST_NODES:
            raise ValueError(f"it has more than {MOST_NODES:,} names")
        at = part.end()
    return names


def _numbers(ranges: str) -> Iterator[str]:
    """Yield the numbers in brackets, zero-padded to the width of the first number of each range."""
    for one in ranges.split(","):
        found = _RANGE.fullmatch(one)
        if found is None:
            raise ValueError(f"[{ranges}] has no numbers or ranges such as 1-4")
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first):
            raise ValueError(f"the range {one} does not increase")
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}}" if first.startswith("0") else str(number)
