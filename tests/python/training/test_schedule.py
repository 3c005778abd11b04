# SPDX-License-Identifier: LGPL-2.1-only
"""Schedules: each pass once, after its dependencies, with as few in flight as published."""

from itertools import product

import pytest

from weft.training.parallelism import Parallelism
from weft.training.schedule import BACKWARD, FORWARD, INPUT, WEIGHT, Pass, passes

SHAPES = [
    ("1f1b", stages, 1, count) for stages, count in product((1, 2, 3, 4, 8), (1, 2, 5, 8, 16))
]
SHAPES += [
    ("zero-bubble", stages, 1, count) for stages, count in product((2, 3, 4, 8), (1, 2, 5, 8, 16))
]
SHAPES += [
    ("interleaved", stages, chunks, rounds * stages)
    for stages, chunks, rounds in product((2, 3, 4, 8), (2, 3, 4), (1, 2, 3))
]


def order(shape: tuple[str, int, int, int], stage: int) -> list[Pass]:
    schedule, stages, chunks, count = shape
    parallel = Parallelism(pipeline=stages, virtual_stages=chunks, schedule=schedule)
    return passes(parallel, stage, count)


def most_in_flight(found: list[Pass]) -> int:
    now = most = 0
    for one in found:
        now += (one.kind == FORWARD) - (one.kind in (BACKWARD, WEIGHT))
        most = max(most, now)
    return most


@pytest.mark.parametrize("shape", SHAPES)
def test_each_pass_is_executed_once_and_after_what_it_needs(
    shape: tuple[str, int, int, int],
) -> None:
    schedule, stages, chunks, count = shape
    kinds = [FORWARD, INPUT, WEIGHT] if schedule == "zero-bubble" else [FORWARD, BACKWARD]
    for stage in range(stages):
        found = order(shape, stage)
        places = {one: place for place, one in enumerate(found)}
        assert len(places) == len(found) == len(kinds) * chunks * count
        for microbatch, chunk in product(range(count), range(chunks)):
            own = [places[Pass(kind, microbatch, chunk)] for kind in kinds]
            assert own == sorted(own)


@pytest.mark.parametrize("shape", SHAPES)
def test_stages_hand_their_results_on_in_one_order(shape: tuple[str, int, int, int]) -> None:
    """All stages pass microbatches and chunks in the same order, so that messages pair up."""
    for kind in (FORWARD, BACKWARD, INPUT):
        orders = [
            [(one.microbatch, one.chunk) for one in order(shape, stage) if one.kind == kind]
            for stage in range(shape[1])
        ]
        assert all(one == orders[0] for one in orders)


@pytest.mark.parametrize("shape", SHAPES)
def test_as_many_microbatches_are_in_flight_as_published(shape: tuple[str, int, int, int]) -> None:
    """Narayanan et al., SC '21, section 2.2; for ZB-H1, Qi et al., ICLR '24, table 1."""
    schedule, stages, chunks, count = shape
    for stage in range(stages):
        found = most_in_flight(order(shape, stage))
        if schedule == "1f1b":
            assert found == min(stages - stage, count)
        elif schedule == "zero-bubble":
            assert found <= min(stages, count)
        else:
            ahead = 2 * (stages - 1 - stage) + (chunks - 1) * stages + 1
            assert found == min(ahead, chunks * count)
