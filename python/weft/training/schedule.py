# SPDX-License-Identifier: LGPL-2.1-only
"""Orders in which a pipeline stage executes the passes of its microbatches.

1F1B and interleaving: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU
Clusters Using Megatron-LM", SC '21, section 2.2. ZB-H1: Qi et al., "Zero Bubble Pipeline
Parallelism", ICLR '24, section 3: no more microbatches in flight than on the first stage of 1F1B.
"""

from dataclasses import dataclass

from weft.training.parallelism import Parallelism

FORWARD, BACKWARD, INPUT, WEIGHT = "forward", "backward", "input", "weight"
"""Passes: `backward` computes both input and weight gradients, `input` and `weight` one of them."""


@dataclass(frozen=True)
class Pass:
    """Pass of a microbatch through a chunk of layers."""

    kind: str
    microbatch: int
    chunk: int = 0


def passes(parallel: Parallelism, stage: int, microbatches: int) -> list[Pass]:
    """Return the passes of a stage in order."""
    if parallel.schedule == "zero-bubble":
        return _zero_bubble(parallel.pipeline, stage, microbatches)
    if parallel.virtual_stages > 1:
        return _interleaved(parallel.pipeline, stage, parallel.virtual_stages, microbatches)
    return _alternating(
        [Pass(FORWARD, one) for one in range(microbatches)],
        [Pass(BACKWARD, one) for one in range(microbatches)],
        parallel.pipeline - 1 - stage,
    )


def _alternating(forward: list[Pass], backward: list[Pass], warm_up: int) -> list[Pass]:
    """Return warm-up forward passes, then pairs of passes, then the remaining backward passes."""
    first = min(warm_up, len(forward))
    found = forward[:first]
    for ahead, back in zip(forward[first:], backward, strict=False):
        found += [ahead, back]
    return found + backward[len(forward) - first :]


def _interleaved(stages: int, stage: int, chunks: int, microbatches: int) -> list[Pass]:
    """Return the passes of a stage with several chunks.

    Each chunk processes one microbatch per stage before the next chunk processes them.
    """
    forward = [
        Pass(FORWARD, begin + one, chunk)
        for begin in range(0, microbatches, stages)
        for chunk in range(chunks)
        for one in range(stages)
    ]
    backward = [Pass(BACKWARD, one.microbatch, chunks - 1 - one.chunk) for one in forward]
    return _alternating(forward, backward, 2 * (stages - 1 - stage) + (chunks - 1) * stages)


def _zero_bubble(stages: int, stage: int, microbatches: int) -> list[Pass]:
    """Return the passes of ZB-H1.

    Weight gradients are deferred until the number of microbatches in flight equals the number of
    stages, or until the stage would wait for gradients from the next stage.
    """
    found: list[Pass] = []
    forward = backward = weight = 0
    warm_up = min(stages - 1 - stage, microbatches)
    while forward < warm_up:
        found.append(Pass(FORWARD, forward))
        forward += 1
    while backward < microbatches:
        if forward < microbatches:
            if forward - weight == stages:
                found.append(Pass(WEIGHT, weight))
                weight += 1
            found.append(Pass(FORWARD, forward))
            forward += 1
        elif backward > weight:
            found.append(Pass(WEIGHT, weight))
            weight += 1
        found.append(Pass(INPUT, backward))
        backward += 1
    return found + [Pass(WEIGHT, one) for one in range(weight, microbatches)]
