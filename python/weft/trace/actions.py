# SPDX-License-Identifier: LGPL-2.1-only
"""The lines of a trace: a rank, what it calls, and the arguments; `3 allreduce 16 MPI_INT MPI_SUM`.

The arguments are whole numbers, then datatypes, then an operation, both by their MPI names; what
they are is in docs/traces.md. `src/replay` does what the lines say.
"""

import re
from typing import NamedTuple

from weft.base.errors import WeftError
from weft.trace.datatypes import DATATYPES

Words = list[str]

ANY_SOURCE = -555
ANY_TAG = -444
PROC_NULL = -666
"""include/smpi/smpi.h"""

_BLOCKING = frozenset(
    (
        *("barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter"),
        *("allgather", "alltoall", "reduce_scatter", "reduce_scatter_block", "gatherv"),
        *("scatterv", "allgatherv", "alltoallv"),
    )
)
NON_BLOCKING = frozenset(f"i{name}" for name in _BLOCKING)
COLLECTIVES = _BLOCKING | NON_BLOCKING

WAIT_LIST = "waitlist"
"""An MPI_Waitall of requests that it names; `waitall`, of all, is in older traces."""


_ROOTED = frozenset(("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv"))
_MESSAGES = ("send", "ssend", "isend", "issend", "recv", "irecv")
_COUNTS = {
    **dict.fromkeys(_MESSAGES, (2,)),
    "sendrecv": (0, 2),
    "waitall": (0,),
    "wait_collective": (0,),
}
"""Which numbers of an action count something; those of collectives are all but the root."""
_PARTNERS = {**dict.fromkeys(_MESSAGES, (0,)), "sendrecv": (1, 3), "wait": (0, 1), "test": (0, 1)}
_WHOLE = re.compile(r"-?[0-9]{1,11}")
_REAL = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,3})?")
_LEAST, _MOST, _MOST_REAL = -(1 << 31), (1 << 31) - 1, 1e30
"""What MPI's int holds; operations and seconds beyond every machine."""


class UnfitError(WeftError):
    """Why a trace cannot be replayed; its text is a clause, for the caller to put into place."""


class Shape(NamedTuple):
    """What follows the name of an action."""

    numbers: int
    datatypes: int = 0
    operations: int = 0


def shapes(ranks: int) -> dict[str, Shape]:
    """Return the actions of a trace of so many ranks."""
    plain = _plain_shapes(ranks)
    return {**plain, **{name: plain[name[1:]] for name in NON_BLOCKING}}


def _plain_shapes(ranks: int) -> dict[str, Shape]:
    return {
        **dict.fromkeys(("send", "ssend", "isend", "issend", "recv", "irecv"), Shape(3, 1)),
        "sendrecv": Shape(4, 2),
        **dict.fromkeys(("wait", "test"), Shape(3)),
        **dict.fromkeys(("waitall", "wait_collective", "compute", "sleep"), Shape(1)),
        WAIT_LIST: Shape(1),
        **dict.fromkeys(("finalize", "barrier"), Shape(0)),
        "bcast": Shape(2, 1),
        "reduce": Shape(2, 1, 1),
        **dict.fromkeys(("allreduce", "scan", "exscan", "reduce_scatter_block"), Shape(1, 1, 1)),
        **dict.fromkeys(("gather", "scatter"), Shape(3, 2)),
        **dict.fromkeys(("allgather", "alltoall"), Shape(2, 2)),
        "reduce_scatter": Shape(ranks, 1, 1),
        **dict.fromkeys(("gatherv", "scatterv"), Shape(ranks + 2, 2)),
        "allgatherv": Shape(ranks + 1, 2),
        "alltoallv": Shape(2 * ranks, 2),
    }


class Grammar:
    """Proves of a line that `src/replay` can do it."""

    def __init__(self, ranks: int) -> None:
        """Make the table of actions."""
        self.ranks = ranks
        self._shapes = shapes(ranks)
        self._datatypes = frozenset(DATATYPES) - {""}

    def check(self, words: Words) -> None:
        """Raise an `UnfitError` unless it can."""
        if len(words) < 2:
            raise UnfitError("found no action; a line is a rank, an action and its arguments")
        rank, name, *arguments = words
        if not (_WHOLE.fullmatch(rank) and 0 <= int(rank) < self.ranks):
            raise UnfitError(f"found rank '{rank[:40]}'; the trace has ranks 0 to {self.ranks - 1}")
        if name not in self._shapes:
            raise UnfitError(f"found the action '{name[:40]}', which is none")
        shape = self._shapes[name]
        if name == WAIT_LIST:
            shape = Shape(1 + 3 * (len(arguments) // 3))
        if len(arguments) != sum(shape):
            raise UnfitError(
                f"found {len(arguments)} arguments of '{name}', which has {sum(shape)}"
            )
        self._check_numbers(name, arguments[: shape.numbers])
        types = arguments[shape.numbers : shape.numbers + shape.datatypes]
        if not self._datatypes.issuperset(types):
            raise UnfitError(
                f"found {' '.join(types)[:80]} in '{name}'; a datatype has its MPI name"
            )

    def _check_numbers(self, name: str, words: Words) -> None:
        if name in ("compute", "sleep"):
            for word in words:
                if not (_REAL.fullmatch(word) and float(word) <= _MOST_REAL):
                    raise UnfitError(f"found '{word[:40]}' in '{name}'; allowed is a number >= 0")
            return
        for k, word in enumerate(words):
            least = _LEAST if k not in self._counts(name) else 0
            if not (_WHOLE.fullmatch(word) and least <= int(word) <= _MOST):
                raise UnfitError(
                    f"found '{word[:40]}' in '{name}'; allowed is a whole number from {least}"
                    f" to {_MOST}"
                )
            if k in self._rooted(name) and not 0 <= int(word) < self.ranks:
                raise UnfitError(
                    f"found the root {word} in '{name}'; ranks are 0 to {self.ranks - 1}"
                )
            if k in _PARTNERS.get(name, ()) and not -1000 <= int(word) < self.ranks:
                raise UnfitError(f"found the rank {word} in '{name}'; the last is {self.ranks - 1}")

    def _counts(self, name: str) -> range | tuple[int, ...]:
        """Return which of an action's numbers count elements, and so cannot be below zero."""
        if name in _COUNTS:
            return _COUNTS[name]
        plain = name.removeprefix("i") if name in NON_BLOCKING else name
        numbers = self._shapes[name].numbers
        if plain in _ROOTED:
            return range(numbers - 1)
        return range(numbers) if plain in _BLOCKING else ()

    def _rooted(self, name: str) -> tuple[int, ...]:
        """Return which number is a root: the last of those collectives that have one."""
        plain = name.removeprefix("i") if name in NON_BLOCKING else name
        return (self._shapes[name].numbers - 1,) if plain in _ROOTED else ()
