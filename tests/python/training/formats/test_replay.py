# SPDX-License-Identifier: LGPL-2.1-only
"""`weft replay` of training traces: times on a fabric, options, errors."""

import re
from pathlib import Path

import pytest

from tests.support.in_process import run
from tests.support.training_traces import (
    ALL_REDUCE,
    ALL_TO_ALL,
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    kernel,
    nccl,
    new_program,
    node,
    write_kineto,
    write_ranks,
)
from weft import _core
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import read

MIB = 1 << 20
FABRIC = "dgx-h100"


def replayed(path: Path, *options: str) -> str:
    status, _, errors = run(["replay", str(path), "--fabric", FABRIC, *options])
    assert status == 0, errors
    return errors


def total_ms(output: str) -> float:
    found = re.search(r"([0-9.e+-]+) ms", output)
    assert found is not None
    return float(found[1])


def refused(path: Path, *options: str) -> str:
    status, output, errors = run(["replay", str(path), "--fabric", FABRIC, *options])
    assert (status, output) == (2, "")
    return errors


def test_recorded_times_are_kept(tmp_path: Path) -> None:
    nodes = [node(0, COMPUTE, micros=400), node(1, COMPUTE, (0,), 600)]
    assert total_ms(replayed(write_ranks(tmp_path, nodes))) == 1.0


@pytest.mark.parametrize(("kind", "name"), [(ALL_REDUCE, "all_reduce"), (ALL_TO_ALL, "alltoall")])
@pytest.mark.parametrize("ranks", [4, 8])
def test_a_collective_takes_as_long_as_in_nccl_tests(
    tmp_path: Path, kind: int, name: str, ranks: int
) -> None:
    """ASTRA-sim's microbenchmarks are such traces."""
    nodes = [node(0, COLLECTIVE, comm_type=kind, comm_size=MIB, is_cpu_op=False)]
    workload = read(write_ranks(tmp_path, *[nodes] * ranks), ReadOptions(), _core.WorkloadProgram)
    times = _core.run_workload(
        _core.load_fabric(FABRIC),
        "nccl-2.29",
        [one for one in workload.programs if isinstance(one, _core.WorkloadProgram)],
        list(workload.program_of),
        list(workload.groups),
        fine=True,
    )
    words = ["bench", f"nccl-{name}", "--fabric", FABRIC, "-n", str(ranks), "--sizes", "1MiB"]
    status, output, errors = run([*words, "--iterations", "1"])
    assert status == 0, errors
    (row,) = (line.split() for line in output.splitlines() if line.split()[:1] == [str(MIB)])
    assert times["end_s"] * 1e6 == pytest.approx(float(row[5]), abs=0.006)


def test_a_ring_takes_the_sum_of_its_steps(tmp_path: Path) -> None:
    """All ranks send first, as in ASTRA-sim's custom collectives."""
    size, ranks = 131_072, 8

    def rank(me: int, steps: int) -> list[bytes]:
        nodes: list[bytes] = []
        before: list[int] = []
        for step in range(steps):
            send, receive, add = (3 * step + part for part in range(3))
            nodes += [
                node(send, SEND, before, comm_dst=(me + 1) % ranks, comm_size=size),
                node(receive, RECEIVE, [send], comm_src=(me - 1) % ranks, comm_size=size),
                node(add, COMPUTE, [receive], 7),
            ]
            before = [add]
        return nodes

    def of(steps: int) -> float:
        folder = write_ranks(tmp_path / str(steps), *(rank(me, steps) for me in range(ranks)))
        return total_ms(replayed(folder))

    one = of(1)
    assert one > 7e-3
    assert of(14) == pytest.approx(14 * one, rel=1e-4)


def test_collectives_take_the_time_of_the_fabric(tmp_path: Path) -> None:
    """The recorded second of the Allreduce does not count, what waits for it does."""
    events = [
        kernel("backward", 7, 0.0, 1000.0),
        nccl("allreduce", 20, 1000.0, 1e6, MIB, [0, 1]),
        kernel("optimizer", 7, 1_001_001.0, 500.0),
    ]
    path = write_kineto(tmp_path / "t.json", events, world=2)
    output = replayed(path, "--replicate", "2")
    assert "t.json on dgx-h100, nccl-2.29: 2 ranks" in output
    assert 1.5 < total_ms(output) < 3
    assert "rank 1 of 2 missing" in refused(path)


def test_the_text_of_simai(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text(
        "MICRO all_gpus: 8\n1\nlayer -1 1000000 NONE 0 0 NONE 0 0 ALLREDUCE 1048576 0\n"
    )
    output = replayed(path)
    assert re.search(r"computation +1\.000", output)
    assert "exposed: DP" in output


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path / "t", [node(0, COMPUTE, micros=1)])
    assert refused(folder, "--offload", "off") == (
        "weft: --offload does not apply to traces of training; leave it out\n"
    )
    assert "collectives of training are NCCL's" in refused(folder, "--fallback", "mpich-4")
    goal = tmp_path / "a.goal"
    goal.write_text("num_ranks 1\nrank 0 {\nl1: calc 1\n}\n")
    assert refused(goal, "--replicate", "4") == (
        "weft: --replicate does not apply to a trace that is none of training; leave it out\n"
    )


def test_gpus_for_operations(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path, [node(0, COMPUTE, num_ops=10**15, tensor_size=1)])
    assert "--gpu" in refused(folder)
    assert total_ms(replayed(folder, "--gpu", "h100-sxm")) > 1000
    assert "8,x" in refused(folder, "--logical-dimensions", "8,x")


def test_the_recorder_has_the_methods_of_programs() -> None:
    """Tests of readers stand for the core's programs."""
    methods = ("compute", "collective", "send", "receive", "host_stream")
    for one in (new_program(True), _core.WorkloadProgram(True)):
        assert all(callable(getattr(one, name)) for name in methods)
