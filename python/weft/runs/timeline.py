# SPDX-License-Identifier: LGPL-2.1-only
"""Timeline of a run for Perfetto (Chrome's trace event format).

SimGrid writes the activity of each rank as a Paje trace. libweft.so adds the activity of each
switch as events of the record, and the calls that SimGrid does not trace as slices. All become
complete events (`"ph": "X"`) ordered by start: one track per rank in the process `ranks`, one track
per switch in the process `switches` (several if communicators share the switch), and one track per
rank with the phases of multicast calls (several if calls overlap). A run with faults adds the
process `faults`: a track with the faults of each link, switch or host, a track with routing
updates, and a track with the collectives in the network that were hit. The Paje trace is ordered by
time, so events are written in order if each event waits for all earlier ones to end; only open
events are kept in memory.
"""

import heapq
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from weft.base.errors import named
from weft.base.output import whole_file
from weft.base.units import format_size
from weft.runs.faults.spans import Event as FaultEvent
from weft.runs.faults.spans import Learning, spans
from weft.runs.record import Record
from weft.runs.record_data import EventPart, HostCallPart, MulticastCallPart

_RANKS, _SWITCHES, _MULTICASTS, _FAULTS = 1, 2, 3, 4
_PROCESSES = 10  # more than the processes of any run
_HEAD, _FOOT = '{"displayTimeUnit": "ns", "traceEvents": [\n', "\n]}\n"
_DEFINE_VALUE, _CREATE, _DESTROY, _PUSH, _POP = "5", "6", "7", "12", "13"
_POLLS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"}
"""Calls of which SimGrid traces only the successful ones; the record contains all of them."""
_WORDS = {_DEFINE_VALUE: 4, _CREATE: 6, _DESTROY: 4, _PUSH: 5, _POP: 4}

Event = dict[str, Any]


@dataclass
class State:
    """Activity of a rank; `end_s` is None while it lasts."""

    container: str
    name: str
    start_s: float
    count: int | None = None
    """Number of elements in the call."""
    end_s: float | None = None


@dataclass(frozen=True)
class Track:
    """Consecutive activities of a switch or rank."""

    name: str
    events: list[Event]


@dataclass
class PajeReader:
    """Converts the lines of a Paje trace to states, ordered by start."""

    names: dict[str, str] = field(default_factory=dict)
    now_s: float = 0.0
    _open: dict[str, list[State]] = field(default_factory=dict)
    _waiting: deque[State] = field(default_factory=deque)

    def states(self, lines: Iterable[str]) -> Iterator[State]:
        """Yield each state once it and all earlier states have ended."""
        for line in lines:
            self._take(line.split())
            yield from self._finished()
        for state in self._waiting:
            state.end_s = self.now_s if state.end_s is None else state.end_s
        yield from self._finished()

    def _take(self, words: list[str]) -> None:
        kind = words[0] if words else ""
        if len(words) < _WORDS.get(kind, 0):  # truncated by a crash of the program
            return
        if kind == _DEFINE_VALUE:
            self.names[words[1]] = words[3]
        elif kind in (_PUSH, _POP, _DESTROY):
            self.now_s = float(words[1])
        if kind == _PUSH:
            self._push(words)
        elif kind == _POP:
            self._pop(words[3])

    def _push(self, words: list[str]) -> None:
        count = int(words[5]) if len(words) > 5 and words[5].isdigit() else None
        state = State(words[3], self.names.get(words[4], words[4]), self.now_s, count)
        self._open.setdefault(state.container, []).append(state)
        self._waiting.append(state)

    def _pop(self, container: str) -> None:
        stack = self._open.get(container)
        if stack:
            stack.pop().end_s = self.now_s

    def _finished(self) -> Iterator[State]:
        while self._waiting and self._waiting[0].end_s is not None:
            yield self._waiting.popleft()


def write_timeline(trace: Path, record: Record, target: Path) -> None:
    """Write the timeline of a run atomically."""
    ranks = read_ranks(trace, record.ranks)
    tracks = {
        _SWITCHES: _switch_tracks(record),
        _MULTICASTS: _multicast_tracks(record),
        _FAULTS: _fault_tracks(record),
    }
    calls = HostCalls(record)
    ranks_did = _rank_events(trace, ranks, _ways(record), calls)
    events = heapq.merge(ranks_did, _slices(record), _on_tracks(tracks), key=_start)
    with whole_file(named("timeline"), target) as file:
        file.write(_HEAD)
        separator = ""
        for event in chain(_metadata(ranks, tracks, _on_hosts(record)), events):
            file.write(separator + json.dumps(event))
            separator = ",\n"
        file.write(_FOOT)


def join_timelines(parts: Sequence[tuple[str, Path]], target: Path) -> None:
    """Merge several timelines into one file atomically; process names are prefixed by run."""
    with whole_file(named("timeline"), target) as file:
        file.write(_HEAD)
        separator = ""
        for number, (run, path) in enumerate(parts):
            for event in _written_events(path):
                event["pid"] += number * _PROCESSES
                if event["name"] == "process_name":
                    event["args"]["name"] += f", {run}"
                file.write(separator + json.dumps(event))
                separator = ",\n"
        file.write(_FOOT)


