# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of stages: no deadlock, sizes that agree, the bubbles of published schedules."""

import random
from typing import Any

import pytest

from tests.support.workloads import Executor, Recorder
from weft.base.errors import WeftError
from weft.base.options import Options
from weft.training.accelerator import Accelerator
from weft.training.build import build
from weft.training.file import TrainingFile, of_tables
from weft.training.parallelism import SHARDINGS
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
    """Return the times of the forward passes and of all passes of one microbatch of one stage."""
    one = recorded(built(file), 1)
    names = ("attention", "feed-forward")
    ahead = sum(work.amount for work in one if work.name in names)
    back = sum(work.amount for work in one if work.name.removesuffix(" backward") in names)
    weights = sum(work.amount for work in one if work.name.endswith(" weights"))
    return ahead / file.microbatches, (back + weights) / file.microbatches


NO_ENDS = {**MODEL, "vocabulary": 1, "layers": 8}
"""A model whose embedding and output take no time worth mentioning."""


@pytest.mark.parametrize("microbatches", [4, 8, 16])
@pytest.mark.parametrize(
    ("schedule", "virtual", "bubbles"),
    [("1f1b", 1, 3.0), ("interleaved", 2, 1.5)],
)
def test_bubbles_of_a_pipeline(
    schedule: str, virtual: int, bubbles: float, microbatches: int
) -> None:
    """(p - 1) / v microbatches' time is lost (Narayanan et al., SC '21, section 2.2)."""
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
    """(p - 1) (forward + input - weight) are lost (Qi et al., ICLR '24, table 2)."""
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


def test_a_model_that_does_not_fit_is_refused() -> None:
    with pytest.raises(WeftError, match="give layers_per_stage"):
        training(parallel={"pipeline": 3})
