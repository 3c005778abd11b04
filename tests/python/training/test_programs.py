# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of stages: no deadlock, consistent sizes, the bubbles of published schedules."""

import random
from typing import Any

import pytest

from tests.support.workloads import Executor
from weft.base.errors import WeftError
from weft.base.options import Options
from weft.training.accelerator import Accelerator, load_accelerator
from weft.training.build import build
from weft.training.file import TrainingFile, of_tables
from weft.training.parallelism import SHARDINGS
from weft.training.recorder import Recorder
from weft.training.workload import Workload

GPU = Accelerator(
    name="plain",
    sms=100,
    memory=80e9,
    bandwidth=1e15,
    peak={"bf16": 1e12},
    efficiency=1.0,
    half_size=0.0,
    attention={"forward": 1e12, "forward_half": 0, "backward": 1e12, "backward_half": 0},
)
MODEL = {
    "layers": 4,
    "hidden": 64,
    "feed_forward": 128,
    "heads": 8,
    "kv_heads": 4,
    "vocabulary": 512,
}
EXPERTS = {
    "experts": 8,
    "experts_per_token": 2,
    "expert_feed_forward": 32,
    "shared_experts": 1,
    "dense_layers": 1,
}


def training(**tables: dict[str, Any]) -> TrainingFile:
    given = {"model": MODEL, "batch": {"sequence": 64, "global": 4}, **tables}
    return of_tables(Options("test.toml", "", given), "test")


def built(file: TrainingFile) -> Workload:
    return build(file, GPU, Recorder)[0]


def recorded(workload: Workload, program: int = 0) -> list[Any]:
    found = workload.programs[program]
    assert isinstance(found, Recorder)
    return found.operations


# ---- Operation by operation ----------------------------------------------------------------------

BLOCK = 64 * 64 * 2
"""Bytes of the activations of a sequence of 64 tokens."""


def listed(workload: Workload, program: int = 0) -> list[str]:
    """Return names, with communicated sizes in blocks, and dependencies."""
    return [
        one.name
        + (f" {one.amount / BLOCK:g}" if one.type != "compute" else "")
        + (f" after {','.join(map(str, one.after))}" if one.after else "")
        for one in recorded(workload, program)
    ]


def test_two_stages_of_two_tensor_parallel_ranks() -> None:
    file = training(
        model={**MODEL, "layers": 2},
        parallel={"pipeline": 2, "tensor": 2},
        batch={"sequence": 64, "global": 1},
    )
    workload = built(file)
    assert list(workload.program_of) == [0, 0, 1, 1]
    assert workload.groups[0] == ("tensor", [[0, 1], [2, 3]])
    assert {name: ranks for name, ranks in workload.groups if ranks} == {
        "tensor": [[0, 1], [2, 3]],
        "embedding": [[0, 2], [1, 3]],
    }
    assert listed(workload, 0) == [
        "embedding",
        "tensor reduce-scatter 1",
        "tensor allgather 1",
        "attention",
        "tensor reduce-scatter 1",
        "tensor allgather 1",
        "feed-forward",
        "tensor reduce-scatter 1",
        "send activations 0.5 after 7",
        "receive gradients 0.5",
        "tensor allgather 1 after 9",
        "tensor allgather 1 after 10",
        "feed-forward backward",
        "tensor reduce-scatter 1 after 12",
        "feed-forward weights after 11",
        "tensor allgather 1 after 13",
        "tensor allgather 1 after 15",
        "attention backward",
        "tensor reduce-scatter 1 after 17",
        "attention weights after 16",
        "tensor allgather 1 after 18",
        "embedding backward",
        "optimizer",
    ]
    assert listed(workload, 1) == [
        "receive activations 0.5",
        "tensor allgather 1 after 0",
        "attention",
        "tensor reduce-scatter 1",
        "tensor allgather 1",
        "feed-forward",
        "tensor reduce-scatter 1",
        "tensor allgather 1",
        "output",
        "tensor allreduce 0.09375",
        "tensor allgather 1 after 9",
        "output backward",
        "tensor reduce-scatter 1 after 11",
        "output weights after 10",
        "tensor allgather 1 after 12",
        "tensor allgather 1 after 14",
        "feed-forward backward",
        "tensor reduce-scatter 1 after 16",
        "feed-forward weights after 15",
        "tensor allgather 1 after 17",
        "tensor allgather 1 after 19",
        "attention backward",
        "tensor reduce-scatter 1 after 21",
        "attention weights after 20",
        "send gradients 0.5 after 22,23",
        "optimizer",
    ]