def _written_events(path: Path) -> Iterator[Event]:
    for line in _lines(path):
        if line.startswith('{"ph"'):
            yield json.loads(line.rstrip(",\n"))


def _start(event: Event) -> float:
    start: float = event["ts"]
    return start


def read_ranks(trace: Path, count: int) -> dict[str, int]:
    """Return the rank of each container; SimGrid names containers by actor, in rank order."""
    actors: dict[str, int] = {}
    for line in _lines(trace):
        words = line.split()
        if len(words) == 6 and words[0] == _CREATE and words[5].startswith('"rank-'):
            actors[words[2]] = int(words[5].strip('"').removeprefix("rank-"))
    if len(actors) < count:  # some ranks never called MPI_Init
        return {container: actor - 1 for container, actor in actors.items()}
    return {
        container: rank for rank, container in enumerate(sorted(actors, key=actors.__getitem__))
    }


def is_complete(trace: Path) -> bool:
    """Return True if each rank's container was destroyed, as SimGrid does at the end of a run."""
    words = (line.split() for line in _lines(trace) if line[:2] in ("6 ", "7 "))
    kinds = Counter(line[0] for line in words if len(line) >= _WORDS[line[0]])
    return kinds[_CREATE] == kinds[_DESTROY] > 0


def _lines(trace: Path) -> Iterator[str]:
    if not trace.exists():
        return
    with trace.open(encoding="utf-8", errors="replace") as file:
        yield from file


def _ways(record: Record) -> dict[str, str]:
    """Return the executors of each collective's calls, such as `stream or ompi (datatype)`."""
    ways: dict[str, dict[str, None]] = {}
    for row in record.collectives:
        way = row.way if row.offloaded else f"{row.way} ({row.reason})"
        ways.setdefault(row.collective, {})[way] = None
    return {collective: " or ".join(names) for collective, names in ways.items()}


def _on_hosts(record: Record) -> str:
    """Return the collectives that fell back to the hosts, with the reasons."""
    if record.offload == "off":
        return ""
    fallen = (f"{row.collective} ({row.reason})" for row in record.collectives if not row.offloaded)
    names = ", ".join(dict.fromkeys(fallen))
    return f"; by the hosts: {names}" if names else ""


class HostCalls:
    """Calls executed by hosts, by rank and collective, ordered by start."""

    _NEAR_S = 2e-9
    """Twice the rounding of times in SimGrid's trace."""

    def __init__(self, record: Record) -> None:
        """Collect the calls of a run."""
        self._calls: dict[tuple[int, str], deque[HostCallPart]] = {}
        for call in sorted(record.host_calls, key=lambda call: call.start_s):
            self._calls.setdefault((call.rank, call.collective), deque()).append(call)

    def details(self, rank: int, collective: str, start_s: float) -> dict[str, Any]:
        """Return details of the call that a rank began at this time; empty if unknown."""
        calls = self._calls.get((rank, collective))
        while calls and calls[0].start_s < start_s - self._NEAR_S:
            calls.popleft()
        if not calls or calls[0].start_s > start_s + self._NEAR_S:
            return {}
        call = calls.popleft()
        cut = {"segment_bytes": call.segment_bytes} if call.segment_bytes else {}
        return {"way": call.algorithm, **cut, "messages": call.messages, "rounds": call.rounds}


def _rank_events(
    trace: Path, ranks: dict[str, int], ways: Mapping[str, str], calls: HostCalls
) -> Iterator[Event]:
    for state in PajeReader().states(_lines(trace)):
        is_poll = _call_name(state.name) in _POLLS
        if state.container in ranks and state.end_s is not None and not is_poll:
            rank = ranks[state.container]
            yield _complete(
                _RANKS,
                rank,
                _call_name(state.name),
                "compute" if state.name == "computing" else "mpi",
                (state.start_s, state.end_s),
                _call_details(state, rank, ways, calls),
            )


def _call_details(
    state: State, rank: int, ways: Mapping[str, str], calls: HostCalls
) -> dict[str, Any]:
    count = {} if state.count is None else {"count": state.count}
    collective = _call_name(state.name).removeprefix("MPI_").lower().removesuffix("_block")
    way = {"way": ways[collective]} if collective in ways else {}
    return {**count, **way, **calls.details(rank, collective, state.start_s)}


def _slices(record: Record) -> Iterator[Event]:
    for item in sorted(record.slices, key=lambda item: item.start_s):
        yield _complete(_RANKS, item.rank, item.call, "mpi", (item.start_s, item.end_s), {})


def _call_name(name: str) -> str:
    return name.removeprefix("P") if name.startswith("PMPI_") else name


def _switch_tracks(record: Record) -> list[Track]:
    did: dict[str, list[list[Event]]] = {switch.name: [] for switch in record.switches}
    for event in record.events:
        did.setdefault(event.switch, []).append([_switch_event(event)])
    return _tracks(did)


