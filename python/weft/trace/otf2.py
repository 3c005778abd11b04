# SPDX-License-Identifier: LGPL-2.1-only
"""OTF2 traces as written by Score-P, EZTrace and other tools, read by the `otf2` package.

OTF2 records messages, requests and collectives with their bytes, but neither datatypes nor
operations: weft replays data as bytes, and reductions as sums. Byte counts of collectives follow
Score-P (src/adapters/mpi/scorep_mpi_coll.c), where an Allreduce on N ranks counts N blocks at each
rank.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError, printable
from weft.trace.recording import (
    SELF,
    WORLD,
    Call,
    Recording,
    Timeline,
    data,
    element_of,
    listed,
    summed,
)

_BATCH = 4096
"""Events that the package reads in one batch."""
_SENDS = {
    "MPI_SSEND": "Ssend",
    "MPI_BSEND": "Bsend",
    "MPI_RSEND": "Rsend",
    "MPI_ISSEND": "Issend",
    "MPI_IBSEND": "Ibsend",
    "MPI_IRSEND": "Irsend",
}
_WAITING = ("MPI_WAIT", "MPI_TEST", "MPI_PROBE", "MPI_IPROBE", "MPI_MPROBE", "MPI_IMPROBE")
_EXCHANGES = ("MPI_SENDRECV", "MPI_SENDRECV_REPLACE", "MPI_ISENDRECV")
_VECTORS = ("GATHERV", "SCATTERV", "ALLGATHERV", "ALLTOALLV", "ALLTOALLW", "REDUCE_SCATTER")
_MAKES = "CREATE_HANDLE"
_FREES = "DESTROY_HANDLE"


class _UnfitError(Exception):
    """The trace contains calls that cannot be replayed."""


@dataclass(slots=True)
class _Communicator:
    number: int | str
    members: tuple[int, ...]
    """Ranks of MPI_COMM_WORLD."""


@dataclass(slots=True)
class _Collective:
    call: Call
    """Call to be completed."""
    request: int | None = None
    """Number of the request; None for a blocking call."""
    operation: str = ""
    communicator: _Communicator = field(default_factory=lambda: _Communicator(WORLD, ()))
    root: int = -1
    sent: int = 0
    received: int = 0


@dataclass(slots=True)
class _Request:
    number: int
    call: Call | None = None
    """Receive whose message is not known yet."""
    collective: _Collective | None = None


@dataclass
class _Rank:
    timeline: Timeline = field(default_factory=Timeline)
    last: int = -1
    """End of the last call in ticks; -1 before MPI_Init has returned."""
    regions: list[tuple[str, int]] = field(default_factory=list)
    """Open MPI functions, each with the number of calls at its start."""
    completed: list[int] = field(default_factory=list)
    """Requests completed by the open function."""
    half: tuple[int | str, str] | None = None
    """Communicator and send words of an MPI_Sendrecv whose receive has not been read yet."""
    requests: dict[int, _Request] = field(default_factory=dict)
    probed: dict[int, Any] = field(default_factory=dict)
    collectives: list[_Collective] = field(default_factory=list)
    thread: Any = None
    has_ended: bool = False

    @property
    def function(self) -> str:
        """Open MPI function; empty between calls."""
        return self.regions[-1][0] if self.regions else ""


def read_otf2(anchor: Path) -> Recording:
    """Read the trace of an anchor file (`traces.otf2`)."""
    import _otf2
    import otf2
    from otf2.error import TraceReaderError

    try:
        _look_for_parts(anchor)
        with otf2.reader.open(str(anchor), batch_events=_BATCH) as trace:
            reader = _Reader(trace.definitions)
            for location, event in trace.events:
                reader.take(location, event)
        return reader.end()
    except _UnfitError as error:
        raise WeftError(
            f"trace: {anchor}: {printable(str(error))}; docs/trace-files.md lists what weft replays"
        ) from None
    except (_otf2.Error, TraceReaderError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise WeftError(
            f"trace: {anchor} cannot be read ({printable(reason[:200])}); name the .otf2 file of a"
            " whole archive, beside its .def file and its directory"
        ) from None


def _look_for_parts(anchor: Path) -> None:
    """Refuse an archive that lacks the definitions of a location, which the library would skip."""
    folder = anchor.with_suffix("")
    definitions = {one.stem for one in folder.glob("*.def")}
    missing = sorted(one.stem for one in folder.glob("*.evt") if one.stem not in definitions)
    if definitions and missing:
        raise _UnfitError(f"found no {folder.name}/{missing[0]}.def beside it")


class _Reader:
    def __init__(self, definitions: Any) -> None:
        self._ticks = definitions.clock_properties.timer_resolution
        self._ranks_of = _ranks_of(definitions)
        if not self._ranks_of:
            raise _UnfitError("found no ranks of MPI")
        self.ranks = [_Rank() for _ in range(max(self._ranks_of.values()) + 1)]
        self._communicators: dict[int, _Communicator] = {}
        self._made: list[tuple[int, ...]] = []
        self._takers: dict[str, Callable[[int, _Rank, Any], None]] = {
            "Enter": self._enter,
            "Leave": self._leave,
            "MpiSend": self._send,
            "MpiIsend": self._isend,
            "MpiIsendComplete": self._complete,
            "MpiIrecvRequest": self._irecv,
            "MpiRecv": self._recv,
            "MpiIrecv": self._received,
            "MpiRequestCancelled": self._cancelled,
            "MpiProbe": self._probe,
            "MpiMrecv": self._matched_recv,
            "MpiImrecvRequest": self._irecv,
            "MpiCollectiveEnd": self._collective,
            "NonBlockingCollectiveRequest": self._start_collective,
            "NonBlockingCollectiveComplete": self._collective_completed,
        }

    def take(self, location: Any, event: Any) -> None:
        """Process one event."""
        name = type(event).__name__
        process = self._ranks_of.get(location.group._ref)
        if process is None:
            return
        rank = self.ranks[process]
        if name.startswith("Rma"):
            raise _UnfitError(f"rank {process} uses one-sided communication")
        if (taker := self._takers.get(name)) is None or rank.has_ended:
            return
        if name not in ("Enter", "Leave"):
            if rank.thread is None:
                rank.thread = location
            if rank.thread is not location:
                raise _UnfitError(f"several threads of rank {process} call MPI")
            if rank.last >= 0 and not rank.regions:
                self._pass(rank, event.time)
        elif rank.thread is not None and rank.thread is not location:
            return
        taker(process, rank, event)

    def end(self) -> Recording:
        """Return the whole trace."""
        _complete_collectives(self.ranks)
        timelines = [rank.timeline for rank in self.ranks]
        return Recording(timelines, self._made)

    # ---- Time

    def _pass(self, rank: _Rank, now: int) -> None:
        rank.timeline.wait((now - rank.last) / self._ticks)
        rank.last = now

    def _enter(self, _process: int, rank: _Rank, event: Any) -> None:
        name = _function(event.region.name)
        if not name:
            return
        if not rank.regions and rank.last >= 0:
            self._pass(rank, event.time)
        rank.regions.append((name, len(rank.timeline.calls)))

    def _leave(self, _process: int, rank: _Rank, event: Any) -> None:
        name = _function(event.region.name)
        if not name or not rank.regions:
            return
        _, before = rank.regions.pop()
        if rank.regions:
            return
        if rank.half is not None:
            communicator, sent = rank.half
            rank.timeline.add(f"Sendrecv {communicator} {sent} {data(0)} null 0")
            rank.half = None
        rank.timeline.complete(rank.completed)
        rank.completed = []
        is_silent = len(rank.timeline.calls) == before
        if rank.last < 0:
            rank.last = event.time if name.startswith("MPI_INIT") else -1
        elif not is_silent or name.startswith(_WAITING):
            rank.last = event.time
        rank.has_ended = name == "MPI_FINALIZE"

    # ---- Messages

    def _send(self, _process: int, rank: _Rank, event: Any) -> None:
        communicator = self._communicator(event.communicator).number
        sent = f"{data(event.msg_length)} {event.receiver} {event.msg_tag}"
        if rank.function in _EXCHANGES:
            rank.half = (communicator, sent)
            return
        rank.timeline.add(f"{_SENDS.get(rank.function, 'Send')} {communicator} {sent}")

    def _recv(self, _process: int, rank: _Rank, event: Any) -> None:
        self._receive(rank, event, event.msg_tag, event.msg_length)

    def _receive(self, rank: _Rank, event: Any, tag: int, length: int) -> None:
        communicator = self._communicator(event.communicator).number
        received = f"{data(length)} {event.sender} {tag}"
        if rank.function in _EXCHANGES:
            _, sent = rank.half or (communicator, f"{data(0)} null 0")
            rank.timeline.add(f"Sendrecv {communicator} {sent} {received}")
            rank.half = None
            return
        rank.timeline.add(f"Recv {communicator} {received}")

    def _isend(self, _process: int, rank: _Rank, event: Any) -> None:
        request = _Request(rank.timeline.open_request())
        communicator = self._communicator(event.communicator).number
        name = _SENDS.get(rank.function, "Isend")
        name = name if name.startswith("I") else "Isend"
        sent = f"{data(event.msg_length)} {event.receiver} {event.msg_tag}"
        rank.timeline.add(f"{name} {communicator} {sent} {request.number}")
        rank.requests[event.request_id] = request

    def _irecv(self, _process: int, rank: _Rank, event: Any) -> None:
        request = _Request(rank.timeline.open_request(), rank.timeline.add())
        rank.requests[event.request_id] = request

    def _received(self, process: int, rank: _Rank, event: Any) -> None:
        request = self._known(process, rank, event)
        if request.call is not None:
            communicator = self._communicator(event.communicator).number
            received = f"{data(event.msg_length)} {event.sender} {event.msg_tag}"
            request.call.words = f"Irecv {communicator} {received} {request.number}"
        self._finish(rank, event)

    def _complete(self, process: int, rank: _Rank, event: Any) -> None:
        self._known(process, rank, event)
        self._finish(rank, event)

    def _cancelled(self, process: int, rank: _Rank, event: Any) -> None:
        request = self._known(process, rank, event)
        if request.call is None:
            raise _UnfitError(f"rank {process} cancels a send")
        del rank.requests[event.request_id]

    def _probe(self, _process: int, rank: _Rank, event: Any) -> None:
        rank.probed[event.message_id] = event

    def _matched_recv(self, process: int, rank: _Rank, event: Any) -> None:
        probe = rank.probed.pop(event.message_id, None)
        if probe is None:
            raise _UnfitError(f"rank {process} receives a message that it has not matched")
        self._receive(rank, probe, probe.tag, event.msg_length)

    def _known(self, process: int, rank: _Rank, event: Any) -> _Request:
        request = rank.requests.get(event.request_id)
        if request is None:
            raise _UnfitError(
                f"rank {process} completes request {event.request_id}, which did not start"
            )
        return request

    def _finish(self, rank: _Rank, event: Any) -> None:
        """Complete a request at the end of the open function, or now."""
        number = rank.requests.pop(event.request_id).number
        if rank.regions:
            rank.completed.append(number)
        else:
            rank.timeline.complete([number])

    # ---- Collectives

    def _collective(self, process: int, rank: _Rank, event: Any) -> None:
        outside = rank.last < 0 or rank.function.startswith(("MPI_INIT", "MPI_FINALIZE"))
        if outside or _named(event.collective_op) == _FREES:
            return
        one = _Collective(rank.timeline.add())
        self._fill(process, one, event)
        rank.collectives.append(one)

    def _start_collective(self, _process: int, rank: _Rank, event: Any) -> None:
        request = _Request(rank.timeline.open_request())
        request.collective = _Collective(rank.timeline.add(), request.number)
        rank.collectives.append(request.collective)
        rank.requests[event.request_id] = request

    def _collective_completed(self, process: int, rank: _Rank, event: Any) -> None:
        request = self._known(process, rank, event)
        if request.collective is not None:
            self._fill(process, request.collective, event)
        self._finish(rank, event)

    def _fill(self, process: int, one: _Collective, event: Any) -> None:
        one.operation = _named(event.collective_op)
        if "ALLOCATE" in one.operation:
            raise _UnfitError(f"rank {process} allocates memory for one-sided communication")
        one.communicator = self._communicator(event.communicator)
        one.root = event.root if isinstance(event.root, int) else -1
        one.sent, one.received = event.size_sent, event.size_received

    def _communicator(self, definition: Any) -> _Communicator:
        number = definition._ref
        found = self._communicators.get(number)
        if found is None:
            found = self._communicators[number] = self._define(definition)
        return found

    def _define(self, definition: Any) -> _Communicator:
        if type(definition).__name__ != "Comm":
            raise _UnfitError("found an intercommunicator")
        if _named(definition.group.group_type) == "COMM_SELF":
            return _Communicator(SELF, (0,))
        members = tuple(self._ranks_of[one.group._ref] for one in definition.group.members)
        is_world = members == tuple(range(len(self.ranks)))
        if is_world and not any(one.number == WORLD for one in self._communicators.values()):
            return _Communicator(WORLD, members)
        self._made.append(members)
        return _Communicator(len(self._made), members)


def _ranks_of(definitions: Any) -> dict[int, int]:
    """Return the rank of each process, by its location group."""
    for group in definitions.groups:
        if _named(group.group_type) == "COMM_LOCATIONS" and _named(group.paradigm) == "MPI":
            return {one.group._ref: rank for rank, one in enumerate(group.members)}
    return {}


def _named(constant: Any) -> str:
    """Return the name of a constant of OTF2."""
    return str(constant).rpartition(".")[2]


def _function(region: str) -> str:
    """Return the name of an MPI function in capital letters; empty for other regions."""
    name = region.upper().removesuffix("()").rstrip("_ ")
    return name.removeprefix("P") if name.startswith(("MPI_", "PMPI_")) else ""


# ---- Collectives, whose words may depend on the bytes of other ranks


def _complete_collectives(ranks: Sequence[_Rank]) -> None:
    """Set the words of each collective."""
    by_call: dict[tuple[int | str, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    for process, one, key in _numbered(ranks):
        if one.operation in _VECTORS:
            by_call[key][process] = (one.sent, one.received)
    for process, one, key in _numbered(ranks):
        members = one.communicator.members
        if one.communicator.number == SELF:
            me, sizes = 0, [(one.sent, one.received)]
        else:
            me = members.index(process)
            others = by_call.get(key, {})
            sizes = [others.get(member, (0, 0)) for member in members]
        words = _words(one, me, len(members), sizes)
        if one.request is None:
            one.call.words = f"{words[0]} {one.communicator.number}{words[1]}"
        else:
            name = f"I{words[0].lower()}"
            one.call.words = f"{name} {one.communicator.number}{words[1]} {one.request}"


def _numbered(
    ranks: Sequence[_Rank],
) -> list[tuple[int, _Collective, tuple[int | str, int]]]:
    """Return the finished collectives, each with its communicator and its position on it."""
    found = []
    for process, rank in enumerate(ranks):
        places: dict[int | str, int] = defaultdict(int)
        for one in rank.collectives:
            if one.operation:
                number = one.communicator.number
                found.append((process, one, (number, places[number])))
                places[number] += 1
    return found


def _words(one: _Collective, me: int, size: int, sizes: list[tuple[int, int]]) -> tuple[str, str]:
    """Return the name and the arguments of a collective, after its communicator."""
    if one.operation in ("BARRIER", _MAKES):
        # A call that creates a communicator synchronises the ranks of its parent.
        return "Barrier", ""
    name = one.operation.capitalize()
    if one.operation == "ALLTOALLW":
        name = "Alltoallv"
    return name, " " + _ARGUMENTS[one.operation](one, me, size, sizes)


def _block(total: int, size: int) -> int:
    """Return the bytes of a block, given N blocks of one rank, or N - 1 for an in-place call."""
    if total % size == 0 or size == 1:
        return total // size
    return total // (size - 1)


def _rooted(one: _Collective, me: int, size: int) -> int:
    """Return the bytes of a rank's block in a Gather or Reduce."""
    return one.sent if me != one.root or one.sent else one.received // max(size - 1, 1)


