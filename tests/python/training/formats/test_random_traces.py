# SPDX-License-Identifier: LGPL-2.1-only
"""Random Chakra traces: simulations end, in an order allowed by dependencies and streams."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.training_traces import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BARRIER,
    BROADCAST,
    COLLECTIVE,
    COMPUTE,
    GATHER,
    RECEIVE,
    REDUCE_SCATTER,
    SCATTER,
    SEND,
    node,
    operations_of,
    write_ranks,
)
from tests.support.workloads import Operation
from weft import _core
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import read
from weft.training.recorder import Recorder

KINDS = (ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, BROADCAST, BARRIER, GATHER, SCATTER)
ROUNDING_S = 1e-12


class Job:
    """Random nodes of some ranks; communication of a rank depends on its previous communication."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.ranks = dice.randrange(1, 9)
        self.nodes: list[list[bytes]] = [[] for _ in range(self.ranks)]
        self.last: list[list[int]] = [[] for _ in range(self.ranks)]
        self.with_streams = dice.random() < 0.5
        for _ in range(dice.randrange(1, 40)):
            self.add()
        self.compute(0, 1)

    def add(self) -> None:
        choice = self.dice.random()
        if choice < 0.6:
            self.compute(self.dice.randrange(self.ranks), self.dice.randrange(50))
        elif choice < 0.8 or self.ranks == 1:
            size = self.dice.choice((0, 1, 64, 5000, 1 << 20))
            kind = self.dice.choice(KINDS)
            for rank in range(self.ranks):
                self.communicate(rank, COLLECTIVE, comm_type=kind, comm_size=size)
        else:
            source, target = self.dice.sample(range(self.ranks), 2)
            more = {"comm_size": self.dice.choice((1, 4096, 70000)), "comm_tag": 3}
            self.communicate(source, SEND, comm_dst=target, **more)
            self.communicate(target, RECEIVE, comm_src=source, **more)

    def number(self, rank: int) -> int:
        return 3 * len(self.nodes[rank])

    def before(self, rank: int) -> list[int]:
        known = range(0, self.number(rank), 3)
        return self.dice.sample(known, min(len(known), self.dice.randrange(4)))

    def compute(self, rank: int, micros: int) -> None:
        more: dict[str, Any] = {"is_cpu_op": self.dice.random() < 0.3}
        if self.with_streams:
            more["tid"] = self.dice.randrange(3)
        new = node(self.number(rank), COMPUTE, self.before(rank), micros, **more)
        self.nodes[rank].append(new)

    def communicate(self, rank: int, kind: int, **more: Any) -> None:
        number = self.number(rank)
        after = {*self.before(rank), *self.last[rank]}
        self.nodes[rank].append(node(number, kind, sorted(after), **more))
        self.last[rank] = [number]


def check(operations: list[Operation], rows: Sequence[Mapping[str, Any]]) -> None:
    """Check the times of a rank against dependencies, streams and durations."""
    times = {row["operation"]: row for row in rows}
    assert times.keys() == set(range(len(operations)))
    on_stream = defaultdict(list)
    for index, one in enumerate(operations):
        begin, end = times[index]["begin_s"], times[index]["end_s"]
        assert all(times[before]["end_s"] <= begin + ROUNDING_S for before in one.after)
        if one.type == "compute":
            assert end - begin == pytest.approx(one.amount, abs=ROUNDING_S)
        assert begin <= end
        on_stream[one.stream].append((begin, end, index))
    for spans in on_stream.values():
        spans.sort(key=lambda span: span[0] + span[1])  # rounding separates the ends of spans
        for (_, end, _), (begin, _, _) in pairwise(spans):
            assert end <= begin + ROUNDING_S


def check_choice(operations: list[Operation], rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that a stream takes the ready operation with the lowest index."""
    times = {row["operation"]: row for row in rows}
    ready = [
        max((times[before]["end_s"] for before in one.after), default=0.0) for one in operations
    ]
    for index, one in enumerate(operations):
        begin = times[index]["begin_s"]
        for other in range(index):
            same = operations[other].stream == one.stream
            if same and times[other]["begin_s"] > begin + ROUNDING_S:
                assert ready[other] >= begin - ROUNDING_S


def check_communication(rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that no collective ends before the last rank has reached it.

    Ranks of a Bcast may end before other ranks have begun.
    """
    calls: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for row in sorted(rows, key=lambda row: row["begin_s"]):
        if row["kind"] in ("computation", "send", "receive", "bcast"):
            continue
        key = row["rank"], row["kind"]
        calls[counts[key], row["kind"]].append(row)
        counts[key] += 1
    for some in calls.values():
        latest = max(row["begin_s"] for row in some)
        assert all(row["end_s"] >= latest - ROUNDING_S for row in some)
        assert all(row["active_s"] == pytest.approx(latest, abs=ROUNDING_S) for row in some)


@pytest.mark.parametrize("seed", range(10))
def test_random_traces(tmp_path: Path, seed: int) -> None:
    fabric = _core.load_fabric("dgx-h100")
    dice = random.Random(seed)
    for case in range(30):
        job = Job(dice)
        folder = write_ranks(tmp_path / str(case), *job.nodes)
        recorded = read(folder, ReadOptions(), Recorder)
        workload = read(folder, ReadOptions(), _core.WorkloadProgram)
        times = _core.run_workload(
            fabric,
            "nccl-2.29",
            [one for one in workload.programs if isinstance(one, _core.WorkloadProgram)],
            list(workload.program_of),
            list(workload.groups),
            listed=list(range(job.ranks)),
        )
        for rank in range(job.ranks):
            rows = [row for row in times["listed"] if row["rank"] == rank]
            check(operations_of(recorded, rank), rows)
            check_choice(operations_of(recorded, rank), rows)
        check_communication(times["listed"])
