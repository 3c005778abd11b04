# SPDX-License-Identifier: LGPL-2.1-only
"""Lines of a trace: rank, call and arguments, as in `3 allreduce 16 MPI_INT MPI_SUM`.

The arguments are integers, then datatypes, then an operation, both by their MPI names;
docs/traces.md describes them. `src/replay` executes the lines.
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
"""MPI_Waitall for the requests that it lists; older traces contain `waitall`, for all requests."""


_ROOTED = frozenset(("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv"))
_MESSAGES = ("send", "ssend", "isend", "issend", "recv", "irecv")
_COUNTS = {
    **dict.fromkeys(_MESSAGES, (2,)),
    "sendrecv": (0, 2),
    **dict.fromkeys(("waitall", "waitany"), (0,)),
    "wait_collective": (0,),
}
"""Arguments of an action that are counts; for collectives, all but the root."""
_PARTNERS = {**dict.fromkeys(_MESSAGES, (0,)), "sendrecv": (1, 3), "wait": (0, 1), "test": (0, 1)}
_WHOLE = re.compile(r"-?[0-9]{1,11}")
_REAL = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,3})?")
_LEAST, _MOST, _MOST_REAL = -(1 << 31), (1 << 31) - 1, 1e30
"""Range of MPI's int; limit on operations and seconds, beyond any machine."""


class UnfitError(WeftError):
    """Reason why a trace cannot be replayed, as a clause that the caller puts into context."""


class Shape(NamedTuple):
    """Arguments that follow the name of an action."""

    numbers: int
    datatypes: int = 0
    operations: int = 0


def shapes(ranks: int) -> dict[str, Shape]:
    """Return the shapes of all actions in a trace with this number of ranks."""
    plain = _plain_shapes(ranks)
    return {**plain, **{name: plain[name[1:]] for name in NON_BLOCKING}}


def _plain_shapes(ranks: int) -> dict[str, Shape]:
    return {
        **dict.fromkeys(("send", "ssend", "isend", "issend", "recv", "irecv"), Shape(3, 1)),
        "sendrecv": Shape(4, 2),
        **dict.fromkeys(("wait", "test"), Shape(3)),
        **dict.fromkeys(("waitall", "waitany", "wait_collective", "compute", "sleep"), Shape(1)),
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
    """Checks that `src/replay` can execute a line."""

    def __init__(self, ranks: int) -> None:
        """Build the table of actions."""
        self.ranks = ranks
        self._shapes = shapes(ranks)
        self._datatypes = frozenset(DATATYPES) - {""}

    def check(self, words: Words) -> None:
        """Raise an `UnfitError` unless the line can be executed."""
        if len(words) < 2:
            raise UnfitError("found no action; a line has a rank, an action and its arguments")
        rank, name, *arguments = words
        if not (_WHOLE.fullmatch(rank) and 0 <= int(rank) < self.ranks):
            raise UnfitError(f"found rank '{rank[:40]}'; the trace has ranks 0 to {self.ranks - 1}")
        if name not in self._shapes:
            raise UnfitError(f"found the action '{name[:40]}', which does not exist")
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
        """Return the indices of arguments that count elements and must not be negative."""
        if name in _COUNTS:
            return _COUNTS[name]
        plain = name.removeprefix("i") if name in NON_BLOCKING else name
        numbers = self._shapes[name].numbers
        if plain in _ROOTED:
            return range(numbers - 1)
        return range(numbers) if plain in _BLOCKING else ()

    def _rooted(self, name: str) -> tuple[int, ...]:
        """Return the index of the root: the last argument of rooted collectives."""
        plain = name.removeprefix("i") if name in NON_BLOCKING else name
        return (self._shapes[name].numbers - 1,) if plain in _ROOTED else ()