def test_divided_parameters_are_gathered_a_layer_ahead() -> None:
    file = training(
        model={**MODEL, "layers": 2},
        parallel={"data": 4, "sharding": "fsdp"},
        batch={"sequence": 64, "global": 4},
    )
    operations = recorded(built(file))
    ends = 512 * 64
    layer = file.model.dense_parameters(0)
    sizes = [one.amount for one in operations if one.collective == "allgather"]
    # The output is still stored when its backward pass begins.
    forward = [ends, layer, layer, ends + 64]
    assert sizes == [2 * one for one in [*forward, *forward[-2::-1]]]
    sums = [one.amount for one in operations if one.collective == "reduce_scatter_block"]
    assert sums == [4 * one for one in forward[::-1]]
    # The second layer is gathered after the embedding has been computed.
    assert listed(built(file))[:6] == [
        f"data allgather {2 * ends / BLOCK:g}",
        f"data allgather {2 * layer / BLOCK:g}",
        "embedding after 0",
        f"data allgather {2 * layer / BLOCK:g} after 2",
        "attention after 1",
        "feed-forward",
    ]


@pytest.mark.parametrize(
    ("sharding", "names"),
    [
        ("ddp", ["allreduce"]),
        ("zero-1", ["allgather", "reduce_scatter_block"]),
        ("zero-2", ["allgather", *4 * ["reduce_scatter_block"]]),
        ("hybrid", [*4 * ["allgather"], *4 * ["reduce_scatter_block"], "allreduce"]),
    ],
)
def test_collectives_of_a_layer_for_each_sharding(sharding: str, names: list[str]) -> None:
    """Four microbatches: gathered units are kept from a forward to the next backward pass."""
    given = {"shard_group": 2} if sharding == "hybrid" else {}
    file = training(
        model={**MODEL, "layers": 1},
        parallel={"data": 4, "sharding": sharding, **given},
        batch={"sequence": 64, "global": 16},
    )
    layer = file.model.dense_parameters(0)
    whole = {2.0 * layer: "allgather", 4.0 * layer: "", 2.0 * layer + 0.5: ""}
    found = [
        one.collective
        for one in recorded(built(file))
        if one.type == "collective" and (one.amount in whole)
    ]
    if sharding == "hybrid":
        # The allreduce covers half a layer's gradients, as many bytes as the layer's parameters.
        assert found.count("allreduce") == 1
        assert found.count("allgather") == 8
        assert found.count("reduce_scatter_block") == 4
    else:
        assert sorted(found) == sorted(names)


def test_buckets_join_the_gradients_of_layers() -> None:
    file = training(
        parallel={"data": 2}, batch={"sequence": 64, "global": 2}, train={"bucket": "250KiB"}
    )
    sums = [one.amount for one in recorded(built(file)) if one.collective == "allreduce"]
    assert sum(sums) == 4 * file.model.parameters
    layer = 4 * file.model.dense_parameters(0)
    assert sums == [4 * (512 * 64 + 64) + layer, 2 * layer, layer + 4 * 512 * 64]


def test_without_overlap_computation_waits_for_sums() -> None:
    file = training(
        parallel={"data": 2}, batch={"sequence": 64, "global": 2}, train={"overlap": False}
    )
    operations = recorded(built(file))
    sums = [k for k, one in enumerate(operations) if one.collective == "allreduce"]
    following = [one for one in operations if one.type == "compute" and one.after]
    assert [one.after for one in following] == [(k,) for k in sums]


def test_tokens_go_to_experts_and_back() -> None:
    file = training(
        model={**MODEL, **EXPERTS, "layers": 1, "dense_layers": 0},
        parallel={"data": 4, "expert": 4},
        batch={"sequence": 64, "global": 4},
        train={"copies": 1.5},
    )
    names = listed(built(file))
    assert names[2:10] == [
        "router",
        "expert alltoall 1.5 after 2",
        "shared experts",
        "experts after 3",
        "expert alltoall 1.5 after 5",
        "combination after 6",
        "output",
        "output backward",
    ]
    assert sum("alltoall" in one for one in names) == 4
    groups = dict(built(file).groups)
    assert groups["expert"] == [[0, 1, 2, 3]]
    assert groups["expert data"] == []