def _switch_event(event: EventPart) -> Event:
    return _complete(
        _SWITCHES,
        0,
        f"{event.collective} {format_size(event.bytes)}",
        "offload",
        (event.start_s, event.end_s),
        {"bytes": event.bytes, "ranks": event.ranks, "communicator": event.communicator},
    )


def _multicast_tracks(record: Record) -> list[Track]:
    did: dict[str, list[list[Event]]] = {}
    for call in sorted(record.multicast_calls, key=lambda call: call.rank):
        did.setdefault(f"rank {call.rank}", []).append(list(_phases(call)))
    return _tracks(did)


def _phases(call: MulticastCallPart) -> Iterator[Event]:
    """Yield the non-empty phases of a rank's call; `recovery` begins with the cutoff."""
    missed = {
        "drops": call.drops,
        "staging_drops": call.staging_drops,
        "port_drops": call.port_drops,
        "timer_expiries": call.timer_expiries,
    }
    fetched = {"fetched_chunks": call.fetched_chunks, "duplicates": call.duplicates}
    phases = {
        "barrier": (call.barrier_s, {}),
        "multicast": (call.multicast_s, missed),
        "recovery": (call.recovery_s, fetched),
        "handshake": (call.handshake_s, {}),
    }
    start_s = call.start_s
    for phase, (lasts_s, details) in phases.items():
        if lasts_s > 0:
            whose = {"collective": call.collective, "communicator": call.communicator}
            span_s = (start_s, start_s + lasts_s)
            yield _complete(_MULTICASTS, 0, phase, "multicast", span_s, {**whose, **details})
        start_s += lasts_s


def _fault_tracks(record: Record) -> list[Track]:
    did: dict[str, list[list[Event]]] = {}
    if not record.faults:
        return []
    happened = [
        FaultEvent(event.at_s, event.what, event.hidden is True) for event in record.faults.events
    ]
    learning = Learning(record.faults.detection_s, record.faults.convergence_s)
    for one in spans(happened, learning, record.simulated_time_s):
        event = _complete(_FAULTS, 0, one.name, "fault", (one.start_s, one.end_s), {})
        did.setdefault(one.track, []).append([event])
    for call in record.faults.calls:
        span_s = (call.hit_s, call.went_on_s)
        details = {"communicator": call.communicator}
        event = _complete(_FAULTS, 0, f"{call.collective} {call.what}", "fault", span_s, details)
        did.setdefault("collectives hit", []).append([event])
    return _tracks(did)


def _tracks(did: Mapping[str, list[list[Event]]]) -> list[Track]:
    """Assign activities to tracks, with additional tracks for overlapping activities.

    A group of consecutive events stays on one track. Perfetto drops an event that partially
    overlaps an earlier event of its track.
    """
    tracks = []
    for name, groups in did.items():
        lanes: list[list[Event]] = [[]]
        for group in sorted((group for group in groups if group), key=lambda group: group[0]["ts"]):
            free = (lane for lane in lanes if not lane or _end(lane[-1]) <= group[0]["ts"])
            lane = next(free, None)
            if lane is None:
                lanes.append(lane := [])
            lane.extend(group)
        tracks += [
            Track(name if number == 1 else f"{name} ({number})", lane)
            for number, lane in enumerate(lanes, start=1)
        ]
    return tracks


def _end(event: Event) -> float:
    end: float = round(event["ts"] + event["dur"], 3)
    return end


def _on_tracks(tracks: Mapping[int, list[Track]]) -> Iterator[Event]:
    events = [
        {**event, "tid": number}
        for of_process in tracks.values()
        for number, track in enumerate(of_process)
        for event in track.events
    ]
    yield from sorted(events, key=_start)


def _complete(
    process: int,
    track: int,
    name: str,
    category: str,
    span_s: tuple[float, float],
    args: dict[str, Any],
) -> Event:
    start_us, end_us = (round(time_s * 1e6, 3) for time_s in span_s)
    return {
        "ph": "X",
        "pid": process,
        "tid": track,
        "name": name,
        "cat": category,
        "ts": start_us,
        "dur": round(end_us - start_us, 3),
        "args": args,
    }


def _metadata(
    ranks: dict[str, int], tracks: Mapping[int, list[Track]], on_hosts: str
) -> Iterator[Event]:
    yield _name(_RANKS, None, "ranks")
    for rank in sorted(ranks.values()):
        yield _name(_RANKS, rank, f"rank {rank}")
    processes = {
        _SWITCHES: f"switches{on_hosts}",
        _MULTICASTS: "multicast calls",
        _FAULTS: "faults",
    }
    for process, name in processes.items():
        if process == _SWITCHES or tracks[process]:
            yield _name(process, None, name)
        for number, track in enumerate(tracks[process]):
            yield _name(process, number, track.name)


def _name(process: int, track: int | None, name: str) -> Event:
    kind = "process_name" if track is None else "thread_name"
    return {"ph": "M", "pid": process, "tid": track or 0, "name": kind, "args": {"name": name}}
