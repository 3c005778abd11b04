# SPDX-License-Identifier: LGPL-2.1-only
"""PyTorch's Kineto traces as exported by torch.profiler, one JSON file per rank.

The file contains the start and duration of each kernel. A replay preserves the kernel order on each
stream, the durations of computations, the waits across streams, and the time for which a stream
waited for the host. Collectives take their time on the simulated network: NCCL kernels record name,
sizes and process group (PyTorch 2.3 and later).

The file contains the waits between streams if the profiler recorded CUDA's synchronization events
(`enable_cuda_sync_events`). Otherwise the reader infers them:

- NCCL's stream waits for the last kernel launched by the same thread: ProcessGroupNCCL records an
  event on the current stream and makes NCCL's stream wait for it.
- A call of cudaStreamWaitEvent outside NCCL launches is a wait for the oldest NCCL kernel without a
  wait (`Work.wait`), unless this kernel ended too late in the file.
- A launched kernel on an idle stream waited for the last kernel to end on another stream, if it
  started within 10 us after this end.
- Launches after a host synchronization depend on the kernel for which the host waited.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from weft.base.errors import WeftError, printable
from weft.training.formats import operations as ops
from weft.training.formats.assembly import assemble
from weft.training.formats.json_stream import ArrayReader
from weft.training.formats.operations import Group, Operation, RankTrace
from weft.training.formats.options import ReadOptions
from weft.training.formats.rank_files import number_of_ranks
from weft.training.formats.source import Source, head_of
from weft.training.workload import NewProgram, Workload

_KEY = "traceEvents"
_SNIFFED = 1 << 20
_SIGNS = (b'"traceEvents"', b'"distributedInfo"', b'"deviceProperties"')
_RANK_IN_NAME = re.compile(r"rank[-_]?(\d{1,7})|[-_](\d{1,6})\.json", re.IGNORECASE)
_GPU = frozenset(("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"))
_RUNTIME = frozenset(
    ("cuda_runtime", "cuda_driver", "hip_runtime", "privateuse1_runtime", "runtime")
)
_HOST_WAITS = frozenset(
    f"{prefix}{name}"
    for prefix in ("cuda", "hip")
    for name in ("StreamSynchronize", "EventSynchronize", "DeviceSynchronize")
)
_WAIT_CALLS = ("cudaStreamWaitEvent", "hipStreamWaitEvent")
_SYNC = "cuda_sync"
_STREAM_WAITS = "Stream Wait Event"
_NCCL = re.compile(r"(?:nccl|rccl)\w*kernel|ncclDevKernel", re.IGNORECASE)
_FOLLOWING = 64
"""Number of launches among which the launch after a stream's wait is searched."""
_RELEASE_US = 10.0
"""Largest delay between the end of a kernel and the start of a kernel that waited for it."""

_ELEMENT_BYTES = {
    **dict.fromkeys(("byte", "char", "bool", "int8", "uint8", "qint8", "quint8"), 1),
    **dict.fromkeys(("half", "bfloat16", "short", "float16", "int16"), 2),
    **dict.fromkeys(("float", "int", "float32", "int32", "complexhalf"), 4),
    **dict.fromkeys(("double", "long", "float64", "int64", "complexfloat"), 8),
    "complexdouble": 16,
}
"""Bytes of PyTorch's scalar types (c10/core/ScalarType.h), in lower case."""

_COLLECTIVES = (
    ("reducescatter", ops.REDUCE_SCATTER),
    ("allgather", ops.ALLGATHER),
    ("allreduce", ops.ALLREDUCE),
    ("alltoall", ops.ALLTOALL),
    ("broadcast", ops.BROADCAST),
    ("barrier", "barrier"),
    ("gather", "gather"),
    ("scatter", "scatter"),
    ("reduce", ops.REDUCE),
    ("send", "send"),
    ("recv", "recv"),
    ("receive", "recv"),
    ("coalesced", "coalesced"),
)
"""Collectives by a substring of their PyTorch name; the first match is used."""


