# SPDX-License-Identifier: LGPL-2.1-only
"""Translator from lines of SimGrid's time-independent traces to lines of `weft.trace.actions`.

SimGrid 4.1's tracer (`smpirun -trace-ti`; src/smpi/bindings/smpi_pmpi_*.cpp, and
src/instr/instr_private.hpp for their form) writes lines such as `3 allreduce 16 0 1`: datatypes by
number, no operations, MPI_UNDEFINED for both MPI_ANY_SOURCE and MPI_PROC_NULL, and no second count
if it is zero. Batsim and other tools write such lines without datatypes. Missing arguments get the
defaults of SimGrid's replayer (src/smpi/internals/smpi_replay.cpp): a translated line has the same
effect as in that replayer, except that all reductions use MPI_SUM.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from weft.trace.actions import (
    ANY_SOURCE,
    ANY_TAG,
    NON_BLOCKING,
    PROC_NULL,
    WAIT_LIST,
    Grammar,
    UnfitError,
    Words,
)
from weft.trace.datatypes import DATATYPES

UNKNOWN = -333
"""MPI_UNDEFINED."""
OPERATION = "MPI_SUM"
"""Substitute for operations, which the tracer does not write: switches execute sums most often."""

# COLL_TAG_… of src/smpi/include/private.hpp, minus one if the program made the call
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
_LAST_TAG = -112
"""Smaller tags belong to collectives, except MPI_ANY_TAG and MPI_UNDEFINED."""
_SENDS = {
    "send": "send",
    "isend": "isend",
    "ssend": "ssend",
    "issend": "issend",
    "bsend": "isend",
    "ibsend": "isend",
}
_RECEIVES = ("recv", "irecv")
_IGNORED = frozenset(("comm_size", "comm_split", "comm_dup", "location"))
_REAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,3})?")
_RANK = re.compile(r"p?([0-9]{1,9})")
_MOST = (1 << 31) - 1
UNSIZED = str(_MOST)
"""Count of a receive whose size the trace does not state, marked by a negative number."""
_LARGEST_ELEMENT = 32
"""Bytes of the largest datatype."""
_BYTES_OF_DOUBLE = 8

KNOWN = frozenset(
    (
        *("init", "finalize", "compute", "sleep", "sendrecv", "wait", "waitall", "waitany", "test"),
        *(*_SENDS, *_RECEIVES, *_IGNORED),
        *("barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter"),
        *("allgather", "alltoall", "gatherv", "scatterv", "allgatherv", "alltoallv"),
        *("reducescatter", "ibarrier", "ibcast", "ireduce", "iallreduce", "iscan", "iexscan"),
        *("igather", "iscatter", "iallgather", "ialltoall", "igatherv", "iscatterv"),
        *("iallgatherv", "ialltoallv", "ireducescatter"),
    )
)
"""Actions of SimGrid's traces, in lower case."""


def rank_of(word: str) -> int | None:
    """Return the rank that a line begins with (`3`, or `p3` in old traces)."""
    found = _RANK.fullmatch(word)
    return int(found[1]) if found else None


def is_line(words: Words) -> bool:
    """Return True if words are a line of a trace."""
    return len(words) > 1 and rank_of(words[0]) is not None and words[1].lower() in KNOWN


@dataclass
class _Rank:
    default: str = "MPI_BYTE"
    """Datatype of lines without one: bytes after `init`, doubles after `init` with an argument."""
    collectives: list[str] = field(default_factory=list)
    """Open non-blocking collectives."""
    messages: int = 0
    """Number of open message requests."""
    ended: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    """Collectives, by name."""