def test_keys_go_around_the_ring() -> None:
    file = training(
        model={**MODEL, "layers": 1},
        parallel={"context": 4, "context_exchange": "ring", "data": 2},
        batch={"sequence": 64, "global": 2},
    )
    workload = built(file)
    assert list(workload.program_of) == [0, 2, 2, 1, 0, 2, 2, 1]
    peers = [
        next(one.peer for one in recorded(workload, program) if one.name == "send keys")
        for program in range(3)
    ]
    assert peers == [1, -3, 1]
    sizes = [one.amount for one in recorded(workload) if one.name == "send keys"]
    keys = 16 * 4 * 16 * 2
    # In the backward pass, gradients of keys and values follow one step later.
    assert sizes == [*3 * [keys], keys, 2 * keys, 2 * keys, keys]


def test_ranks_are_numbered_as_megatron_does() -> None:
    file = training(
        model={**MODEL, **EXPERTS},
        parallel={"tensor": 2, "context": 2, "data": 2, "pipeline": 2, "expert": 2},
        batch={"sequence": 64, "global": 2},
    )
    groups = dict(built(file).groups)
    assert groups["tensor"][:2] == [[0, 1], [2, 3]]
    assert groups["context"][:2] == [[0, 2], [1, 3]]
    assert groups["data"][:2] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert groups["expert"][:2] == [[0, 2], [1, 3]]
    assert groups["expert data"][:2] == [[0, 4], [1, 5]]


# ---- Random layouts ------------------------------------------------------------------------------


def _random_tables(dice: random.Random) -> dict[str, dict[str, Any]]:
    tensor, context, pipeline, data = (dice.choice((1, 2, 4)) for _ in range(4))
    while tensor * context * pipeline * data > 32:
        tensor, context, pipeline, data = (dice.choice((1, 2, 4)) for _ in range(4))
    has_experts = dice.random() < 0.5
    expert = dice.choice([one for one in (1, 2, 4, 8) if context * data % one == 0])
    sharding = dice.choice(sorted(SHARDINGS))
    virtual = dice.choice((1, 2)) if pipeline > 1 else 1
    micro = dice.choice((1, 2))
    parallel = {
        "tensor": tensor,
        "context": context,
        "pipeline": pipeline,
        "data": data,
        "virtual_stages": virtual,
        "expert": expert if has_experts else 1,
        "sharding": sharding,
        "context_exchange": dice.choice(("ring", "allgather")),
    }
    if sharding == "hybrid":
        parallel["shard_group"] = dice.choice([1, context * data])
    if pipeline > 1 and virtual == 1:
        parallel["schedule"] = dice.choice(("1f1b", "zero-bubble"))
    if not has_experts:
        parallel["sequence"] = dice.random() < 0.5
    rounds = pipeline if virtual > 1 else 1
    return {
        "model": {
            **MODEL,
            **(EXPERTS if has_experts else {}),
            **({"shared_experts": dice.choice((0, 1))} if has_experts else {}),
            "layers": 4 * virtual,
            "tied": dice.random() < 0.3,
        },
        "parallel": parallel,
        "batch": {
            "sequence": 64,
            "micro": micro,
            "global": micro * data * rounds * dice.randint(1, 5),
        },
        "train": {
            "recomputation": dice.choice(("none", "selective", "full")),
            "overlap": dice.random() < 0.7,
            **({"bucket": "10KiB"} if dice.random() < 0.3 else {}),
        },
    }


@pytest.mark.parametrize("seed", range(300))
def test_random_layouts_end_and_all_parties_agree(seed: int) -> None:
    tables = _random_tables(random.Random(seed))
    assert Executor(built(training(**tables))).run() > 0


# ---- Pipelines -----------------------------------------------------------------------------------


def _pass_times(file: TrainingFile) -> tuple[float, float]:
    """Return the times of the forward passes and of all passes, for a microbatch on a stage."""
    one = recorded(built(file), 1)
    names = ("attention", "feed-forward")
    ahead = sum(work.amount for work in one if work.name in names)
    back = sum(work.amount for work in one if work.name.removesuffix(" backward") in names)
    weights = sum(work.amount for work in one if work.name.endswith(" weights"))
    return ahead / file.microbatches, (back + weights) / file.microbatches


