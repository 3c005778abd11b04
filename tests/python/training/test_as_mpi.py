# SPDX-License-Identifier: LGPL-2.1-only
"""An iteration takes the same time as the same calls in an MPI program on the same fabric.

The program sleeps where GPUs compute, executes the collectives of the computation stream as
blocking calls and all other collectives as non-blocking calls, and starts simultaneously on all
ranks. Its own costs are disabled, such as SMPI's 10 ns per clock read.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.places import TESTS
from weft import _core
from weft.training.accelerator import load_accelerator
from weft.training.build import build
from weft.training.file import load_model
from weft.training.recorder import Operation, Recorder
from weft.training.workload import Workload
from weft.training.writer import COMPUTE

FABRIC = "superpod-h100-32"
LIBRARY = "nccl-2.29"
RANKS = 64
NONE = -1
"""Colour of ranks that belong to no group of a kind."""
MODEL = """
[model]
layers = 2
hidden = 1024
feed_forward = 2048
heads = 8
vocabulary = 4096
[parallel]
tensor = 8
data = 8
sharding = "{sharding}"
sequence = {sequence}
[batch]
sequence = 1024
global = 16
[train]
gpu = "h100-sxm"
slowdown = 30
"""
"""Computation takes so long that no collective queues behind another on its stream."""


def recorded(tmp_path: Path, sharding: str, sequence: str) -> Workload:
    path = tmp_path / "model.toml"
    path.write_text(MODEL.format(sharding=sharding, sequence=sequence), encoding="utf-8")
    workload, _ = build(load_model(path), load_accelerator("h100-sxm"), Recorder)
    return workload


def operations(workload: Workload) -> list[Operation]:
    """Return the operations of the only program."""
    (program,) = workload.programs
    assert isinstance(program, Recorder)
    return program.operations


def nanoseconds(one: Operation) -> int:
    """Return the time of an operation in nanoseconds, to which sleeping is rounded."""
    return round(one.amount * 1e9)


def simulated(
    workload: Workload, *, in_turn: bool, execute_all: bool = False
) -> "_core.IterationTimes":
    """Return the iteration with rounded times; `in_turn`: without overlap."""
    program = _core.WorkloadProgram(True)
    for one in operations(workload):
        stream = COMPUTE if in_turn else one.stream
        after = () if in_turn else one.after
        if one.type == "compute":
            program.compute(stream, nanoseconds(one) * 1e-9, after)
        else:
            program.collective(stream, one.kind, one.collective, one.amount, after)
    return _core.run_workload(
        *(_core.load_fabric(FABRIC), LIBRARY, [program]),
        *(list(workload.program_of), list(workload.groups)),
        detail="slice",
        execute_all=execute_all,
    )


def steps(workload: Workload, *, in_turn: bool) -> Iterator[str]:
    """Yield the steps of the MPI program; each stream except computation is a lane of requests."""
    for _, groups in workload.groups:
        colours = {rank: colour for colour, ranks in enumerate(groups) for rank in ranks}
        yield " ".join(["groups", *(str(colours.get(rank, NONE)) for rank in range(RANKS))])
    open_calls: dict[int, int] = {}
    """Operation in flight by lane."""
    for index, one in enumerate(operations(workload)):
        for lane, call in list(open_calls.items()):
            if lane == one.stream or call in one.after:
                yield f"wait {lane}"
                del open_calls[lane]
        if one.type == "compute":
            yield f"compute {nanoseconds(one)}"
            continue
        call_of_group = f"{one.kind} {one.collective} {one.amount:.0f}"
        if in_turn or one.stream == COMPUTE:
            yield f"call {call_of_group}"
        else:
            yield f"start {one.stream} {call_of_group}"
            open_calls[one.stream] = index
    yield from (f"wait {lane}" for lane in open_calls)


def ends_of_program(workload: Workload, tmp_path: Path, *, in_turn: bool) -> list[float]:
    """Return the end times of the program's ranks in seconds."""
    path = tmp_path / "steps"
    path.write_text("\n".join(steps(workload, in_turn=in_turn)), encoding="utf-8")
    most = max(int(one.amount) for one in operations(workload) if one.type == "collective")
    lines: list[str] = []
    weft.run(
        compiled.program(TESTS / "smpi" / "iteration.c"),
        [str(path), most],
        fabric=FABRIC,
        ranks=RANKS,
        fallback=LIBRARY,
        offload="off",
        cfg={"smpi/wtime": 0},
        on_line=lines.append,
    ).check()
    ends = {int(rank): float(end) for rank, end in map(str.split, lines)}
    return [ends[rank] for rank in range(RANKS)]


@pytest.mark.parametrize(
    ("sharding", "sequence", "in_turn"),
    [
        ("ddp", "true", False),
        ("ddp", "false", False),
        ("ddp", "true", True),
        ("zero-2", "true", True),
    ],
)
def test_ranks_end_when_those_of_an_mpi_program_do(
    tmp_path: Path, sharding: str, sequence: str, in_turn: bool
) -> None:
    workload = recorded(tmp_path, sharding, sequence)
    assert len(workload.program_of) == RANKS
    ends = ends_of_program(workload, tmp_path, in_turn=in_turn)
    for execute_all in (False, True):
        its = simulated(workload, in_turn=in_turn, execute_all=execute_all)
        assert [row["end_s"] for row in its["ranks"]] == pytest.approx(ends, rel=1e-9)


def test_overlap_shortens_the_iteration_that_was_compared(tmp_path: Path) -> None:
    workload = recorded(tmp_path, "ddp", "true")
    overlapped = simulated(workload, in_turn=False)["end_s"]
    assert overlapped < 0.95 * simulated(workload, in_turn=True)["end_s"]
