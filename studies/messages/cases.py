# SPDX-License-Identifier: LGPL-2.1-only
"""Grids of calls, and weft's prediction for each."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from weft import _core

RANKS = (2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 17, 24, 32, 33, 64)
COUNTS = (1, 2, 3, 7, 16, 40, 100, 256, 700, 1000, 2500, 4096, 12000, 30000, 100000, 262144)
NONBLOCKING_COUNTS = (1, 3, 40, 700, 4096, 16383, 16384, 100000, 262144)
MOST_ELEMENTS = 600_000
"""Limit on the elements in all blocks of a call together."""
MOST_OF_MANY_RANKS = 30_000
BYTES = {"byte": 1, "int": 4, "double": 8}
VECTORS = ("allreduce", "bcast", "exscan", "reduce", "scan")
REDUCTIONS = ("allreduce", "exscan", "reduce", "reduce_scatter", "reduce_scatter_block", "scan")
ROOTED = ("bcast", "gather", "gatherv", "reduce", "scatter", "scatterv")
UNEVEN = ("allgatherv", "alltoallv", "alltoallw", "gatherv", "reduce_scatter", "scatterv")


class Case(NamedTuple):
    """Call, as read by messages.c."""

    called: str
    """Name of the collective, prefixed with `i` if non-blocking."""
    elements: int
    type: str
    root: int
    operation: str
    uneven: int


class Message(NamedTuple):
    """Total of the messages of a call between two ranks."""

    sender: int
    receiver: int
    messages: int
    bytes: int


def form(called: str) -> tuple[str, bool]:
    """Return the collective, and true for a blocking call."""
    known = {row["collective"] for row in _core.host_algorithms()}
    return (called, True) if called in known else (called[1:], False)


def calls(
    ranks: int,
    blocking_counts: Sequence[int] = COUNTS,
    nonblocking_counts: Sequence[int] = NONBLOCKING_COUNTS,
) -> Iterator[Case]:
    """Yield the calls for a number of ranks and the given counts, up to the limit on elements."""
    names = dict.fromkeys(row["collective"] for row in _core.host_algorithms())
    collectives = [name for name in names if not name.startswith("neighbor_")]
    for collective, blocking in itertools.product(collectives, (True, False)):
        called = collective if blocking else "i" + collective
        counts = blocking_counts if blocking else nonblocking_counts
        for count in _counts(collective, counts, ranks):
            small = "double" if collective in REDUCTIONS else "byte"
            for element in ("int", small) if count < 50 else ("int",):
                for root in _roots(collective, ranks):
                    yield Case(called, count, element, root, "sum", 0)
            if collective in REDUCTIONS:
                yield Case(called, count, "int", 0, "ordered", 0)
            if collective in UNEVEN:
                yield Case(called, count, "int", 0, "sum", 1)


def _counts(collective: str, counts: Sequence[int], ranks: int) -> Sequence[int]:
    if collective == "barrier":
        return (0,)
    most = MOST_ELEMENTS if collective in VECTORS else MOST_ELEMENTS // ranks
    return [one for one in counts if one <= min(most, MOST_OF_MANY_RANKS if ranks > 16 else most)]


def _roots(collective: str, ranks: int) -> Sequence[int]:
    every = (0, ranks - 1, ranks // 2) if collective in ROOTED else (0,)
    return list(dict.fromkeys(every))


def messages(
    selection: str, case: Case, ranks: int, hosts: list[int] | None = None
) -> list[Message]:
    """Return weft's prediction of the library's messages, for all ranks."""
    counts = [case.elements * (rank * 7 % 4) for rank in range(ranks)] if case.uneven else None
    collective, blocking = form(case.called)
    walked = _core.host_schedule(
        selection,
        "",
        0,
        0,
        collective,
        ranks,
        case.elements,
        BYTES[case.type],
        case.root,
        case.operation != "ordered",
        blocking,
        counts,
        hosts,
        case.operation == "sum",
    )
    number: Counter[tuple[int, int]] = Counter()
    size: Counter[tuple[int, int]] = Counter()
    for _, sender, receiver, length in walked["messages"]:
        number[sender, receiver] += 1
        size[sender, receiver] += int(length)
    return [Message(*pair, number[pair], size[pair]) for pair in sorted(number)]


def summary(rows: Sequence[Message]) -> dict[str, object]:
    """Return the summary of a call's messages for a table."""
    text = "".join(f"{one.sender} {one.receiver} {one.messages} {one.bytes}\n" for one in rows)
    return {
        "messages": sum(one.messages for one in rows),
        "bytes": sum(one.bytes for one in rows),
        "crc32": f"{crc32(text.encode()):08x}",
    }
