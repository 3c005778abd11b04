# SPDX-License-Identifier: LGPL-2.1-only
"""Minimal executor of recorded workloads, without a network model."""

from collections import defaultdict
from collections.abc import Sequence

from weft.training.recorder import Operation, Recorder
from weft.training.workload import Workload

__all__ = ["Executor", "Operation", "Recorder"]

Key = tuple[object, ...]


def _predecessors(operations: Sequence[Operation]) -> list[list[int]]:
    """Return the previous operation of each operation on its stream."""
    last: dict[int, int] = {}
    found = []
    for index, one in enumerate(operations):
        assert one.amount >= 0 and all(0 <= other < index for other in one.after)
        found.append([last[one.stream]] if one.stream in last else [])
        last[one.stream] = index
    return found


class Executor:
    """Executes a workload; messages and collectives end when the last party has begun.

    Fails if parties disagree, or if the remaining operations wait for each other.
    """

    def __init__(self, workload: Workload) -> None:
        self._programs = [one.operations for one in workload.programs if isinstance(one, Recorder)]
        assert len(self._programs) == len(workload.programs)
        self._before = [_predecessors(one) for one in self._programs]
        self._program_of = workload.program_of
        self._group_of = [
            {rank: tuple(ranks) for ranks in groups for rank in ranks}
            for _, groups in workload.groups
        ]
        self.ends: list[dict[int, float]] = [{} for _ in self._program_of]
        """End time of each operation, by rank."""
        self._started: list[set[int]] = [set() for _ in self._program_of]
        self._begun: dict[Key, list[tuple[int, int, float, Operation]]] = defaultdict(list)
        self._sequence: dict[Key, int] = defaultdict(int)

    def run(self) -> float:
        """Return the end time of the last operation."""
        queues = [self._streams(rank) for rank in range(len(self._program_of))]
        waiting = set(range(len(queues)))
        while waiting:
            moved = {rank for rank in sorted(waiting) if self._advance(rank, queues[rank])}
            assert moved or not any(any(one) for one in queues), self._stuck(queues)
            waiting = {rank for rank in waiting if any(queues[rank])}
        assert not any(self._begun.values())
        return max(max(ends.values(), default=0.0) for ends in self.ends)

    def _streams(self, rank: int) -> list[list[int]]:
        streams: dict[int, list[int]] = defaultdict(list)
        for index, one in enumerate(self._operations(rank)):
            streams[one.stream].append(index)
        return [stream[::-1] for stream in streams.values()]

    def _operations(self, rank: int) -> list[Operation]:
        return self._programs[self._program_of[rank]]

    def _advance(self, rank: int, queues: list[list[int]]) -> bool:
        """Start and end all ready operations of a rank."""
        ends, moved, again = self.ends[rank], False, True
        while again:
            again = False
            for queue in queues:
                while queue and self._step(rank, queue[-1]):
                    moved = again = True
                    if queue[-1] not in ends:
                        break
                    queue.pop()
        return moved

    def _step(self, rank: int, index: int) -> bool:
        """Return true if the operation has ended, or starts now."""
        ends, one = self.ends[rank], self._operations(rank)[index]
        if index in ends:
            return True
        if index in self._started[rank] or any(other not in ends for other in one.after):
            return False
        before = self._before[self._program_of[rank]][index]
        begin = max([ends[other] for other in (*one.after, *before)], default=0.0)
        if one.type == "compute":
            ends[index] = begin + one.amount
        else:
            self._started[rank].add(index)
            self._join(rank, index, begin, one)
        return True

    def _join(self, rank: int, index: int, begin: float, one: Operation) -> None:
        if one.type == "collective":
            group = self._group_of[one.kind][rank]
            key: Key = (one.kind, group)
            number = self._next((rank, *key))
            parties = self._begun[(*key, number)]
            parties.append((rank, index, begin, one))
            self._end((*key, number), len(group))
            return
        pair = (rank, rank + one.peer) if one.type == "send" else (rank + one.peer, rank)
        assert 0 <= rank + one.peer < len(self._program_of) and one.peer
        number = self._next((one.type, *pair, one.tag))
        self._begun[(*pair, one.tag, number)].append((rank, index, begin, one))
        self._end((*pair, one.tag, number), 2)

    def _next(self, key: Key) -> int:
        self._sequence[key] += 1
        return self._sequence[key]

    def _end(self, key: Key, count: int) -> None:
        parties = self._begun[key]
        if len(parties) < count:
            return
        assert len({(one.collective, one.amount) for *_, one in parties}) == 1, parties
        end = max(begin for _, _, begin, _ in parties)
        for rank, index, _, _ in parties:
            self.ends[rank][index] = end
        del self._begun[key]

    def _stuck(self, queues: list[list[list[int]]]) -> str:
        lines = [
            f"rank {rank}: {index} {self._operations(rank)[index]}"
            for rank, streams in enumerate(queues)
            for index in (queue[-1] for queue in streams if queue)
        ]
        return "\n".join(["deadlock", *lines[:40]])
