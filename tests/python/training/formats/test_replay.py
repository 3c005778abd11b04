# SPDX-License-Identifier: LGPL-2.1-only
"""`weft replay` of training traces: times on a fabric, options, errors."""

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import weft
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
    node,
    write_kineto,
    write_ranks,
)
from weft import _core
from weft.training.recorder import Recorder

MIB = 1 << 20
FABRIC = "dgx-h100"


def replayed(path: Path, *options: str, fabric: str = FABRIC) -> str:
    status, output, errors = run(["replay", str(path), "--fabric", fabric, *options])
    assert (status, errors) == (0, "")
    return output


def record(path: Path, *options: str, fabric: str = FABRIC) -> dict[str, Any]:
    output = replayed(path, *options, "--quiet", "--json", "-", fabric=fabric)
    found: dict[str, Any] = json.loads(output)
    return found


def total_ms(path: Path, *options: str) -> float:
    return float(record(path, *options)["time_s"]) * 1e3


def refused(path: Path, *options: str) -> str:
    status, output, errors = run(["replay", str(path), "--fabric", FABRIC, *options])
    assert (status, output) == (2, "")
    return errors


def test_recorded_times_are_kept(tmp_path: Path) -> None:
    nodes = [node(0, COMPUTE, micros=400), node(1, COMPUTE, (0,), 600)]
    assert total_ms(write_ranks(tmp_path, nodes)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("kind", "name"), [(ALL_REDUCE, "all_reduce"), (ALL_TO_ALL, "alltoall")])
@pytest.mark.parametrize(("ranks", "fabric"), [(4, FABRIC), (8, FABRIC), (16, "superpod-h100-32")])
def test_a_collective_takes_as_long_as_in_nccl_tests(
    tmp_path: Path, kind: int, name: str, ranks: int, fabric: str
) -> None:
    """ASTRA-sim's microbenchmarks are such traces. nccl-tests prints the mean over the ranks.

    In nccl-tests, ranks start a call at different times, when they leave the barrier before it.
    """
    nodes = [node(0, COLLECTIVE, comm_type=kind, comm_size=MIB, is_cpu_op=False)]
    trace, ends = write_ranks(tmp_path, *[nodes] * ranks), tmp_path / "ends.csv"
    replayed(trace, "--csv", str(ends), fabric=fabric)
    rows = list(csv.DictReader(ends.read_text("utf-8").splitlines()))
    mean_us = sum(float(row["end_s"]) for row in rows) / ranks * 1e6
    words = ["bench", f"nccl-{name}", "--fabric", fabric, "-n", str(ranks), "--sizes", "1MiB"]
    status, output, errors = run([*words, "--iterations", "1", "--warm-up", "0"])
    assert status == 0, errors
    (row,) = (line.split() for line in output.splitlines() if line.split()[:1] == [str(MIB)])
    assert mean_us == pytest.approx(float(row[5]), rel=3e-3)


def test_a_ring_takes_the_sum_of_its_steps(tmp_path: Path) -> None:
    """All ranks first send, as in ASTRA-sim's custom collectives."""
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
        return total_ms(folder)

    one = of(1)
    assert one > 7e-3
    assert of(14) == pytest.approx(14 * one, rel=1e-4)


def test_collectives_take_the_time_of_the_fabric(tmp_path: Path) -> None:
    """The recorded second of the Allreduce is ignored; operations that wait for it are not."""
    events = [
        kernel("backward", 7, 0.0, 1000.0),
        nccl("allreduce", 20, 1000.0, 1e6, MIB, [0, 1]),
        kernel("optimizer", 7, 1_001_001.0, 500.0),
    ]
    path = write_kineto(tmp_path / "t.json", events, world=2)
    found = record(path, "--replicate", "2")
    assert (found["ranks"], found["library"], found["training"]) == (2, "nccl-2.29", None)
    assert found["workload"] == str(path)
    assert 1.5e-3 < found["time_s"] < 3e-3
    assert "rank 1 of 2 missing" in refused(path)