class _Event(msgspec.Struct, gc=False):
    """Event of the trace, with undecoded arguments."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Any = 0
    tid: Any = 0
    ts: Any = 0
    dur: Any = 0
    args: msgspec.Raw = msgspec.Raw(b"{}")


@dataclass(slots=True)
class _Kernel:
    """Activity on a GPU stream; times in microseconds."""

    begin: float
    end: float
    stream: tuple[int, int]
    name: str
    correlation: int
    message: dict[str, Any] | None = None
    """Arguments of an NCCL kernel."""
    waits: set[int] = field(default_factory=set)
    """Kernels on other streams for which this kernel waits."""


@dataclass(slots=True)
class _Call:
    """Call of the CUDA runtime on the host, or a message announced by a thread."""

    begin: float
    end: float
    thread: Any
    message: dict[str, Any] | None = None


# ---- Files


def is_kineto(path: Path) -> bool:
    """Return True for a Kineto file."""
    if not path.name.removesuffix(".gz").endswith(".json"):
        return False
    head = head_of(path, _SNIFFED)
    return head.lstrip()[:1] == b"{" and any(sign in head for sign in _SIGNS)


def files_of(path: Path) -> list[Path]:
    """Return the Kineto files in a folder, or the file itself; empty if there are none."""
    if path.is_dir():
        return [one for one in sorted(path.iterdir()) if one.is_file() and is_kineto(one)]
    return [path] if path.is_file() and is_kineto(path) else []


def read(path: Path, options: ReadOptions, new_program: NewProgram) -> Workload:
    """Read the traces of all ranks. Raises `WeftError`."""
    found: dict[int, _RankReader] = {}
    world: int | None = None
    for file in files_of(path):
        options.progress(f"reading {file.name}")
        reader = _RankReader(file, options)
        if reader.rank in found:
            raise WeftError(
                f"trace: {path}: rank {reader.rank} has two files, {found[reader.rank].path.name}"
                f" and {file.name}; keep the files of one profile only"
            )
        found[reader.rank] = reader
        if reader.world is not None:
            world = max(world or 0, reader.world)
    files = {rank: found[rank].path for rank in sorted(found)}
    if not files:
        raise WeftError(f"trace: {path}: found no Kineto file; name the files of torch.profiler")
    ranks = number_of_ranks(path, files, options, world)
    traces = [found[rank].convert(ranks) for rank in files]
    return assemble(traces, ranks, new_program, replicate=options.replicate is not None)


class _RankReader:
    """Reader of one rank's file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.rank = 0
        self.world: int | None = None
        self._kernels: list[_Kernel] = []
        self._launches: dict[int, _Call] = {}
        self._host_waits: list[_Call] = []
        self._wait_calls: list[tuple[_Call, Any]] = []
        """Waits of streams, with the number of the calling operator."""
        self._announced: list[_Call] = []
        self._stream_waits: list[dict[str, Any]] = []
        self._groups: dict[str, tuple[tuple[int, ...], str]] = {}
        self._decode_args = msgspec.json.Decoder(dict[str, Any]).decode
        with Source(path, options.progress) as source:
            array = ArrayReader(source, _KEY)
            for events in array.objects(msgspec.json.Decoder(list[_Event])):
                for event in events:
                    self._add(source, event)
        self._describe(array.around.get("distributedInfo"))
        self._kernels.sort(key=lambda one: (one.begin, one.end))

    # ---- Events

    def _add(self, source: Source, event: _Event) -> None:
        if event.ph != "X":
            return
        category = event.cat.lower()
        try:
            if category in _GPU:
                self._add_kernel(event)
            elif category in _RUNTIME:
                self._add_call(event)
            elif category == _SYNC and event.name == _STREAM_WAITS:
                self._stream_waits.append(self._decode_args(event.args))
            elif event.name == "record_param_comms":
                self._announced.append(self._call(event, self._decode_args(event.args)))
        except (msgspec.DecodeError, KeyError, ValueError, TypeError, OverflowError):
            source.refuse(
                f"event '{printable(event.name[:60])}' at {event.ts} us lacks a number that"
                " torch.profiler writes (ts, dur, stream)"
            )

    def _add_kernel(self, event: _Event) -> None:
        args = self._decode_args(event.args)
        begin = float(event.ts)
        stream = int(args["stream"]) if "stream" in args else int(event.tid)
        self._kernels.append(
            _Kernel(
                begin,
                begin + float(event.dur),
                (int(args.get("device", 0)), stream),
                event.name,
                int(args.get("correlation", -1)),
                args if _NCCL.search(event.name) else None,
            )
        )

    def _add_call(self, event: _Event) -> None:
        args = self._decode_args(event.args)
        correlation = int(args.get("correlation", -1))
        call = self._call(event)
        self._launches[correlation] = call
        if event.name in _HOST_WAITS:
            self._host_waits.append(call)
        elif event.name in _WAIT_CALLS:
            self._wait_calls.append((call, args.get("External id")))

    @staticmethod
    def _call(event: _Event, message: dict[str, Any] | None = None) -> _Call:
        begin = float(event.ts)
        return _Call(begin, begin + float(event.dur), event.tid, message)

    def _describe(self, found: Any) -> None:
        """Record rank, number of ranks and process groups."""
        info = found if isinstance(found, dict) else {}
        rank, world = info.get("rank"), info.get("world_size")
        if isinstance(rank, int) and rank >= 0:
            self.rank = rank
        elif match := _RANK_IN_NAME.search(self.path.name):
            self.rank = int(match[1] or match[2])
        if isinstance(world, int) and world > 0:
            self.world = world
        groups = info.get("pg_config")
        for one in groups if isinstance(groups, list) else []:
            if isinstance(one, dict) and isinstance(one.get("ranks"), list) and one["ranks"]:
                members = [rank for rank in one["ranks"] if isinstance(rank, int)]
                if len(members) == len(one["ranks"]):
                    description = str(one.get("pg_desc", ""))
                    self._groups[str(one.get("pg_name", ""))] = tuple(members), description

    # ---- Waits

    def convert(self, ranks: int) -> RankTrace:
        """Return the operations of the rank in a job of `ranks` ranks."""
        if not self._kernels:
            raise WeftError(
                f"trace: {self.path}: rank {self.rank}: found no kernel of a GPU; profile with"
                " ProfilerActivity.CUDA"
            )
        self._find_waits()
        return _Translation(self, ranks).trace

    def _find_waits(self) -> None:
        if self._stream_waits:
            self._apply_recorded_waits()
        else:
            self._infer_waits()
        self._apply_host_waits()
        for index, kernel in enumerate(self._kernels):
            kernel.waits = {
                one
                for one in kernel.waits
                if one != index
                and self._kernels[one].stream != kernel.stream
                and self._kernels[one].end <= kernel.begin + 1.0
                and self._kernels[one].begin <= kernel.begin
                and one < index
            }

    def _launch_order(self) -> list[tuple[float, int]]:
        """Return launch times and indices of the kernels with a known launch, in order."""
        return sorted(
            (self._launches[one.correlation].begin, index)
            for index, one in enumerate(self._kernels)
            if one.correlation in self._launches
        )

    def _apply_recorded_waits(self) -> None:
        """Make kernels wait according to the stream waits recorded in the file."""
        by_stream: dict[int, list[tuple[float, int]]] = {}
        for launched, index in self._launch_order():
            by_stream.setdefault(self._kernels[index].stream[1], []).append((launched, index))
        for one in self._stream_waits:
            call = self._launches.get(_number(one, "correlation"))
            event = self._launches.get(_number(one, "wait_on_cuda_event_record_corr_id"))
            waiting = by_stream.get(_number(one, "stream"), [])
            awaited = by_stream.get(_number(one, "wait_on_stream"), [])
            if call is None or event is None:
                continue
            after = bisect_right(waiting, (call.begin, -1))
            before = bisect_right(awaited, (event.begin, -1))
            if after < len(waiting) and before:
                self._kernels[waiting[after][1]].waits.add(awaited[before - 1][1])

    def _infer_waits(self) -> None:
        self._follow_launching_thread()
        self._follow_wait_calls()
        ends = sorted((one.end, index) for index, one in enumerate(self._kernels))
        last_end: dict[tuple[int, int], float] = {}
        for index, kernel in enumerate(self._kernels):
            idle = last_end.get(kernel.stream, kernel.begin)
            last_end[kernel.stream] = max(kernel.end, last_end.get(kernel.stream, kernel.end))
            launch = self._launches.get(kernel.correlation)
            since = max(idle, launch.end) if launch is not None else idle
            if kernel.begin - since <= _RELEASE_US:
                continue
            at = bisect_right(ends, (kernel.begin, len(ends)))
            while at and ends[at - 1][0] > max(since, kernel.begin - _RELEASE_US):
                at -= 1
                other = ends[at][1]
                if self._kernels[other].stream != kernel.stream and other != index:
                    kernel.waits.add(other)
                    break

    def _follow_launching_thread(self) -> None:
        """Make NCCL kernels wait for the previous kernel launched by their thread."""
        latest: dict[Any, int] = {}
        for _, index in self._launch_order():
            kernel = self._kernels[index]
            thread = self._launches[kernel.correlation].thread
            if kernel.message is None:
                latest[thread] = index
            elif thread in latest:
                kernel.waits.add(latest[thread])

    def _follow_wait_calls(self) -> None:
        """Make kernels wait for the collectives for which their thread has waited."""
        launches = self._launch_order()
        times = [launched for launched, _ in launches]
        own = {one.message.get("External id") for one in self._kernels if one.message is not None}
        awaited = 0
        collectives = [one for one in launches if self._kernels[one[1]].message is not None]
        for call, operator in sorted(self._wait_calls, key=lambda one: one[0].begin):
            if operator in own or awaited == len(collectives):
                continue
            launched, collective = collectives[awaited]
            waiting = self._next_launch(launches, bisect_right(times, call.begin), call.thread)
            if launched > call.begin or waiting is None:
                continue
            if self._kernels[collective].end <= self._kernels[waiting].begin:
                self._kernels[waiting].waits.add(collective)
                awaited += 1

    def _next_launch(
        self, launches: Sequence[tuple[float, int]], start: int, thread: Any
    ) -> int | None:
        """Return the next computation of a thread, or of any thread if it launches none soon."""
        following = [
            index
            for _, index in launches[start : start + _FOLLOWING]
            if self._kernels[index].message is None
        ]
        for index in following:
            if self._launches[self._kernels[index].correlation].thread == thread:
                return index
        return following[0] if following else None

    def _apply_host_waits(self) -> None:
        """Make the first launches after a host wait depend on the awaited kernel."""
        ends = sorted((one.end, index) for index, one in enumerate(self._kernels))
        of_thread: dict[Any, list[_Call]] = {}
        for call in sorted(self._host_waits, key=lambda one: one.begin):
            of_thread.setdefault(call.thread, []).append(call)
        begins = {thread: [one.begin for one in calls] for thread, calls in of_thread.items()}
        before: dict[tuple[int, int], float] = {}
        for launched, index in self._launch_order():
            kernel = self._kernels[index]
            thread = self._launches[kernel.correlation].thread
            previous = before.get(kernel.stream, float("-inf"))
            before[kernel.stream] = launched
            at = bisect_right(begins.get(thread, []), launched)
            if not at or of_thread[thread][at - 1].begin < previous:
                continue
            call = of_thread[thread][at - 1]
            awaited = bisect_right(ends, (call.end, len(ends))) - 1
            if awaited >= 0 and ends[awaited][0] > call.begin:
                kernel.waits.add(ends[awaited][1])

    # ---- Messages

    def announced_before(self, kernel: _Kernel, since: float) -> list[dict[str, Any]]:
        """Return the sends and receives that the launching thread announced since a given time."""
        launch = self._launches.get(kernel.correlation)
        if launch is None:
            return []
        return [
            one.message
            for one in self._announced
            if one.message is not None
            and one.thread == launch.thread
            and since < one.begin <= launch.begin
            and _kind(str(one.message.get("Collective name", ""))) in ("send", "recv")
        ]

    def launch_of(self, kernel: _Kernel) -> float:
        """Return the launch time of a kernel, or its start if unknown."""
        launch = self._launches.get(kernel.correlation)
        return launch.begin if launch is not None else kernel.begin

    @property
    def kernels(self) -> Sequence[_Kernel]:
        """Activities ordered by start."""
        return self._kernels

    def group_named(self, name: str) -> tuple[tuple[int, ...], str] | None:
        """Return ranks and purpose of a process group listed in the file."""
        return self._groups.get(name)


