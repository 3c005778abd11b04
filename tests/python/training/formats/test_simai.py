# SPDX-License-Identifier: LGPL-2.1-only
"""SimAI's workload text: groups, passes, the pipeline, errors that name the line."""

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.training_traces import operations_of, program_of, workload_of
from tests.support.workloads import Executor
from weft.base.errors import WeftError

HEAD = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: {vpp}"
    " ga: {ga} all_gpus: {gpus} checkpoints: 0 checkpoint_initiates: 0"
)
ROW = "{name} -1 {f} NONE 0 {b} NONE 0 {w} NONE 0 0"


def write(path: Path, rows: list[str], comm: int = 0, **parallelism: int) -> Path:
    settings = {"tp": 1, "ep": 1, "pp": 1, "vpp": 1, "ga": 1, "gpus": 4} | parallelism
    head = HEAD.format(**settings) + (f" pp_comm {comm}" if comm else "")
    path.write_text("\n".join(["# a comment", head, str(len(rows)), *rows]) + "\n")
    return path


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(WeftError) as error:
        workload_of(path, **options)
    return str(error.value)


def layer(name: str, forward: int = 0, inputs: int = 0, weights: int = 0) -> str:
    return ROW.format(name=name, f=forward, b=inputs, w=weights)


def test_passes_and_groups(tmp_path: Path) -> None:
    rows = [
        "a -1 1000 ALLGATHER 8000 2000 REDUCESCATTER 9000 3000 ALLREDUCE 7000 500",
        "b -1 4000 ALLTOALL_EP 6000 5000 NONE 0 0 REDUCESCATTER_DP_EP 5000 0",
    ]
    path = write(tmp_path / "w.txt", rows, tp=2, ep=2, gpus=16)
    workload = workload_of(path)
    assert [name for name, _ in workload.groups] == ["TP", "DP", "EP", "DP_EP"]
    assert [groups[0] for _, groups in workload.groups] == [
        [0, 1],
        [0, 2, 4, 6, 8, 10, 12, 14],
        [0, 2],
        [0, 4, 8, 12],
    ]
    assert all(sorted(chain(*groups)) == list(range(16)) for _, groups in workload.groups)
    assert program_of(workload).in_order
    found = operations_of(workload)
    assert [(one.collective or round(one.amount * 1e9), one.after) for one in found] == [
        (1000, ()),
        ("allgather", (0,)),
        (4000, (1,)),
        ("alltoall", (2,)),
        (5000, (3,)),
        ("reduce_scatter_block", (4,)),
        (2000, ()),
        ("reduce_scatter_block", (6,)),
        (3000, (7,)),
        ("allreduce", (8,)),
        (500, (9,)),
    ]
    assert [one.amount for one in found if one.collective] == [8000, 6000, 5000, 9000, 7000]
    assert [one.kind for one in found if one.collective] == [0, 2, 3, 0, 1]
    assert Executor(workload).run() == pytest.approx(15.5e-6)


def test_small_forward_collectives_have_a_page(tmp_path: Path) -> None:
    rows = ["a -1 1 ALLREDUCE 4 1 ALLREDUCE 4 0 NONE 0 0"]
    found = operations_of(workload_of(write(tmp_path / "w.txt", rows, tp=4)))
    assert [one.amount for one in found if one.collective] == [4096, 4]


def test_groups_of_one_rank_move_nothing(tmp_path: Path) -> None:
    rows = ["a -1 1 ALLREDUCE 4096 1 NONE 0 0 ALLREDUCE 8 0"]
    workload = workload_of(write(tmp_path / "w.txt", rows, tp=4))
    assert [name for name, _ in workload.groups] == ["TP"]


@pytest.mark.parametrize(
    ("stages", "chunks", "batches"), [(4, 1, 8), (4, 2, 8), (2, 4, 6), (3, 1, 1)]
)
def test_bubbles_of_the_pipeline(tmp_path: Path, stages: int, chunks: int, batches: int) -> None:
    """The first microbatch fills the stages, in parts of a virtual stage: (p - 1) / v passes."""
    forward, backward = 12_000, 24_000
    part = [layer("embedding_layer", forward, backward)]
    part += [layer("mlp", forward, backward // 2, backward // 2) for _ in range(chunks - 1)]
    rows = part * batches
    path = write(tmp_path / "w.txt", rows, 100, pp=stages, vpp=chunks, ga=batches, gpus=2 * stages)
    workload = workload_of(path)
    assert workload.program_of[:2] == [0, 0]
    assert len(workload.programs) == min(stages, 3)
    ideal = batches * chunks * (forward + backward)
    bubble = (stages - 1) * (forward + backward)
    assert Executor(workload).run() == pytest.approx((ideal + bubble) * 1e-9)


def test_layers_around_the_microbatches(tmp_path: Path) -> None:
    rows = [layer("grad", 10, 10), *[layer("embedding_layer", 100, 100)] * 2, layer("loss", 5)]
    path = write(tmp_path / "w.txt", rows, 64, pp=2, ga=2, gpus=4)
    workload = workload_of(path)
    first = operations_of(workload)
    assert [one.name for one in first if one.type == "compute"] == [
        *("grad", "embedding_layer", "embedding_layer", "loss"),
        *("embedding_layer", "embedding_layer", "grad"),
    ]
    assert {one.peer for one in first if one.type in ("send", "receive")} == {2}
    Executor(workload).run()


def test_the_number_of_gpus_may_be_given(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text("MICRO\n1\nmicro_test -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 1\n")
    assert "line 1: found no all_gpus" in refusal(path)
    workload = workload_of(path, replicate=8)
    assert workload.groups == [("DP", [list(range(8))])]


@pytest.mark.parametrize(
    ("rows", "parallelism", "message"),
    [
        (["a -1 1 NONE 0"], {}, "line 4: found 5 fields; allowed are 12"),
        (["a -1 x NONE 0 1 NONE 0 1 NONE 0 1"], {}, "line 4: found 'x'; allowed: a number"),
        (["a -1 1 SCAN 8 1 NONE 0 1 NONE 0 1"], {}, "line 4: found collective 'SCAN'; allowed"),
        ([layer("a")], {}, "all times and sizes are zero"),
        ([layer("a", 1)], {"tp": 3}, "line 2: found 4 GPUs, which tensor parallelism 3 and 1"),
        ([layer("a", 1)], {"ep": 3}, "line 2: found 4 data-parallel ranks, which expert"),
        ([layer("a", 1)], {"pp": 2, "ga": 2}, "found 0 lines 'embedding_layer' for 2 micro"),
        (
            [layer("embedding_layer", 1)] * 3,
            {"pp": 2, "vpp": 2, "ga": 3},
            "found 3 microbatches (ga) for 2 stages with 2",
        ),
    ],
)
def test_errors_name_the_line(
    tmp_path: Path, rows: list[str], parallelism: dict[str, int], message: str
) -> None:
    assert message in refusal(write(tmp_path / "w.txt", rows, **parallelism))


def test_files_that_are_cut_or_of_another_kind(tmp_path: Path) -> None:
    path = write(tmp_path / "w.txt", [layer("a", 1)] * 3)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]))
    assert "line 5: found 2 layers, and line 3 announces 3" in refusal(path)
    path.write_text("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1\n1\n" + layer("a", 1))
    assert "line 1: found parallelism 'HYBRID_DLRM'; allowed are HYBRID_TRANSFORMER" in refusal(
        path
    )