def test_the_text_of_simai(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text(
        "MICRO all_gpus: 8\n1\nlayer -1 1000000 NONE 0 0 NONE 0 0 ALLREDUCE 1048576 0\n"
    )
    output = replayed(path)
    assert re.search(r"computation +1 ms", output)
    assert "exposed DP" in output


def simai(tmp_path: Path, ranks: int) -> Path:
    """Return a layer whose gradients are summed and sharded by groups of 8 ranks."""
    path = tmp_path / f"{ranks}.txt"
    path.write_text(
        f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {ranks // 8} ep: 1 pp: 1"
        f" vpp: 1 ga: 1 all_gpus: {ranks}\n1\n"
        "layer -1 1000000 NONE 0 0 NONE 0 1000000 REDUCESCATTER 16777216 0\n"
    )
    return path


@pytest.mark.parametrize(("ranks", "detail"), [(256, "slice"), (512, "step")])
def test_rings_send_all_messages_of_256_ranks_and_fewer(
    tmp_path: Path, ranks: int, detail: str
) -> None:
    path, fabric = simai(tmp_path, ranks), "superpod-h100-32"
    options = ["--set", "topology.nodes=64"]
    found = record(path, *options, fabric=fabric)
    other = "step" if detail == "slice" else "slice"
    assert found["detail"] == detail
    chosen = record(path, *options, "--detail", detail, fabric=fabric)
    assert found["messages"] == chosen["messages"]
    others = record(path, *options, "--detail", other, fabric=fabric)
    assert (others["messages"] < found["messages"]) == (detail == "slice")
    said = "all that NCCL sends" if detail == "slice" else "one for each step of rings"
    assert f"messages, {said};" in replayed(path, *options, fabric=fabric)


def test_output_is_that_of_training(tmp_path: Path) -> None:
    path = simai(tmp_path, 8)
    csv_file, timeline = tmp_path / "ranks.csv", tmp_path / "timeline.json"
    replayed(path, "--csv", str(csv_file), "--trace", str(timeline), "--slowdown", "3=2")
    rows = list(csv.DictReader(csv_file.read_text("utf-8").splitlines()))
    assert [float(row["computing_s"]) for row in rows] == pytest.approx(
        [2e-3] * 3 + [4e-3] + [2e-3] * 4
    )
    events = json.loads(timeline.read_text("utf-8"))["traceEvents"]
    assert {"layer"} < {event["name"] for event in events}
    output = replayed(path, "--compare")
    assert all(variant in output for variant in ("rings and trees", "NVLS"))
    status, _, errors = run(["replay", str(path), "--fabric", FABRIC, "--compare", "--csv", "a"])
    assert status == 2
    assert "--compare has several iterations" in errors


def test_python_returns_what_the_command_writes(tmp_path: Path) -> None:
    path = simai(tmp_path, 8)
    its = weft.replay_training(path, FABRIC, slowdown={3: 2}, detail="step")
    found = record(path, "--slowdown", "3=2", "--detail=step")
    assert (its.time_s, its.record.messages) == (found["time_s"], found["messages"])
    assert math.isnan(its.mfu)
    assert str(its).partition("\n")[0] in replayed(path, "--slowdown=3=2", "--detail=step")
    with pytest.raises(weft.WeftError, match="rank 8; allowed: 0 to 7"):
        weft.replay_training(path, FABRIC, slowdown={8: 2})


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path / "t", [node(0, COMPUTE, micros=1)])
    assert refused(folder, "--offload", "off") == (
        "weft: --offload does not apply to traces of training; leave it out\n"
    )
    assert "collectives of training are NCCL's" in refused(folder, "--fallback", "mpich-4")
    status, _, errors = run(["replay", str(folder)])
    assert (status, errors) == (
        2,
        "weft: --fabric is missing; traces of training need a fabric of GPUs\n",
    )
    goal = tmp_path / "a.goal"
    goal.write_text("num_ranks 1\nrank 0 {\nl1: calc 1\n}\n")
    for option in ("--replicate=4", "--slowdown=0=2", "--detail=step", "--csv=a.csv"):
        name = option.split("=")[0]
        assert refused(goal, option) == (
            f"weft: {name} does not apply to a trace that is none of training; leave it out\n"
        )


def test_gpus_for_operations(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path, [node(0, COMPUTE, num_ops=10**15, tensor_size=1)])
    assert "--gpu" in refused(folder)
    assert total_ms(folder, "--gpu", "h100-sxm") > 1000
    assert "8,x" in refused(folder, "--logical-dimensions", "8,x")


def test_the_recorder_has_the_methods_of_programs() -> None:
    """In tests of readers, the recorder replaces the core's programs."""
    methods = ("compute", "collective", "send", "receive", "host_stream")
    for one in (Recorder(True), _core.WorkloadProgram(True)):
        assert all(callable(getattr(one, name)) for name in methods)
