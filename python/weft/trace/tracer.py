# SPDX-License-Identifier: LGPL-2.1-only
"""What SimGrid's tracer writes, put into our form: its time-independent (TI) format.

SimGrid 4.1 writes a line for a call (src/smpi/bindings/smpi_pmpi_*.cpp and, for their form,
src/instr/instr_private.hpp), such as `3 allreduce 16 0 1`. It leaves out arguments that are zero,
writes what MPI ignores, and numbers the datatypes; all of that is put right here.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from weft.trace.actions import ANY_TAG, NON_BLOCKING, WAIT_LIST, UnfitError, Words
from weft.trace.datatypes import DATATYPES

UNKNOWN = -333
"""MPI_UNDEFINED, which the tracer writes for MPI_ANY_SOURCE and for MPI_PROC_NULL alike."""
UNKNOWN_OPERATION = "MPI_OP_NULL"
"""The tracer writes no operations."""

# COLL_TAG_… of src/smpi/include/private.hpp, less one where the program made the call
# (src/smpi/colls/smpi_nbc_impl.cpp).
_COLLECTIVE_TAGS = {
    -113: "ireduce",
    -224: "iscatter",
    -335: "iscatterv",
    -446: "igather",
    -557: "iallgather",
    -668: "iallgatherv",
    -779: "ibarrier",
    -890: "ireduce_scatter",
    -1001: "ialltoallv",
    -1113: "ialltoall",
    -2224: "igatherv",
    -3335: "ibcast",
    -4446: "iallreduce",
}
_LARGEST_SYSTEM_TAG = -112

_SAME = dict.fromkeys(("init", "finalize", "barrier", "wait", "test", "compute", "sleep"))
_RENAMED = {"sendRecv": "sendrecv", "Ssend": "ssend", "ISsend": "issend"}
_MESSAGES = ("send", "isend", "recv", "irecv", "Ssend", "ISsend")


class Translator:
    """Translates the lines of so many ranks."""

    def __init__(self, ranks: int) -> None:
        """Make the table of what the tracer writes."""
        self._ranks = ranks
        self._open: dict[str, list[str]] = defaultdict(list)
        """By rank, its open non-blocking collectives."""
        self._forms: dict[str, Callable[[Words], Words]] = {
            **dict.fromkeys(_SAME, lambda arguments: arguments),
            **dict.fromkeys(_MESSAGES, lambda arguments: _typed(arguments, 3, 1)),
            "sendRecv": lambda arguments: _typed(arguments, 4, 2),
            "bcast": lambda arguments: _typed(arguments, 2, 1),
            "reduce": self._reduce,
            **dict.fromkeys(("allreduce", "scan", "exscan"), self._allreduce),
            **dict.fromkeys(("allgather", "alltoall"), self._allgather),
            **dict.fromkeys(("gatherv", "scatterv"), lambda a: _typed(a, ranks + 2, 2)),
            "allgatherv": lambda arguments: _typed(arguments, ranks + 1, 2),
            "alltoallv": self._alltoallv,
        }
        self._rooted: dict[str, Callable[[Words, bool], Words]] = {
            "gather": self._gather,
            "scatter": self._scatter,
        }

    def translate(self, words: Words) -> Words | None:
        """Return a line of ours, or nothing where there is nothing to do."""
        rank, name, *arguments = words
        if name == "init":
            return None
        if name in ("wait", "test") and _is_collective(int(arguments[2])):
            return [rank, *self._wait(rank, name, int(arguments[2]))]
        if name == "waitall":
            waits = self._wait_for_all(rank, arguments[1:])
            return waits and [rank, *waits]
        try:
            translated = self._call(rank, name, arguments)
            if translated is None and name.startswith("i"):
                translated = self._started(rank, name[1:], arguments)
        except (ValueError, IndexError):
            raise UnfitError(
                f"SimGrid has traced '{' '.join(words)}', which is no call of"
                f" {self._ranks} ranks: it does not trace communicators other than MPI_COMM_WORLD"
            ) from None
        if translated is None:
            raise UnfitError(f"rank {rank} calls {_mpi_name(name)}, which weft cannot replay")
        return [rank, *translated]

    def _call(self, rank: str, name: str, arguments: Words) -> Words | None:
        if name == "reducescatter":
            return self._reduce_scatter(arguments)
        if name in self._rooted:
            return [name, *self._rooted_call(rank, name, arguments)]
        if name in self._forms:
            return [_RENAMED.get(name, name), *self._forms[name](arguments)]
        return None

    def _started(self, rank: str, name: str, arguments: Words) -> Words | None:
        """Translate a non-blocking collective, whose arguments are those of the blocking one."""
        call = self._call(rank, name, arguments)
        if call is None or f"i{call[0]}" not in NON_BLOCKING:
            return None
        call[0] = f"i{call[0]}"
        self._open[rank].append(call[0])
        return call

    def _wait(self, rank: str, name: str, tag: int) -> Words:
        """Find the collective: by its tag, or the only one (an Iscan has no tag of its own)."""
        still = self._open[rank]
        wanted = _COLLECTIVE_TAGS.get(tag, "")
        same = [at for at, open_one in enumerate(still) if open_one.startswith(wanted)]
        if name == "test" or not same or (not wanted and len(still) > 1):
            raise UnfitError(
                f"rank {rank} calls MPI_{name.capitalize()} for a non-blocking collective, and"
                " SimGrid's trace does not tell for which"
            )
        still.pop(same[0])
        return ["wait_collective", str(same[0])]

    def _wait_for_all(self, rank: str, requests: Words) -> Words | None:
        """Tell the requests of an MPI_Waitall apart; the collectives can only be all of them."""
        messages: Words = []
        collectives = 0
        for at in range(0, len(requests), 3):
            if _is_collective(int(requests[at + 2])):
                collectives += 1
            else:
                messages += requests[at : at + 3]
        if collectives == len(self._open[rank]):
            self._open[rank].clear()
        return [WAIT_LIST, str(collectives), *messages] if requests else None

    def _reduce(self, arguments: Words) -> Words:
        count, _, root, datatype = arguments
        return _typed([count, root, datatype, UNKNOWN_OPERATION], 2, 1)

    def _allreduce(self, arguments: Words) -> Words:
        count, _, datatype = arguments
        return _typed([count, datatype, UNKNOWN_OPERATION], 1, 1)

    def _reduce_scatter(self, arguments: Words) -> Words:
        """MPI_Reduce_scatter_block of n elements is traced as n zeros and the datatype."""
        *counts, datatype = arguments
        if len(counts) == self._ranks + 1 and any(count != "0" for count in counts):
            typed = _typed([*counts[:-1], datatype, UNKNOWN_OPERATION], self._ranks, 1)
            return ["reduce_scatter", *typed]
        if any(count != "0" for count in counts):
            raise ValueError
        typed = _typed([str(len(counts)), datatype, UNKNOWN_OPERATION], 1, 1)
        return ["reduce_scatter_block", *typed]

    def _allgather(self, arguments: Words) -> Words:
        return _typed(_with_receive_count(arguments, 4), 2, 2)

    def _rooted_call(self, rank: str, name: str, arguments: Words) -> Words:
        whole = _with_receive_count(arguments, 5)
        return _typed(self._rooted[name](whole, rank == whole[2]), 3, 2)

    def _gather(self, arguments: Words, is_root: bool) -> Words:
        """Elsewhere than at the root, what is received may be anything."""
        send, receive, root, send_type, receive_type = arguments
        if is_root:
            return [send, receive, root, send_type, receive_type]
        return [send, "0", root, send_type, send_type]

    def _scatter(self, arguments: Words, is_root: bool) -> Words:
        send, receive, root, send_type, receive_type = arguments
        if is_root:
            return [send, receive, root, send_type, receive_type]
        return ["0", receive, root, receive_type, receive_type]

    def _alltoallv(self, arguments: Words) -> Words:
        """Leave out the sums; MPI_Alltoallw goes by the same name, with sums of bytes."""
        ranks = self._ranks
        if len(arguments) != 2 * ranks + 4:
            raise ValueError
        sent, received = arguments[1 : ranks + 1], arguments[ranks + 2 : 2 * ranks + 2]
        if int(arguments[0]) != sum(map(int, sent)):
            raise UnfitError("a rank calls MPI_Alltoallw, whose datatypes a trace does not hold")
        return _typed([*sent, *received, *arguments[2 * ranks + 2 :]], 2 * ranks, 2)


class Waitalls:
    """Which requests each MPI_Waitall waits for (src/binding/tuning/waitall_notes.cpp).

    SimGrid's trace has the calls of a rank in the same order, with the number of requests only,
    in which it counts MPI_REQUEST_NULLs too.
    """

    def __init__(self, notes: Iterable[Words]) -> None:
        """Take in the notes: a rank, a number, and the requests."""
        self._notes: dict[str, deque[Words]] = defaultdict(deque)
        for rank, *note in notes:
            self._notes[rank].append(note)

    def complete(self, words: Words) -> Words:
        """Return a line of SimGrid's, with the requests where it is an MPI_Waitall."""
        rank, name, *arguments = words
        if name != "waitall":
            return words
        number = str(int(float(arguments[0])))
        mine = self._notes[rank]
        if not (mine and mine[0][0] == number):
            raise UnfitError(
                f"rank {rank} waits for {number} requests by a way past MPI_Waitall (PMPI_Waitall),"
                " and SimGrid's trace does not tell for which"
            )
        return [rank, name, *mine.popleft()]


def _with_receive_count(arguments: Words, length: int) -> Words:
    """Put in the second argument, which the tracer leaves out where it is zero."""
    return arguments if len(arguments) == length else [arguments[0], "0", *arguments[1:]]


def _typed(arguments: Words, numbers: int, datatypes: int) -> Words:
    """Name the datatypes, which come after so many numbers."""
    types = arguments[numbers : numbers + datatypes]
    if len(types) != datatypes:
        raise ValueError
    if "-1" in types:
        raise UnfitError("a rank uses a derived datatype, whose size SimGrid does not trace")
    named = [DATATYPES[int(number)] for number in types]
    return [*arguments[:numbers], *named, *arguments[numbers + datatypes :]]


def _is_collective(tag: int) -> bool:
    return tag < _LARGEST_SYSTEM_TAG and tag != ANY_TAG


def _mpi_name(action: str) -> str:
    return "MPI I/O" if action == "IO" else f"MPI_{action.capitalize()}"