def _bcast(one: _Collective, me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    del me, size
    return f"{data(one.received)} {one.root}"


def _reduce(one: _Collective, me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    return f"{summed(_rooted(one, me, size))} {one.root}"


def _gather(one: _Collective, me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    block = data(_rooted(one, me, size))
    return f"{block} {block if me == one.root else '-'} {one.root}"


def _scatter(one: _Collective, me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    own = one.received if me != one.root or one.received else one.sent // max(size - 1, 1)
    return f"{data(own) if me == one.root else '-'} {data(own)} {one.root}"


def _counts(amounts: Sequence[int]) -> str:
    return f"{listed(amounts)} MPI_BYTE"


def _gatherv(one: _Collective, me: int, _size: int, sizes: list[tuple[int, int]]) -> str:
    counts = _counts([sent for sent, _ in sizes]) if me == one.root else "-"
    return f"{data(one.sent)} {counts} {one.root}"


def _scatterv(one: _Collective, me: int, _size: int, sizes: list[tuple[int, int]]) -> str:
    counts = _counts([received for _, received in sizes]) if me == one.root else "-"
    return f"{counts} {data(one.received)} {one.root}"


def _allgather(one: _Collective, _me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    block = data(_block(one.sent, size))
    return f"{block} {block}"


def _allgatherv(_one: _Collective, me: int, size: int, sizes: list[tuple[int, int]]) -> str:
    blocks = [_block(sent, size) for sent, _ in sizes]
    return f"{data(blocks[me])} {_counts(blocks)}"


def _alltoallv(_one: _Collective, me: int, _size: int, sizes: list[tuple[int, int]]) -> str:
    """Distribute sent and received bytes in proportion: OTF2 records only their sums."""
    total = max(sum(sent for sent, _ in sizes), 1)
    sends = [sizes[me][0] * received // total for _, received in sizes]
    receives = [sent * sizes[me][1] // total for sent, _ in sizes]
    return f"{_counts(sends)} {_counts(receives)}"


def _allreduce(one: _Collective, _me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    return summed(_block(one.sent, size))


def _reduce_scatter(_one: _Collective, _me: int, size: int, sizes: list[tuple[int, int]]) -> str:
    blocks = [_block(received, size) for _, received in sizes]
    unit, name = element_of(blocks)
    return f"{listed([block // unit for block in blocks])} {name} MPI_SUM"


def _scan(one: _Collective, me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    """Assume N + 1 blocks sent and received, or N - 1 if in place (scorep_mpi_coll.c)."""
    both = one.sent + one.received
    if both == (one.received // (me + 1)) * (size + 1):
        return summed(both // (size + 1))
    return summed(both // max(size - 1, 1))


def _exscan(one: _Collective, _me: int, size: int, _sizes: list[tuple[int, int]]) -> str:
    return summed((one.sent + one.received) // max(size - 1, 1))


_ARGUMENTS: dict[str, Callable[[_Collective, int, int, list[tuple[int, int]]], str]] = {
    "BCAST": _bcast,
    "REDUCE": _reduce,
    "GATHER": _gather,
    "SCATTER": _scatter,
    "GATHERV": _gatherv,
    "SCATTERV": _scatterv,
    "ALLGATHER": _allgather,
    "ALLTOALL": _allgather,
    "ALLGATHERV": _allgatherv,
    "ALLTOALLV": _alltoallv,
    "ALLTOALLW": _alltoallv,
    "ALLREDUCE": _allreduce,
    "REDUCE_SCATTER_BLOCK": _allreduce,
    "REDUCE_SCATTER": _reduce_scatter,
    "SCAN": _scan,
    "EXSCAN": _exscan,
}