NO_ENDS = {**MODEL, "vocabulary": 1, "layers": 8}
"""Model whose embedding and output take negligible time."""


@pytest.mark.parametrize("microbatches", [4, 8, 16])
@pytest.mark.parametrize(
    ("schedule", "virtual", "bubbles"),
    [("1f1b", 1, 3.0), ("interleaved", 2, 1.5)],
)
def test_bubbles_of_a_pipeline(
    schedule: str, virtual: int, bubbles: float, microbatches: int
) -> None:
    """The loss is the time of (p - 1) / v microbatches (Narayanan et al., SC '21, section 2.2)."""
    file = training(
        model=NO_ENDS,
        parallel={"pipeline": 4, "virtual_stages": virtual, "schedule": schedule},
        batch={"sequence": 64, "global": microbatches},
    )
    _, both = _pass_times(file)
    time = Executor(built(file)).run()
    assert time == pytest.approx((microbatches + bubbles) * both, rel=2e-3)


@pytest.mark.parametrize("microbatches", [4, 8, 16])
def test_bubbles_of_zero_bubble_h1(microbatches: int) -> None:
    """The loss is (p - 1) (forward + input - weight) (Qi et al., ICLR '24, table 2)."""
    file = training(
        model=NO_ENDS,
        parallel={"pipeline": 4, "schedule": "zero-bubble"},
        batch={"sequence": 64, "global": microbatches},
    )
    one = recorded(built(file), 1)
    weight = sum(work.amount for work in one if work.name.endswith("weights")) / microbatches
    forward, both = _pass_times(file)
    lost = 3 * (forward + (both - forward - weight) - weight)
    time = Executor(built(file)).run()
    assert time == pytest.approx(microbatches * both + lost, rel=2e-3)


@pytest.mark.parametrize("sharding", ["zero-1", "fsdp"])
def test_programs_of_a_large_cluster_are_small(sharding: str) -> None:
    parallel = {"tensor": 8, "pipeline": 16, "data": 128, "sharding": sharding}
    tables = {
        "like": "llama-3-70b",
        "parallel": parallel,
        "batch": {"sequence": 8192, "global": 2048},
    }
    file = of_tables(Options("test.toml", "", tables), "test")
    workload, summary = build(file, load_accelerator("h100-sxm"), Recorder)
    assert len(workload.program_of) == summary.ranks == 16_384
    assert len(workload.programs) == 16
    assert max(summary.operations) < 2_000
    assert [len(recorded(workload, one)) for one in range(16)] == list(summary.operations)


def test_the_summary_describes_the_iteration() -> None:
    file = training(
        model={**MODEL, **EXPERTS, "layers": 4},
        parallel={"tensor": 2, "data": 2, "pipeline": 2, "expert": 2, "sharding": "fsdp"},
    )
    _, summary = build(file, GPU, Recorder)
    assert summary.layout == (
        "8 GPUs: 2 tensor x 2 data x 2 pipeline. Experts are divided among 2 of the data and"
        " context ranks. 2 stages follow the schedule 1f1b. Data parallel ranks divide their state"
        " by fsdp. An iteration has 4 sequences of 64 tokens, 2 microbatches of 1 a rank."
    )
    assert summary.tokens == 256
    assert summary.mfu(1.0) == pytest.approx(summary.tflops(1.0) * 1e12 / summary.peak)


def test_a_precision_that_the_gpu_lacks_is_refused() -> None:
    file = training(train={"precision": "fp8"})
    with pytest.raises(WeftError, match=r"\[train\] precision: found 'fp8', but plain has bf16"):
        build(file, GPU, Recorder)


# ---- The executor itself -------------------------------------------------------------------------


def _pair(first: Recorder, second: Recorder) -> Workload:
    return Workload([first, second], [0, 1], [("tensor", [[0, 1]])])


def test_the_executor_finds_deadlocks_and_disagreements() -> None:
    waiting, sending = Recorder(), Recorder()
    waiting.receive(0, 1, 8)
    waiting.send(0, 1, 8)
    sending.receive(0, -1, 8)
    sending.send(0, -1, 8)
    with pytest.raises(AssertionError, match="deadlock"):
        Executor(_pair(waiting, sending)).run()
    small, large = Recorder(), Recorder()
    small.collective(0, 0, "allgather", 8)
    large.collective(0, 0, "allgather", 16)
    with pytest.raises(AssertionError):
        Executor(_pair(small, large)).run()