class _Translation:
    """Creates operations from the kernels of a rank.

    Consecutive computations on a stream are merged unless another operation waits for one of them.
    """

    def __init__(self, reader: _RankReader, ranks: int) -> None:
        self._reader = reader
        self._ranks = ranks
        self.trace = RankTrace(reader.rank, reader.path, [], in_order=True, item="kernel")
        self._streams: dict[Any, int] = {}
        self._last: dict[int, int] = {}
        self._end_of: dict[int, int] = {}
        self._pending: dict[int, tuple[float, int, int]] = {}
        """By stream: seconds of merged computations, their number, and the first kernel."""
        self._translate()

    def _translate(self) -> None:
        kernels = self._reader.kernels
        awaited = {one for kernel in kernels for one in kernel.waits}
        ends: dict[int, float] = {}
        launched: dict[Any, float] = {}
        start = kernels[0].begin
        for index, kernel in enumerate(kernels):
            stream = self._streams.setdefault(kernel.stream, len(self._streams))
            ready = [kernels[one].end for one in kernel.waits]
            if stream in ends or not ready:
                ready.append(ends.get(stream, start))
            idle = max(kernel.begin - max(ready), 0.0)
            after = sorted({self._end_of[one] for one in kernel.waits})
            if kernel.message is not None:
                self._flush(stream)
                since = launched.get(kernel.stream, float("-inf"))
                launched[kernel.stream] = self._reader.launch_of(kernel)
                self._communicate(index, stream, idle * 1e-6, after, since)
                self._end_of[index] = self._last[stream]
            else:
                busy = max(kernel.end - max(kernel.begin, ends.get(stream, kernel.begin)), 0.0)
                self._compute(index, stream, (idle + busy) * 1e-6, after)
                if index in awaited:
                    self._flush(stream)
                    self._end_of[index] = self._last[stream]
            ends[stream] = max(kernel.end, ends.get(stream, kernel.end))
        for stream in list(self._pending):
            self._flush(stream)

    def _compute(self, index: int, stream: int, seconds: float, after: list[int]) -> None:
        if after:
            self._flush(stream)
            self._append(index, stream, seconds, after)
            return
        total, count, first = self._pending.get(stream, (0.0, 0, index))
        self._pending[stream] = total + seconds, count + 1, first

    def _flush(self, stream: int) -> None:
        """Append the merged computations of a stream."""
        if stream not in self._pending:
            return
        seconds, count, first = self._pending.pop(stream)
        self._append(first, stream, seconds, [], count)

    def _append(
        self, index: int, stream: int, seconds: float, after: list[int], count: int = 1
    ) -> None:
        name = self._reader.kernels[index].name
        if count > 1:
            name = f"{name} and {count - 1:,} more"
        one = Operation(ops.COMPUTE, stream, seconds, after, name, index)
        self._last[stream] = len(self.trace.operations)
        self.trace.operations.append(one)

    # ---- Communication

    def _communicate(
        self, index: int, stream: int, idle: float, after: list[int], since: float
    ) -> None:
        if idle > 0:
            self._append(index, stream, idle, after)
            self.trace.operations[-1].name = "host"
            after = []
        kernel = self._reader.kernels[index]
        message = kernel.message or {}
        announced = self._reader.announced_before(kernel, since)
        kind = _kind(str(message.get("Collective name", "")))
        if not kind and not announced:
            self._refuse(
                index,
                f"has no collective that weft knows (found Collective name"
                f" '{printable(str(message.get('Collective name', '')))}'); PyTorch 2.3 and later"
                " writes it: record the trace with a newer PyTorch",
            )
        if kind in ("send", "recv", "coalesced") or not kind:
            pieces = announced if len(announced) > 1 or kind == "coalesced" else [message]
            self._messages(index, stream, after, pieces or [message])
            return
        self._collective(index, stream, after, kind)

    def _collective(self, index: int, stream: int, after: list[int], kind: str) -> None:
        kernel = self._reader.kernels[index]
        message = kernel.message or {}
        group = self._group(index, message)
        size = self._size(index, message, kind)
        if kind in ("gather", "scatter"):
            self._rooted(index, stream, after, group, kind)
            return
        if kind == "barrier":
            kind, size = ops.ALLREDUCE, ops.BARRIER_BYTES
        one = Operation(ops.COLLECTIVE, stream, size, after, kernel.name, index, kind, group)
        self._last[stream] = len(self.trace.operations)
        self.trace.operations.append(one)

    def _messages(
        self, index: int, stream: int, after: list[int], pieces: Iterable[dict[str, Any]]
    ) -> None:
        """Append the sends and receives of a kernel, which run concurrently."""
        listed = []
        for piece in pieces:
            send = _kind(str(piece.get("Collective name", ""))) == "send"
            key = "Dst Rank" if send else "Src Rank"
            peer = _whole(piece.get(key))
            if peer is None:
                self._refuse(
                    index,
                    f"is a message without '{key}', so that its peer is unknown; record the trace"
                    " with PyTorch 2.4 or later",
                )
            kind: ops.Kind = ops.SEND if send else ops.RECEIVE
            listed.append((kind, peer, self._size(index, piece, "send")))
        self._together(index, stream, after, listed)

    def _rooted(self, index: int, stream: int, after: list[int], group: Group, kind: str) -> None:
        """Append a Gather or Scatter as messages with the group's first rank."""
        message = self._reader.kernels[index].message or {}
        at_root = self._reader.rank == group.ranks[0]
        size = self._size(index, message, kind, share=True)
        what: ops.Kind = ops.SEND if at_root == (kind == "scatter") else ops.RECEIVE
        peers = group.ranks[1:] if at_root else group.ranks[:1]
        self._together(index, stream, after, [(what, peer, size) for peer in peers])

    def _together(
        self,
        index: int,
        stream: int,
        after: list[int],
        pieces: Sequence[tuple[ops.Kind, int, float]],
    ) -> None:
        """Append messages that start together, each on its own stream, and their common end."""
        operations = self.trace.operations
        before = sorted({*after, *([self._last[stream]] if stream in self._last else [])})
        name = self._reader.kernels[index].name
        indexes = []
        for number, (kind, peer, size) in enumerate(pieces):
            side = stream
            if len(pieces) > 1:
                side = self._streams.setdefault(("messages", stream, number), len(self._streams))
            indexes.append(len(operations))
            operations.append(Operation(kind, side, size, before, name, index, peer=peer))
        if len(pieces) != 1:
            operations.append(Operation(ops.COMPUTE, stream, 0.0, indexes or before, name, index))
        self._last[stream] = len(operations) - 1

    def _group(self, index: int, message: dict[str, Any]) -> Group:
        """Return the process group of a kernel."""
        name = str(message.get("Process Group Name", "0"))
        size = _whole(message.get("Group size"))
        description = str(message.get("Process Group Description", ""))
        listed = self._reader.group_named(name)
        members = _ranks(message.get("Process Group Ranks"), size)
        if members is None and listed is not None:
            members, description = listed[0], description or listed[1]
        if members is None and (size == self._ranks or (not size and self._ranks == 1)):
            members = tuple(range(self._ranks))
        if members is None:
            self._refuse(
                index,
                f"process group '{printable(name)}' of {size} ranks is not listed in full; record"
                " the trace with a PyTorch that writes pg_config into distributedInfo",
            )
        if description in ("undefined", "default_pg"):
            description = ""
        return Group(name, members, printable(description[:40]))

    def _size(
        self, index: int, message: dict[str, Any], kind: str, *, share: bool = False
    ) -> float:
        """Return the bytes of the larger buffer, or of one rank's share of the buffer."""
        if kind == "barrier":
            return float(ops.BARRIER_BYTES)
        inside, outside = (
            _whole(message.get("In msg nelems")),
            _whole(message.get("Out msg nelems")),
        )
        element = _element_bytes(str(message.get("dtype", "")))
        if element is None or (inside is None and outside is None):
            self._refuse(
                index,
                f"lacks sizes (found dtype '{printable(str(message.get('dtype', '')))}', In msg"
                f" nelems {inside}, Out msg nelems {outside}); record the trace with PyTorch 2.3 or"
                " later",
            )
        counts = [one for one in (inside, outside) if one]
        if kind == ops.ALLTOALL:
            counts = counts[:1]
        wanted = min(counts, default=0) if share else max(counts, default=0)
        return float(wanted * element)

    def _refuse(self, index: int, what: str) -> NoReturn:
        kernel = self._reader.kernels[index]
        name = f"{kernel.name}, at {kernel.begin:.3f} us"
        place = f"{self._reader.path}: rank {self._reader.rank}: kernel {index}"
        raise WeftError(f"trace: {place} ({printable(name[:90])}): {what}")


