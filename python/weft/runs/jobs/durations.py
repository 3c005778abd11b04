# SPDX-License-Identifier: LGPL-2.1-only
"""Durations of the same calls in two runs of a job, call by call.

A call of a rank in one run is paired with the call of the same rank, kind and index in the other.
libweft.so lists the durations (`src/binding/observe/json/call_durations.hpp`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.runs.record_data import RatioPart

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Kind = tuple[str, int, str, str]
"""Collective, size of the communicator, datatype and operation."""


@dataclass(frozen=True)
class RankCalls:
    """Calls of one kind: each with its rank and duration, the calls of a rank in their order."""

    ranks: "NDArray[np.int32]"
    durations_s: "NDArray[np.float64]"

    def by_rank(self) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        """Return a number for each call, equal for equal ranks and indices, and the durations.

        The numbers ascend.
        """
        order = np.argsort(self.ranks, kind="stable")
        ranks = self.ranks[order].astype(np.int64)
        begins = np.flatnonzero(np.diff(ranks, prepend=-1))
        index = np.arange(len(ranks)) - np.repeat(begins, np.diff(begins, append=len(ranks)))
        return (ranks << 32) + index, self.durations_s[order]


def read(path: Path, job: str) -> dict[_Kind, RankCalls]:
    """Return the calls of a job; none if the run ended before they were written.

    Ranks are numbered anew, since the file numbers them over all jobs of its run.
    """
    found = {}
    if path.exists():
        with path.open("rb") as file:
            while line := file.readline():
                head = json.loads(line)
                number = head["calls"]
                ranks = np.fromfile(file, np.int32, number)
                calls = RankCalls(ranks, np.fromfile(file, np.float64, number))
                if head["job"] == job:
                    kind = head["collective"], head["communicator_size"]
                    found[(*kind, head["datatype"], head["op"])] = calls
    none = np.empty(0, np.int32)
    numbers = np.unique(np.concatenate([none, *(one.ranks for one in found.values())]))
    return {
        kind: replace(one, ranks=np.searchsorted(numbers, one.ranks).astype(np.int32))
        for kind, one in found.items()
    }


def ratios(
    together: Mapping[_Kind, RankCalls], alone: Mapping[_Kind, RankCalls]
) -> list[RatioPart]:
    """Return the distribution of the ratio of each call's durations, by kind of call."""
    pairs = {
        kind: _ratios_of(calls, alone[kind]) for kind, calls in together.items() if kind in alone
    }
    return [_part(kind, its) for kind, its in pairs.items() if len(its)]


def _ratios_of(together: RankCalls, alone: RankCalls) -> "NDArray[np.float64]":
    """Return the ratios of calls that both runs have; a call that took no time alone has none."""
    ours, durations_s = together.by_rank()
    theirs, alone_s = alone.by_rank()
    _, at, there = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    above, below = durations_s[at], alone_s[there]
    known = below > 0
    return above[known] / below[known]


def _part(kind: _Kind, its: "NDArray[np.float64]") -> RatioPart:
    collective, size, datatype, op = kind
    p50, p95, p99 = np.quantile(its, (0.5, 0.95, 0.99), method="inverted_cdf")
    return RatioPart(
        collective=collective,
        communicator_size=size,
        datatype=datatype,
        op=op,
        rank_calls=len(its),
        mean=float(its.mean()),
        p50=float(p50),
        p95=float(p95),
        p99=float(p99),
        max=float(its.max()),
    )