class Translator:
    """Translates the lines of all ranks; the lines of each rank must be in order."""

    def __init__(self, ranks: int, *, typed: bool) -> None:
        """Start; `typed` is True if lines contain datatypes, as SimGrid's tracer writes them."""
        self._ranks = ranks
        self._typed = typed
        self._states = [_Rank() for _ in range(ranks)]
        self._grammar = Grammar(ranks)
        self._forms: dict[str, Callable[[int, Words], list[Words]]] = {
            **dict.fromkeys((*_SENDS, *_RECEIVES), lambda _rank, words: [words]),
            "bcast": self._bcast,
            "reduce": self._reduce,
            **dict.fromkeys(("allreduce", "scan", "exscan"), self._allreduce),
            **dict.fromkeys(("allgather", "alltoall"), self._pairs),
            **dict.fromkeys(("gather", "scatter"), self._rooted),
            "gatherv": self._gatherv,
            "scatterv": self._scatterv,
            "allgatherv": self._allgatherv,
            "alltoallv": self._alltoallv,
            "reducescatter": self._reduce_scatter,
            "barrier": lambda _rank, _words: [["barrier"]],
        }

    def translate(self, words: Words) -> list[Words]:
        """Return weft's lines for a SimGrid line; sources may still be `UNKNOWN`."""
        rank = rank_of(words[0])
        if rank is None or rank >= self._ranks:
            raise UnfitError(f"found rank '{words[0][:40]}'; the trace has {self._ranks} ranks")
        if len(words) < 2:
            raise UnfitError("found no action; a line has a rank, an action and its arguments")
        name, arguments = words[1].lower(), words[2:]
        if self._states[rank].ended:
            raise UnfitError(f"found '{words[1]}' of rank {rank} after its 'finalize'")
        try:
            translated = self._line(rank, name, arguments)
        except (ValueError, IndexError):
            raise UnfitError(
                f"found '{' '.join(words)[:80]}', which is no call of {self._ranks} ranks as"
                " SimGrid writes it"
            ) from None
        if translated is None:
            raise UnfitError(
                f"found '{words[1][:40]}' of rank {rank}, which cannot be replayed from SimGrid's"
                " traces: persistent and one-sided calls and files need what they do not contain"
            )
        lines = [[str(rank), *line] for line in translated]
        for line in lines:
            self._grammar.check(line)
        return lines

    def end(self) -> Iterator[Words]:
        """Yield the missing end lines of ranks, after a check that the ranks are consistent."""
        for rank, state in enumerate(self._states):
            for name in state.calls.keys() | self._states[0].calls.keys():
                if state.calls[name] != self._states[0].calls[name]:
                    raise UnfitError(
                        f"rank 0 calls '{name}' {self._states[0].calls[name]} times and rank {rank}"
                        f" {state.calls[name]} times, and a replay would never end: SimGrid does"
                        " not trace communicators other than MPI_COMM_WORLD"
                    )
        for rank, state in enumerate(self._states):
            if not state.ended:
                yield from ([str(rank), *line] for line in self._finalize(rank))

    # ---- Calls

    def _line(self, rank: int, name: str, arguments: Words) -> list[Words] | None:
        state = self._states[rank]
        if name in _IGNORED:
            return []
        if name == "init":
            state.default = "MPI_DOUBLE" if arguments else "MPI_BYTE"
            return []
        if name == "finalize":
            return self._finalize(rank)
        if name in ("compute", "sleep"):
            return [[name, _real(arguments[0])]]
        if name in _SENDS or name in _RECEIVES:
            return [self._message(rank, name, arguments)]
        if name == "sendrecv":
            return [self._exchange(rank, arguments)]
        if name in ("wait", "test"):
            return self._wait(rank, name, arguments)
        if name == "waitall":
            state.collectives.clear()
            state.messages = 0
            return [["waitall", _whole(arguments[0])]]
        if name == "waitany":
            return [["waitany", _whole(arguments[0])]]
        return self._collective(rank, name, arguments)

    def _finalize(self, rank: int) -> list[Words]:
        """End a rank; its pending requests end too, as after a successful MPI_Test."""
        state = self._states[rank]
        state.ended = True
        still = state.messages + len(state.collectives)
        return [*([["waitall", str(still)]] if still > 0 else []), ["finalize"]]

    def _message(self, rank: int, name: str, arguments: Words) -> Words:
        partner, tag, size, *types = arguments
        if len(types) > 1:
            raise ValueError
        peer = int(partner)
        if peer < 0:
            peer = PROC_NULL if name in _SENDS else UNKNOWN if peer == -1 else peer
        if name not in ("send", "ssend", "recv"):
            self._states[rank].messages += 1
        if name in _RECEIVES and int(_whole(size)) < 0:
            return [name, str(peer), str(int(tag)), UNSIZED, "MPI_BYTE"]
        count, datatype = _fitting(_whole(size), self._type(rank, types, 0))
        return [_SENDS.get(name, name), str(peer), str(int(tag)), count, datatype]

    def _exchange(self, rank: int, arguments: Words) -> Words:
        sent, destination, received, source, *types = arguments
        peers = [
            str(int(one)) if int(one) >= 0 else str(PROC_NULL) for one in (destination, source)
        ]
        datatypes = [self._type(rank, types, 0), self._type(rank, types, 1)]
        return ["sendrecv", _whole(sent), peers[0], _whole(received), peers[1], *datatypes]

    def _wait(self, rank: int, name: str, arguments: Words) -> list[Words]:
        source, destination, tag = (int(word) for word in arguments)
        if not (tag < _LAST_TAG and tag not in (ANY_TAG, UNKNOWN) and source == destination):
            source = UNKNOWN if source == -1 else source
            destination = destination if destination >= 0 else PROC_NULL
            self._states[rank].messages -= name == "wait"
            return [[name, str(source), str(destination), str(tag)]]
        still = self._states[rank].collectives
        wanted = _COLLECTIVE_TAGS.get(tag, "")
        same = [at for at, one in enumerate(still) if one.startswith(wanted)]
        if name == "test" or not still:  # the end is waited for later, or has been found
            return []
        at = same[0] if same else 0
        still.pop(at)
        return [["wait_collective", str(at)]]

    def _collective(self, rank: int, name: str, arguments: Words) -> list[Words] | None:
        plain = name if name in self._forms else name.removeprefix("i")
        if plain not in self._forms or name not in KNOWN:
            return None
        lines = self._forms[plain](rank, [plain, *arguments])
        if plain != name:
            lines[0][0] = f"i{lines[0][0]}"
            if lines[0][0] not in NON_BLOCKING:
                return None
            self._states[rank].collectives.append(lines[0][0])
        self._states[rank].calls[lines[0][0]] += 1
        return lines

    def _bcast(self, rank: int, words: Words) -> list[Words]:
        size, *rest = words[1:]
        return [["bcast", _whole(size), *_root(rest), self._type(rank, rest, 1)]]

    def _reduce(self, rank: int, words: Words) -> list[Words]:
        size, computed, *rest = words[1:]
        call = ["reduce", _whole(size), *_root(rest), self._type(rank, rest, 1), OPERATION]
        return [call, *_computation(computed)]

    def _allreduce(self, rank: int, words: Words) -> list[Words]:
        name, size, computed, *rest = words
        call = [name, _whole(size), self._type(rank, rest, 0), OPERATION]
        return [call, *_computation(computed)]

    def _pairs(self, rank: int, words: Words) -> list[Words]:
        name, *arguments = words
        sent, received, *types = self._with_second_count(arguments, 4)
        both = [self._type(rank, types, 0), self._type(rank, types, 1)]
        return [[name, _whole(sent), _whole(received), *both]]

    def _rooted(self, rank: int, words: Words) -> list[Words]:
        """Fix arguments outside the root: MPI ignores a buffer, and the tracer writes any value."""
        name, *arguments = words
        sent, received, *rest = self._with_second_count(arguments, 5)
        (root,) = _root(rest)
        if int(root) == rank:
            both = [self._type(rank, rest, 1), self._type(rank, rest, 2)]
            return [[name, _whole(sent), _whole(received), root, *both]]
        if name == "gather":
            only = self._type(rank, rest, 1)
            return [[name, _whole(sent), "0", root, only, only]]
        only = self._type(rank, rest, 2)
        return [[name, "0", _whole(received), root, only, only]]

    def _gatherv(self, rank: int, words: Words) -> list[Words]:
        sent, counts, rest = words[1], self._counts(words, 2), words[2 + self._ranks :]
        (root,) = _root(rest)
        own = self._type(rank, rest, 1)
        theirs = self._type(rank, rest, 2) if int(root) == rank else own
        return [["gatherv", _whole(sent), *counts, root, own, theirs]]

    def _scatterv(self, rank: int, words: Words) -> list[Words]:
        counts, received, rest = (
            self._counts(words, 1),
            words[1 + self._ranks],
            words[2 + self._ranks :],
        )
        (root,) = _root(rest)
        own = self._type(rank, rest, 2)
        theirs = self._type(rank, rest, 1) if int(root) == rank else own
        return [["scatterv", *counts, _whole(received), root, theirs, own]]

    def _allgatherv(self, rank: int, words: Words) -> list[Words]:
        """Drop the displacements at the end of old traces, which do not affect time."""
        sent, counts, rest = words[1], self._counts(words, 2), words[2 + self._ranks :]
        if len(rest) >= self._ranks and len(rest) != 2:
            rest = rest[: len(rest) - self._ranks]
        both = [self._type(rank, rest, 0), self._type(rank, rest, 1)]
        return [["allgatherv", _whole(sent), *counts, *both]]

    def _alltoallv(self, rank: int, words: Words) -> list[Words]:
        """Skip the sizes of both buffers, which precede their counts."""
        _whole(words[1]), _whole(words[2 + self._ranks])
        sent, received = self._counts(words, 2), self._counts(words, 3 + self._ranks)
        types = words[3 + 2 * self._ranks :]
        both = [self._type(rank, types, 0), self._type(rank, types, 1)]
        return [["alltoallv", *sent, *received, *both]]

    def _reduce_scatter(self, rank: int, words: Words) -> list[Words]:
        """Recognize MPI_Reduce_scatter_block of n elements, traced as n zeros and the datatype."""
        arguments = words[1:]
        if self._typed and len(arguments) > 1 and all(one == "0" for one in arguments[:-1]):
            block = [str(len(arguments) - 1), self._type(rank, arguments, len(arguments) - 1)]
            return [["reduce_scatter_block", *block, OPERATION]]
        counts, computed = self._counts(words, 1), arguments[self._ranks]
        datatype = self._type(rank, arguments, self._ranks + 1)
        return [["reduce_scatter", *counts, datatype, OPERATION], *_computation(computed)]

    # ---- Arguments

    def _counts(self, words: Words, at: int) -> Words:
        found = words[at : at + self._ranks]
        if len(found) != self._ranks:
            raise ValueError
        return [_whole(one) for one in found]

    def _with_second_count(self, arguments: Words, whole: int) -> Words:
        """Insert the count that the tracer omits if it is zero."""
        if self._typed and len(arguments) == whole - 1:
            return [arguments[0], "0", *arguments[1:]]
        if len(arguments) > whole:
            raise ValueError
        return arguments

    def _type(self, rank: int, words: Words, at: int) -> str:
        if at >= len(words):
            return self._states[rank].default
        word = words[at]
        if word in DATATYPES and word:
            return word
        number = int(word)
        name = DATATYPES[number] if 0 <= number < len(DATATYPES) else ""
        if number == -1:
            raise UnfitError(
                f"rank {rank} uses a derived datatype, whose size SimGrid does not trace"
            )
        if not name:
            raise UnfitError(f"found the datatype {word[:40]}, which has no data")
        return name