# ---- Arguments


def _kind(name: str) -> str:
    """Return the collective for a PyTorch name; empty if unknown."""
    plain = name.replace("_", "").lower()
    return next((kind for part, kind in _COLLECTIVES if part in plain), "")


def _whole(found: Any) -> int | None:
    """Return a number, which may be quoted; None if there is none."""
    try:
        number = int(found)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number >= 0 else None


def _number(args: Mapping[str, Any], name: str) -> int:
    """Return a numeric argument; -1 if absent."""
    found = _whole(args.get(name))
    return -1 if found is None else found


def _element_bytes(dtype: str) -> int | None:
    plain = dtype.lower().removeprefix("c10::").removeprefix("torch.")
    if plain.startswith("float8"):
        return 1
    return _ELEMENT_BYTES.get(plain)


def _ranks(found: Any, size: int | None) -> tuple[int, ...] | None:
    """Parse a list of ranks; long lists are abbreviated as `[0, 8, ..., 56]`."""
    text = str(found or "")
    numbers = [int(one) for one in re.findall(r"\d+", text)]
    if not numbers:
        return None
    if "..." not in text:
        return tuple(numbers) if len(set(numbers)) == len(numbers) else None
    if size is None or len(numbers) < 2 or size < 2:
        return None
    stride = numbers[1] - numbers[0]
    whole = tuple(range(numbers[0], numbers[0] + size * stride, stride)) if stride > 0 else ()
    known = text.split("...", 1)[0]
    first = [int(one) for one in re.findall(r"\d+", known)]
    fits = whole[: len(first)] == tuple(first) and set(numbers) <= set(whole)
    return whole if fits and len(whole) == size else None
