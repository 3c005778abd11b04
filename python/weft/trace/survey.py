# SPDX-License-Identifier: LGPL-2.1-only
"""Check that a trace in SimGrid's form replays as the program ran.

SimGrid's tracer omits calls (MPI_Waitsome, MPI_Sendrecv with MPI_PROC_NULL, all calls that create
communicators), so that a replay could hang or match the wrong message. The survey therefore counts
messages at both ends, and requests from start to completion.
"""

from collections import Counter
from dataclasses import dataclass, field

from weft.trace.actions import (
    ANY_SOURCE,
    ANY_TAG,
    COLLECTIVES,
    NON_BLOCKING,
    WAIT_LIST,
    Grammar,
    UnfitError,
    Words,
)

UNKNOWN = -333
"""MPI_UNDEFINED, which SimGrid's tracer writes for both MPI_ANY_SOURCE and MPI_PROC_NULL."""

Message = tuple[int, int, int]
"""Source, destination, tag."""


@dataclass
class _Rank:
    ended: bool = False
    tests: bool = False
    """True if the rank calls MPI_Test, whose result the trace does not contain."""
    requests: Counter[Message] = field(default_factory=Counter)
    open_collectives: int = 0
    """Pending non-blocking collectives."""
    from_any: int = 0
    """Blocking receives from MPI_ANY_SOURCE; receives from MPI_PROC_NULL are not traced."""
    from_unknown: int = 0
    any_tag: bool = False

    @property
    def open_requests(self) -> int:
        """Requests that have not been waited for."""
        return self.requests.total() + self.open_collectives