@dataclass
class Sources:
    """Resolves `UNKNOWN` sources to any source or none, and receives of unknown size."""

    sent: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Number of messages by destination and tag."""
    named: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Number of receives from a named rank, by receiver and tag."""
    unknown: Counter[tuple[int, int]] = field(default_factory=Counter)
    most: int = 0
    """Largest count of a send."""
    any_tag: set[int] = field(default_factory=set)
    """Ranks that receive with MPI_ANY_TAG."""

    def add(self, words: Words) -> None:
        """Count a translated line."""
        rank, name = int(words[0]), words[1]
        if name in _SENDS and int(words[2]) >= 0:
            self.sent[int(words[2]), int(words[3])] += 1
            self.most = max(self.most, int(words[4]))
        elif name == "sendrecv":
            self.sent[int(words[3]), 0] += 1
            self.named[rank, 0] += 1
        elif name in _RECEIVES:
            tag = int(words[3])
            if tag < 0:
                self.any_tag.add(rank)
            kind = self.unknown if int(words[2]) == UNKNOWN else self.named
            kind[rank, tag] += 1

    def resolve(self, words: Words) -> Words:
        """Return a line with its source, and with a count that fits any message."""
        name = words[1]
        if name in _RECEIVES and int(words[2]) == UNKNOWN:
            words = [*words[:2], self._source(int(words[0]), int(words[3])), *words[3:]]
        elif name in ("wait", "test") and int(words[2]) == UNKNOWN:
            words = [*words[:2], self._source(int(words[3]), int(words[4])), *words[3:]]
        elif name == WAIT_LIST:
            words = [*words[:3], *self._sources(words[3:])]
        if name in _RECEIVES and words[4] == UNSIZED:
            words = [*words[:4], str(min(_MOST, self.most * _LARGEST_ELEMENT)), words[5]]
        return words

    def _sources(self, requests: Words) -> Iterator[str]:
        """Yield source, destination and tag of requests."""
        for at in range(0, len(requests), 3):
            source, destination, tag = requests[at : at + 3]
            known = int(source) != UNKNOWN
            yield from (source if known else self._source(int(destination), int(tag)), destination)
            yield tag

    def _source(self, rank: int, tag: int) -> str:
        """Return MPI_PROC_NULL if other receives of a rank account for all messages to it."""
        if rank not in self.any_tag and self.sent[rank, tag] <= self.named[rank, tag]:
            return str(PROC_NULL)
        return str(ANY_SOURCE)


