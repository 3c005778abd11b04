# SPDX-License-Identifier: LGPL-2.1-only
"""DUMPI traces as written by SST's tracer, read by the `pydumpi` package.

A trace consists of a file of calls for each rank (`NAME-0003.bin`) and `NAME.meta`. DUMPI records
the arguments of MPI 2 functions, and the start and end time of each call. dumpi/common/constants.h
defines its numbers of datatypes, operations, communicators and requests.

Each rank numbers communicators independently. The reader therefore matches the creating calls
across all ranks, and replays them as an MPI_Comm_split with the same members.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError, printable
from weft.trace.recording import Call, Recording, Timeline, listed

_PAGE = "docs/trace-files.md lists what weft replays"
_DATATYPES = (
    *("", "", "MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_BYTE", "MPI_WCHAR"),
    *("MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_INT", "MPI_UNSIGNED", "MPI_LONG"),
    *("MPI_UNSIGNED_LONG", "MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_LONG_LONG"),
    *("MPI_UNSIGNED_LONG_LONG", "MPI_LONG_LONG", "MPI_PACKED", "", "", "MPI_FLOAT_INT"),
    *("MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_SHORT_INT", "MPI_2INT", "MPI_LONG_DOUBLE_INT"),
)
_OPERATIONS = (
    *("", "MPI_MAX", "MPI_MIN", "MPI_SUM", "MPI_PROD", "MPI_LAND", "MPI_BAND", "MPI_LOR"),
    *("MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE"),
)
_ANY = -1
_COMM_NULL, _COMM_WORLD, _COMM_SELF = 1, 2, 3
_REQUEST_NULL = 1
_GROUP_EMPTY = 2
_REFUSED = (
    *("intercomm_create", "intercomm_merge", "graph_create", "comm_accept", "comm_connect"),
    *("comm_join", "comm_spawn", "comm_spawn_multiple", "accumulate", "get", "put"),
    *("win_create", "grequest_start", "file_open", "cancel"),
)


class _UnfitError(Exception):
    """The trace contains calls that cannot be replayed."""


@dataclass(slots=True)
class _Split:
    """Creation of a communicator."""

    call: Call
    parent: int
    made: int
    colour: int | None
    """Colour for MPI_Comm_split; None outside the new communicator."""
    key: int
    is_copy: bool = False
    """True for MPI_Comm_dup."""


@dataclass
class _Rank:
    timeline: Timeline = field(default_factory=Timeline)
    last: int = -1
    """End of the last call in nanoseconds; -1 before MPI_Init."""
    requests: dict[int, int] = field(default_factory=dict)
    persistent: set[int] = field(default_factory=set)
    splits: list[_Split] = field(default_factory=list)
    uses: list[tuple[Call, int, int]] = field(default_factory=list)
    """Calls, each with its communicator and the number of splits before it."""
    failure: str = ""
    groups: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    """Groups, each as a communicator and ranks in it."""
    grids: dict[int, list[int]] = field(default_factory=dict)
    """Dimension sizes of Cartesian communicators."""
    ranks: dict[int, int] = field(default_factory=dict)
    """The own rank in communicators for which the program queried it."""
    sizes: dict[int, int] = field(default_factory=dict)


def read_dumpi(meta: Path) -> Recording:
    """Read the trace of a `.meta` file."""
    from pydumpi import DumpiTrace

    files = _files_of(meta)
    ranks = []
    for process, file in enumerate(files):
        rank = _Rank()
        reader = _make_reader(DumpiTrace)(str(file), rank, process, len(files))
        try:
            with reader:
                reader.type_sizes_known = reader.type_sizes
                reader.read_stream()
        except ValueError as error:
            raise WeftError(f"trace: {file}: {printable(str(error))}; {_PAGE}") from None
        if rank.failure:
            raise WeftError(f"trace: {file}: rank {process} {rank.failure}; {_PAGE}")
        if rank.last < 0:
            raise WeftError(
                f"trace: {file}: found no calls of rank {process}; check that the file is whole"
            )
        ranks.append(rank)
    try:
        communicators = _resolve(ranks)
    except _UnfitError as error:
        raise WeftError(f"trace: {meta}: {error}; {_PAGE}") from None
    return Recording([rank.timeline for rank in ranks], communicators, makes_communicators=False)


def is_meta(path: Path) -> bool:
    """Return True for the description file of a DUMPI trace."""
    if path.suffix != ".meta" or not path.is_file():
        return False
    with path.open("rb") as file:
        return b"fileprefix=" in file.read(1 << 12)


def _files_of(meta: Path) -> list[Path]:
    entries = dict(
        line.strip().split("=", 1)
        for line in meta.read_text(encoding="utf-8", errors="replace").splitlines()
        if "=" in line
    )
    prefix = Path(entries.get("fileprefix", meta.stem)).name
    found = sorted(meta.parent.glob(f"{prefix}-*.bin"))
    stated = entries.get("numprocs", "")
    if not found or (stated.isdigit() and int(stated) != len(found)):
        raise WeftError(
            f"trace: {meta}: found {len(found)} files {prefix}-….bin beside it, and it states"
            f" {printable(stated) or 'no'} ranks; name a whole trace"
        )
    return found


# ---- One rank


def _make_reader(base: type) -> type:
    """Return a reader of one rank: pydumpi calls the `on_…` methods that a class defines."""

    class Reader(base):  # type: ignore[misc]
        type_sizes_known: list[int]

        def __init__(self, file: str, rank: _Rank, process: int, ranks: int) -> None:
            self._rank, self._process = rank, process
            rank.ranks[_COMM_WORLD], rank.sizes[_COMM_WORLD] = process, ranks
            rank.ranks[_COMM_SELF], rank.sizes[_COMM_SELF] = 0, 1
            super().__init__(file)

        def type_of(self, number: int) -> str:
            if 0 <= number < len(_DATATYPES) and _DATATYPES[number]:
                return _DATATYPES[number]
            sizes = self.type_sizes_known
            if not len(_DATATYPES) <= number < len(sizes) or sizes[number] < 0:
                raise _UnfitError(f"uses datatype {number}, whose size is not recorded")
            return f"derived:{sizes[number]}"

    for name, handler in _HANDLERS.items():
        setattr(Reader, f"on_{name}", _guarded(name, handler))
    for name in _REFUSED:
        setattr(Reader, f"on_{name}", _refuse(name))
    return Reader


def _guarded(
    name: str, handler: Callable[[Any, _Rank, Any], None]
) -> Callable[[Any, Any, Any, Any, Any, Any], None]:
    """Wrap a method to store its exception: pydumpi would otherwise end the process."""

    def on(reader: Any, data: Any, thread: Any, _cpu: Any, wall: Any, _counters: Any) -> None:
        del thread
        rank = reader._rank
        if rank.failure:
            return
        try:
            if rank.last >= 0:
                rank.timeline.wait((_nanoseconds(wall.start) - rank.last) * 1e-9)
            handler(reader, rank, data)
            rank.last = _nanoseconds(wall.stop)
        except _UnfitError as error:
            rank.failure = printable(str(error))
        except (IndexError, KeyError):
            rank.failure = f"calls MPI_{name.capitalize()} on what no call before it has made"

    return on


def _refuse(name: str) -> Callable[..., None]:
    def on(reader: Any, *_: Any) -> None:
        reader._rank.failure = reader._rank.failure or f"calls MPI_{name.capitalize()}"

    return on


def _nanoseconds(clock: Any) -> int:
    return int(clock.sec) * 10**9 + int(clock.nsec)


def _on(rank: _Rank, communicator: int, words: str) -> Call:
    """Add a call; `@` in its words is replaced with the number of its communicator."""
    call = rank.timeline.add(words)
    rank.uses.append((call, communicator, len(rank.splits)))
    return call


def _partner(number: int, status: Any = None) -> str:
    if number == _ANY:
        if status and status.contents.source == _ANY and status.contents.bytes == 0:
            return "null"  # MPICH's MPI_PROC_NULL is -1, too
        return "any"
    return "null" if number < 0 else str(number)


def _destination(number: int) -> str:
    return "null" if number < 0 else str(number)


def _tag(number: int) -> str:
    return "any" if number == _ANY else str(number)


def _send(name: str) -> Callable[[Any, _Rank, Any], None]:
    def handle(reader: Any, rank: _Rank, data: Any) -> None:
        sent = _one(reader, data.count, data.datatype)
        words = f"{name} @ {sent} {_destination(data.dest)} {data.tag}"
        _on(rank, data.comm, words + _opening(rank, data, name))

    return handle


def _recv(name: str) -> Callable[[Any, _Rank, Any], None]:
    def handle(reader: Any, rank: _Rank, data: Any) -> None:
        source = _partner(data.source, getattr(data, "status", None))
        words = f"{name} @ {data.count} {reader.type_of(data.datatype)} {source} {_tag(data.tag)}"
        _on(rank, data.comm, words + _opening(rank, data, name))

    return handle


def _sendrecv(reader: Any, rank: _Rank, data: Any) -> None:
    sent = f"{data.sendcount} {reader.type_of(data.sendtype)} {_destination(data.dest)}"
    received = f"{data.recvcount} {reader.type_of(data.recvtype)}"
    source = f"{_partner(data.source, data.status)} {_tag(data.recvtag)}"
    _on(rank, data.comm, f"Sendrecv @ {sent} {data.sendtag} {received} {source}")


def _sendrecv_replace(reader: Any, rank: _Rank, data: Any) -> None:
    both = f"{data.count} {reader.type_of(data.datatype)}"
    to = f"{_destination(data.dest)} {data.sendtag}"
    source = f"{_partner(data.source, data.status)} {_tag(data.recvtag)}"
    _on(rank, data.comm, f"Sendrecv_replace @ {both} {to} {source}")


def _probe(_reader: Any, rank: _Rank, data: Any) -> None:
    _on(rank, data.comm, f"Probe @ {_partner(data.source, data.status)} {_tag(data.tag)}")


def _iprobe(_reader: Any, rank: _Rank, data: Any) -> None:
    where = f"{_partner(data.source)} {_tag(data.tag)}"
    _on(rank, data.comm, f"Iprobe @ {where} {int(bool(data.flag))}")


# ---- Requests


def _opening(rank: _Rank, data: Any, name: str) -> str:
    """Return the word for the request that a call opens; empty if it opens none."""
    if not hasattr(data, "request"):
        return ""
    number = rank.requests[data.request] = rank.timeline.open_request()
    if name.endswith("_init"):
        rank.persistent.add(data.request)
    return f" {number}"


def _numbers(rank: _Rank, requests: Sequence[int]) -> list[int]:
    return [-1 if one <= _REQUEST_NULL else rank.requests.get(one, -1) for one in requests]


def _close(rank: _Rank, requests: Sequence[int]) -> None:
    for one in requests:
        if one in rank.requests and one not in rank.persistent:
            rank.timeline.free.append(rank.requests.pop(one))


def _wait(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.timeline.add(f"Wait {_numbers(rank, [data.request])[0]}")
    _close(rank, [data.request])


def _ended(name: str) -> Callable[[Any, _Rank, Any], None]:
    """Handle a wait or test of several requests."""

    def handle(_reader: Any, rank: _Rank, data: Any) -> None:
        requests = data.requests[: data.count] if data.count > 0 else []
        words = f"{name} {listed(_numbers(rank, requests))}"
        places = _places(name, data, len(requests))
        if name != "Waitall":
            words += f" {listed(places)}"
        rank.timeline.add(words)
        _close(rank, [requests[place] for place in places])

    return handle


def _places(name: str, data: Any, count: int) -> list[int]:
    """Return the positions of the requests that a call completed."""
    if name == "Waitall" or (name == "Testall" and data.flag):
        return list(range(count))
    if name == "Waitany" or (name == "Testany" and data.flag):
        return [data.index] if 0 <= data.index < count else []
    if name.endswith("some") and data.outcount > 0:
        return list(data.indices[: data.outcount])
    return []


def _test(_reader: Any, rank: _Rank, data: Any) -> None:
    number = _numbers(rank, [data.request])[0]
    rank.timeline.add(f"Test {number} {0 if data.flag else '-'}")
    if data.flag:
        _close(rank, [data.request])


def _start(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.timeline.add(f"Start {_numbers(rank, [data.request])[0]}")


def _startall(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.timeline.add(f"Startall {listed(_numbers(rank, data.requests[: data.count]))}")


def _request_free(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.timeline.add(f"Request_free {_numbers(rank, [data.request])[0]}")
    rank.persistent.discard(data.request)
    _close(rank, [data.request])


# ---- Collectives


def _barrier(_reader: Any, rank: _Rank, data: Any) -> None:
    _on(rank, data.comm, "Barrier @")


def _bcast(reader: Any, rank: _Rank, data: Any) -> None:
    _on(rank, data.comm, f"Bcast @ {data.count} {reader.type_of(data.datatype)} {data.root}")


def _one(reader: Any, count: int, datatype: int) -> str:
    return f"{count} {reader.type_of(datatype)}"


def _many(reader: Any, counts: Any, size: int, datatype: int) -> str:
    return f"{listed(counts[:size])} {reader.type_of(datatype)}"


def _is_root(rank: _Rank, data: Any) -> bool:
    return bool(data.commrank == data.root or rank.ranks.get(data.comm) == data.root)


def _gather(reader: Any, rank: _Rank, data: Any) -> None:
    at_root = _one(reader, data.recvcount, data.recvtype) if _is_root(rank, data) else "-"
    sent = _one(reader, data.sendcount, data.sendtype)
    _on(rank, data.comm, f"Gather @ {sent} {at_root} {data.root}")


def _gatherv(reader: Any, rank: _Rank, data: Any) -> None:
    sent = _one(reader, data.sendcount, data.sendtype)
    is_root = _is_root(rank, data)
    counts = _many(reader, data.recvcounts, data.commsize, data.recvtype) if is_root else "-"
    _on(rank, data.comm, f"Gatherv @ {sent} {counts} {data.root}")


def _scatter(reader: Any, rank: _Rank, data: Any) -> None:
    at_root = _one(reader, data.sendcount, data.sendtype) if _is_root(rank, data) else "-"
    received = _one(reader, data.recvcount, data.recvtype)
    _on(rank, data.comm, f"Scatter @ {at_root} {received} {data.root}")


def _scatterv(reader: Any, rank: _Rank, data: Any) -> None:
    received = _one(reader, data.recvcount, data.recvtype)
    is_root = _is_root(rank, data)
    counts = _many(reader, data.sendcounts, data.commsize, data.sendtype) if is_root else "-"
    _on(rank, data.comm, f"Scatterv @ {counts} {received} {data.root}")


def _exchange(name: str) -> Callable[[Any, _Rank, Any], None]:
    def handle(reader: Any, rank: _Rank, data: Any) -> None:
        sent = _one(reader, data.sendcount, data.sendtype)
        received = _one(reader, data.recvcount, data.recvtype)
        _on(rank, data.comm, f"{name} @ {sent} {received}")

    return handle


def _allgatherv(reader: Any, rank: _Rank, data: Any) -> None:
    sent = _one(reader, data.sendcount, data.sendtype)
    counts = _many(reader, data.recvcounts, data.commsize, data.recvtype)
    _on(rank, data.comm, f"Allgatherv @ {sent} {counts}")


def _alltoallv(reader: Any, rank: _Rank, data: Any) -> None:
    sent = _many(reader, data.sendcounts, data.commsize, data.sendtype)
    received = _many(reader, data.recvcounts, data.commsize, data.recvtype)
    _on(rank, data.comm, f"Alltoallv @ {sent} {received}")


def _alltoallw(reader: Any, rank: _Rank, data: Any) -> None:
    size = data.commsize
    sends = ",".join(reader.type_of(one) for one in data.sendtypes[:size])
    receives = ",".join(reader.type_of(one) for one in data.recvtypes[:size])
    counts = listed(data.sendcounts[:size]), listed(data.recvcounts[:size])
    _on(rank, data.comm, f"Alltoallw @ {counts[0]} {sends} {counts[1]} {receives}")


def _operation(number: int) -> str:
    named = 0 < number < len(_OPERATIONS)
    return _OPERATIONS[number] if named else "user"


def _reduction(name: str) -> Callable[[Any, _Rank, Any], None]:
    def handle(reader: Any, rank: _Rank, data: Any) -> None:
        words = f"{name} @ {data.count} {reader.type_of(data.datatype)} {_operation(data.op)}"
        if hasattr(data, "root"):
            words += f" {data.root}"
        _on(rank, data.comm, words)

    return handle


def _reduce_scatter(reader: Any, rank: _Rank, data: Any) -> None:
    counts = _many(reader, data.recvcounts, data.commsize, data.datatype)
    _on(rank, data.comm, f"Reduce_scatter @ {counts} {_operation(data.op)}")


# ---- Communicators


def _note_rank(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.ranks[data.comm] = data.rank


def _note_size(_reader: Any, rank: _Rank, data: Any) -> None:
    rank.sizes[data.comm] = data.size


def _split(rank: _Rank, parent: int, made: int, colour: int | None, key: int) -> None:
    call = _on(rank, parent, "")
    rank.splits.append(_Split(call, parent, made, colour, key))


def _comm_dup(_reader: Any, rank: _Rank, data: Any) -> None:
    _split(rank, data.oldcomm, data.newcomm, 0, 0)
    rank.splits[-1].is_copy = True
    for known in (rank.ranks, rank.sizes):
        if data.oldcomm in known:
            known[data.newcomm] = known[data.oldcomm]


def _comm_split(_reader: Any, rank: _Rank, data: Any) -> None:
    colour = None if data.newcomm <= _COMM_NULL else data.color
    _split(rank, data.oldcomm, data.newcomm, colour, data.key)


def _comm_create(_reader: Any, rank: _Rank, data: Any) -> None:
    if data.newcomm <= _COMM_NULL:
        _split(rank, data.oldcomm, data.newcomm, None, 0)
        return
    parent, members = rank.groups[data.group]
    if parent != data.oldcomm:
        raise _UnfitError("creates a communicator from a group of another one")
    # Only groups of this rank's own communicators, in which it knows its rank, are known.
    own = rank.ranks[data.oldcomm]
    _split(rank, data.oldcomm, data.newcomm, min(members), members.index(own))


def _cart_create(_reader: Any, rank: _Rank, data: Any) -> None:
    sizes = list(data.dims[: data.ndim])
    inside = data.newcomm > _COMM_NULL
    own = rank.ranks.get(data.oldcomm, 0)
    _split(rank, data.oldcomm, data.newcomm, 0 if inside else None, own)
    rank.grids[data.newcomm] = sizes
    rank.ranks.setdefault(data.newcomm, own)
    rank.sizes[data.newcomm] = math.prod(sizes)


def _cart_sub(_reader: Any, rank: _Rank, data: Any) -> None:
    grid = rank.grids[data.oldcomm]
    own, colour, key = rank.ranks[data.oldcomm], 0, 0
    place = math.prod(grid)
    for size, kept in zip(grid, data.remain_dim[: data.ndim], strict=True):
        place //= size
        at = own // place % size
        if kept:
            key = key * size + at
        else:
            colour = colour * size + at
    _split(rank, data.oldcomm, data.newcomm, colour, key)
    rank.ranks[data.newcomm] = key
    sizes = [one for one, kept in zip(grid, data.remain_dim[: data.ndim], strict=True) if kept]
    rank.grids[data.newcomm] = sizes
    rank.sizes[data.newcomm] = math.prod(sizes)


def _comm_free(_reader: Any, rank: _Rank, data: Any) -> None:
    _on(rank, data.comm, "Comm_free @")


def _comm_group(_reader: Any, rank: _Rank, data: Any) -> None:
    if data.comm in rank.sizes:
        rank.groups[data.group] = data.comm, list(range(rank.sizes[data.comm]))


def _group_incl(_reader: Any, rank: _Rank, data: Any) -> None:
    if data.group in rank.groups:
        parent, members = rank.groups[data.group]
        chosen = [members[one] for one in data.ranks[: data.count]]
        rank.groups[data.newgroup] = parent, chosen


def _group_excl(_reader: Any, rank: _Rank, data: Any) -> None:
    if data.group in rank.groups:
        parent, members = rank.groups[data.group]
        left_out = {members[one] for one in data.ranks[: data.count]}
        rank.groups[data.newgroup] = parent, [one for one in members if one not in left_out]


def _implied(_reader: Any, _rank: _Rank, _data: Any) -> None:
    """Add no call: each rank of a recording begins with MPI_Init and ends with MPI_Finalize."""


_HANDLERS: dict[str, Callable[[Any, _Rank, Any], None]] = {
    "init": _implied,
    "finalize": _implied,
    "send": _send("Send"),
    "bsend": _send("Bsend"),
    "ssend": _send("Ssend"),
    "rsend": _send("Rsend"),
    "isend": _send("Isend"),
    "ibsend": _send("Ibsend"),
    "issend": _send("Issend"),
    "irsend": _send("Irsend"),
    "send_init": _send("Send_init"),
    "bsend_init": _send("Bsend_init"),
    "ssend_init": _send("Ssend_init"),
    "rsend_init": _send("Rsend_init"),
    "recv": _recv("Recv"),
    "irecv": _recv("Irecv"),
    "recv_init": _recv("Recv_init"),
    "sendrecv": _sendrecv,
    "sendrecv_replace": _sendrecv_replace,
    "probe": _probe,
    "iprobe": _iprobe,
    "wait": _wait,
    "waitall": _ended("Waitall"),
    "waitany": _ended("Waitany"),
    "waitsome": _ended("Waitsome"),
    "test": _test,
    "testall": _ended("Testall"),
    "testany": _ended("Testany"),
    "testsome": _ended("Testsome"),
    "start": _start,
    "startall": _startall,
    "request_free": _request_free,
    "barrier": _barrier,
    "bcast": _bcast,
    "gather": _gather,
    "gatherv": _gatherv,
    "scatter": _scatter,
    "scatterv": _scatterv,
    "allgather": _exchange("Allgather"),
    "alltoall": _exchange("Alltoall"),
    "allgatherv": _allgatherv,
    "alltoallv": _alltoallv,
    "alltoallw": _alltoallw,
    "reduce": _reduction("Reduce"),
    "allreduce": _reduction("Allreduce"),
    "scan": _reduction("Scan"),
    "exscan": _reduction("Exscan"),
    "reduce_scatter": _reduce_scatter,
    "comm_rank": _note_rank,
    "comm_size": _note_size,
    "comm_dup": _comm_dup,
    "comm_split": _comm_split,
    "comm_create": _comm_create,
    "comm_free": _comm_free,
    "comm_group": _comm_group,
    "group_incl": _group_incl,
    "group_excl": _group_excl,
    "cart_create": _cart_create,
    "cart_sub": _cart_sub,
}


# ---- Communicators of all ranks


def _resolve(ranks: Sequence[_Rank]) -> list[tuple[int, ...]]:
    """Assign communicator numbers shared by all ranks, and insert them into the calls.

    The k-th communicator created from a parent is the k-th at each of its members.
    """
    members: list[tuple[int, ...]] = [tuple(range(len(ranks)))]
    history: list[list[dict[int, int | str]]] = [
        [{_COMM_WORLD: 0, _COMM_SELF: "self"}] for _ in ranks
    ]
    """Communicators of each rank by local number, after each creation, as numbers are reused."""
    waiting: dict[tuple[int | str, int, int], dict[int, _Split]] = {}
    made_from: list[dict[int | str, int]] = [{} for _ in ranks]
    done = [0] * len(ranks)
    ready = list(range(len(ranks)))
    while ready:
        process = ready.pop()
        rank = ranks[process]
        if done[process] == len(rank.splits):
            continue
        split = rank.splits[done[process]]
        parent = history[process][-1].get(split.parent)
        if parent is None:
            raise _UnfitError(f"rank {process} uses communicator {split.parent}, which is unknown")
        count = made_from[process].get(parent, 0)
        whole = (process,) if parent == "self" else members[int(parent)]
        key = (parent, count, process if parent == "self" else -1)
        group = waiting.setdefault(key, {})
        group[process] = split
        if len(group) < len(whole):
            continue
        for colour in sorted({one.colour for one in group.values() if one.colour is not None}):
            inside = sorted(
                (one.key, whole.index(at), at) for at, one in group.items() if one.colour == colour
            )
            members.append(tuple(at for _, _, at in inside))
            for _, _, at in inside:
                _made(group[at], len(members) - 1, history[at])
        for at, one in group.items():
            if one.colour is None:
                one.call.words = "Comm_split @ undefined 0 null"
                history[at].append(history[at][-1])
            made_from[at][parent] = count + 1
            done[at] += 1
            ready.append(at)
        del waiting[key]
    if waiting:
        process = min(at for group in waiting.values() for at in group)
        raise _UnfitError(f"rank {process} creates a communicator without the others")
    for process, rank in enumerate(ranks):
        for call, communicator, before in rank.uses:
            number = history[process][before].get(communicator)
            if number is None:
                raise _UnfitError(
                    f"rank {process} uses communicator {communicator}, which is unknown"
                )
            call.words = call.words.replace("@", str(number), 1)
    return members[1:]


def _made(split: _Split, number: int, history: list[dict[int, int | str]]) -> None:
    if split.is_copy:
        split.call.words = f"Comm_dup @ {number}"
    else:
        split.call.words = f"Comm_split @ {split.colour} {split.key} {number}"
    history.append({**history[-1], split.made: number})