class Survey:
    """Summary of a trace, built line by line; `check` at the end validates it."""

    def __init__(self, ranks: int) -> None:
        """Start with an empty trace of this number of ranks."""
        self._grammar = Grammar(ranks)
        self._ranks = [_Rank() for _ in range(ranks)]
        self._sent: Counter[Message] = Counter()
        self._received: Counter[Message] = Counter()
        self._null_receivers: set[int] = set()
        """Ranks whose receives from an unknown rank are receives from MPI_PROC_NULL."""

    def add(self, words: Words) -> None:
        """Process one line."""
        self._grammar.check(words)
        rank, action, arguments = int(words[0]), words[1], words[2:]
        if self._ranks[rank].ended:
            raise UnfitError(f"found '{action}' of rank {rank} after its 'finalize'")
        if action in COLLECTIVES:
            self._ranks[rank].open_collectives += action in NON_BLOCKING
        elif action in ("send", "ssend", "isend", "issend"):
            self._send(rank, int(arguments[0]), int(arguments[1]), opens=action[0] == "i")
        elif action in ("recv", "irecv"):
            self._receive(rank, int(arguments[0]), int(arguments[1]), opens=action[0] == "i")
        elif action == "sendrecv":
            # The tracer omits the tags, and the replay sets both tags to 0.
            self._sent[rank, int(arguments[1]), 0] += 1
            self._receive(rank, int(arguments[3]), 0, opens=False)
        elif action == "wait":
            self._wait(rank, arguments)
        elif action == "wait_collective":
            self._wait_for_collective(rank, int(arguments[0]))
        elif action == "waitall":
            self._wait_for_all(rank, int(arguments[0]))
        elif action == WAIT_LIST:
            self._wait_for_list(rank, int(arguments[0]), arguments[1:])
        elif action == "test":
            self._ranks[rank].tests = True
        elif action == "finalize":
            self._ranks[rank].ended = True

    def _send(self, rank: int, destination: int, tag: int, *, opens: bool) -> None:
        message = (rank, _partner(destination), tag)
        if message[1] != UNKNOWN:
            self._sent[message] += 1
        if opens:
            self._ranks[rank].requests[message] += 1

    def _receive(self, rank: int, source: int, tag: int, *, opens: bool) -> None:
        state = self._ranks[rank]
        state.any_tag |= tag == ANY_TAG
        message = (_partner(source), rank, tag)
        if source >= 0:
            self._received[message] += 1
        elif source == ANY_SOURCE or (source == UNKNOWN and not opens):
            state.from_any += 1
        elif source == UNKNOWN:
            state.from_unknown += 1
        if opens:
            state.requests[message] += 1

    def _wait(self, rank: int, arguments: Words) -> None:
        message = (_partner(int(arguments[0])), _partner(int(arguments[1])), int(arguments[2]))
        requests = self._ranks[rank].requests
        if requests[message] > 0:
            requests[message] -= 1
        elif not self._ranks[rank].tests:
            raise UnfitError(
                f"rank {rank} waits for a request that none of its MPI_Isend and MPI_Irecv opened"
            )

    def _wait_for_all(self, rank: int, count: int) -> None:
        state = self._ranks[rank]
        still = state.open_requests
        if count < still and not state.tests:
            raise UnfitError(
                f"rank {rank} waits for {count} of its {still} open requests in one MPI_Waitall,"
                " but a replay would wait for all of them"
            )
        state.requests.clear()
        state.open_collectives = 0

    def _wait_for_list(self, rank: int, collectives: int, requests: Words) -> None:
        state = self._ranks[rank]
        if collectives not in (0, state.open_collectives):
            raise UnfitError(
                f"rank {rank} waits for {collectives} of its {state.open_collectives} open"
                " non-blocking collectives in one MPI_Waitall, but a replay would wait for all"
            )
        state.open_collectives -= collectives
        for request in _threes(requests):
            self._wait(rank, request)

    def _wait_for_collective(self, rank: int, index: int) -> None:
        state = self._ranks[rank]
        if not 0 <= index < state.open_collectives:
            raise UnfitError(f"rank {rank} waits for a collective that it has not started")
        state.open_collectives -= 1

    def check(self) -> None:
        """Check at the end of a trace that it is complete and that every message is received."""
        for rank, state in enumerate(self._ranks):
            if not state.ended:
                raise UnfitError(f"it is truncated: there is no 'finalize' of rank {rank}")
            if state.open_requests > 0 and not state.tests:
                raise UnfitError(
                    f"rank {rank} ends with requests that it never waits for"
                    " (MPI_Waitsome and MPI_Request_free are not in SimGrid's traces)"
                )
        self._check_totals()
        self._check_pairs()

    def _check_totals(self) -> None:
        sent = _by_destination(self._sent)
        received = _by_destination(self._received)
        for rank, state in enumerate(self._ranks):
            more = sent[rank] - received[rank] - state.from_any
            if more == 0:
                self._null_receivers.add(rank)
            elif more != state.from_unknown:
                raise UnfitError(
                    f"rank {rank} is sent {sent[rank]} messages, and receives"
                    f" {received[rank] + state.from_any}: some of the calls are not in SimGrid's"
                    " traces (MPI_Sendrecv with MPI_PROC_NULL, or one end of an intercommunicator)"
                )

    def _check_pairs(self) -> None:
        named = {rank for rank, state in enumerate(self._ranks) if self._names_senders(rank, state)}
        sent = Counter({key: n for key, n in self._sent.items() if key[1] in named})
        for source, rank, tag in sorted(sent.keys() | self._received.keys()):
            message = (source, rank, tag)
            if rank in named and sent[message] != self._received[message]:
                raise UnfitError(
                    f"rank {source} sends {sent[message]} messages with tag {tag} to rank {rank},"
                    f" which receives {self._received[message]} (of MPI_Sendrecv, SimGrid does not"
                    " trace the tags)"
                )

    def _names_senders(self, rank: int, state: _Rank) -> bool:
        return not state.any_tag and state.from_any == 0 and rank in self._null_receivers


def _threes(words: Words) -> list[Words]:
    """Split the words into source, destination and tag of each request."""
    return [words[at : at + 3] for at in range(0, len(words), 3)]


def _partner(rank: int) -> int:
    """Return a rank, or a common value for all special ranks."""
    return rank if rank >= 0 else UNKNOWN


def _by_destination(messages: Counter[Message]) -> Counter[int]:
    totals: Counter[int] = Counter()
    for (_, destination, _), count in messages.items():
        totals[destination] += count
    return totals