def has_types(lines: Iterable[Words]) -> bool:
    """Return True if lines contain datatypes, according to the first unambiguous line."""
    longest = {"bcast": 2, "reduce": 3, "allreduce": 2, "scan": 2, "exscan": 2, "alltoall": 2}
    longest |= dict.fromkeys((*_SENDS, *_RECEIVES), 3) | {"allgather": 2, "sendrecv": 4}
    for words in lines:
        least = longest.get(words[1].lower()) if len(words) > 1 else None
        if least is not None:
            return len(words) - 2 > least
    return False


def _root(rest: Words) -> Words:
    return [str(int(rest[0]))] if rest else ["0"]


def _computation(operations: str) -> list[Words]:
    """Return the computation of a reduction, which follows its messages."""
    amount = _real(operations)
    return [["compute", amount]] if float(amount) != 0 else []


def _real(word: str) -> str:
    if not _REAL.fullmatch(word):
        raise ValueError
    return word.removeprefix("+")


def _whole(word: str) -> str:
    """Return an integer, which may be written as a real number, such as 1e6."""
    return str(int(float(_real(word))))


def _fitting(count: str, datatype: str) -> tuple[str, str]:
    """Express more than 2 GiB of bytes as doubles, as counts are ints."""
    if datatype != "MPI_BYTE" or int(count) <= _MOST:
        return count, datatype
    return str(-(-int(count) // _BYTES_OF_DOUBLE)), "MPI_DOUBLE"
