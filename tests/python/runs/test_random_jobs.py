# SPDX-License-Identifier: LGPL-2.1-only
"""Random jobs files: jobs produce the results of separate runs. Every second file has background
traffic. Jobs that share nothing do not change each other's times.

The programs come from other tests, and check their results themselves. Their output does not depend
on times, so it must equal the output of `weft run`.
"""

import math
import os
import random
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import FAILURES, job, outcome, part, results, said
from tests.support.places import TESTS
from tests.support.traffic import random_traffic
from weft.runs.record import Record

# `WEFT_RANDOM_JOBS=300 pytest …/test_random_jobs.py` runs that many files.
FILES = int(os.environ.get("WEFT_RANDOM_JOBS", "16"))

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "intercommunicators.c": ("collectives", "{seed}", "8"),
    "jobs.c": ("sum", "3"),
    "matched.c": ("{seed}", "20"),
    "neighbors.c": ("random", "{seed}", "6"),
    "partitioned.c": ("8", "6", "3"),
    "persistent.c": ("{seed}", "2"),
    "random_programs": ("{seed}", "0", "4"),
    "reductions.c": ("{seed}", "4"),
    "reductions_cxx.cpp": (),
    "reductions_f90.f90": (),
    "window_locks.c": (),
}
"""Sources of programs and their arguments."""
CLOSE = 1e-9
ROUNDING_S = 1e-18
FEWEST, MOST = 4, 8
"""Minimum and maximum ranks of a job."""
FABRICS = ("tofino-64x64", "fat-tree-1024", "dragonfly-16x16")
OFFLOADS = ("stream", "message", "auto", "off")
PLACEMENTS = ("contiguous", "round-robin", "random", "fragments")
SHARING = ("first-come", "quota", "exclusive", "reserved", "best-effort")
STRANGERS = ("sum", *FAILURES)
"""Jobs of jobs.c that share nothing with other jobs."""
TIED = ("random_programs", "window_locks.c")
"""Programs whose times depend on which of the ranks that request a lock simultaneously gets it.
Events of other jobs change the rounding of times, and thereby this order."""


@cache
def program(name: str) -> str:
    return str(compiled.program(TESTS / "smpi" / name))


@cache
def lines_alone(name: str, arguments: tuple[str, ...], ranks: int) -> list[str]:
    """Return the lines that a program prints in a separate run."""
    record = weft.run(program(name), arguments, ranks=ranks, fabric="tofino-64x64", offload="off")
    record.check()
    return sorted(record.output.splitlines())


@cache
def trace(folder: Path, ranks: int) -> str:
    target = folder / f"trace-{ranks}"
    weft.record_trace(
        program("jobs.c"), target, arguments=["sum", "2"], ranks=ranks, fabric="tofino-16"
    )
    return str(target)


class RandomJobs:
    """Jobs drawn from a seed, with the expected results of each."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.draw = random.Random(seed)
        self.folder = folder
        self.fabric = self.draw.choice(FABRICS)
        self.outcomes: dict[str, tuple[str, int]] = {}
        self.lines: dict[str, list[str]] = {}
        self.tied: set[str] = set()
        self.tables = [self.table(f"job-{number}") for number in range(self.draw.randint(1, 5))]
        self.switch = self.policy()
        self.traffic = random_traffic(self.draw, folder) if self.draw.random() < 0.5 else None

    def table(self, name: str) -> dict[str, Any]:
        ranks = self.draw.randint(FEWEST, MOST)
        kind = self.draw.choice(["program"] * 6 + ["failure", "trace"])
        if kind == "trace":
            table: dict[str, Any] = {"name": name, "trace": trace(self.folder, ranks)}
            self.expect(name, ("completed", 0), [])
        elif kind == "failure":
            table = self.failing(name, self.draw.choice(list(FAILURES)), ranks)
        else:
            source = self.draw.choice(list(PROGRAMS))
            seed = self.draw.randint(1, 5)
            words = tuple(word.format(seed=seed) for word in PROGRAMS[source])
            table = job(name, program(source), *words, ranks=ranks)
            self.tied |= {name} if source in TIED else set()
            self.expect(name, ("completed", 0), lines_alone(source, words, ranks))
        table["ppn"] = self.draw.randint(1, 2)
        table["placement"] = self.draw.choice(PLACEMENTS)
        table["seed"] = self.draw.randint(0, 99)
        table["offload"] = self.draw.choice(OFFLOADS)
        if self.draw.random() < 0.5:
            table["start"] = f"{self.draw.randint(1, 300)}us"
        return table

    def policy(self) -> dict[str, Any]:
        """Return the policy by which jobs share the switches."""
        return {
            "switch.channel_sharing": self.draw.choice(SHARING),
            "switch.channels": self.draw.choice([2, 4, 32]),
            "switch.slots": self.draw.choice([1, 16, 256]),
            "switch.job_channels": self.draw.randint(1, 2),
            "switch.streaming_from": self.draw.choice(["64B", "1MiB"]),
            "switch.stream_sharing": self.draw.choice(["all", "locked"]),
        }

    def failing(self, name: str, how: str, ranks: int) -> dict[str, Any]:
        self.expect(name, FAILURES.get(how, ("completed", 0)), ["right"] if how == "sum" else [])
        return job(name, program("jobs.c"), how, 1, ranks=ranks)

    def expect(self, name: str, how: tuple[str, int], lines: list[str]) -> None:
        self.outcomes[name] = how
        self.lines[name] = lines

    def run(self, tables: Iterable[dict[str, Any]]) -> Record:
        """Run jobs, and check their outcomes and results."""
        record = weft.run_jobs(
            list(tables), fabric=self.fabric, set=self.switch, traffic=self.traffic
        )
        for one in record.jobs or ():
            assert outcome(record, one.name) == self.outcomes[one.name], one.outcome.message
            assert sorted(said(record, one.name)) == self.lines[one.name]
        return record

    def placed(self, record: Record) -> list[dict[str, Any]]:
        """Return the tables with the hosts chosen by the placements."""
        tables = [{**table, "hosts": part(record, table["name"]).hosts} for table in self.tables]
        for table in tables:
            del table["placement"], table["seed"]
        return tables

    def stranger(self, record: Record) -> dict[str, Any]:
        """Return a job on a switch with hosts that no other job uses; on a star, on other hosts."""
        used = {host for one in record.jobs or () for host in one.hosts}
        names = weft.Fabric(self.fabric).hosts
        per_switch = {"fat-tree-1024": 8, "dragonfly-16x16": 1, "tofino-64x64": 1}[self.fabric]
        leaves = [names[at : at + per_switch] for at in range(0, len(names), per_switch)]
        free = [name for leaf in leaves if not used & set(leaf) for name in leaf]
        hosts = free[:per_switch] if per_switch > 1 else free[: self.draw.randint(1, 4)]
        table = self.failing("stranger", self.draw.choice(STRANGERS), 4)
        if self.fabric == "dragonfly-16x16":
            hosts = hosts[:1]
        return {**table, "hosts": hosts, "offload": "off", "start": f"{self.draw.randint(1, 99)}us"}


def same(one: Any, other: Any) -> bool:
    """Return true if results are equal except for the rounding of times."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=ROUNDING_S)
    return bool(one == other)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FILES))
def test_each_job_is_right_whatever_the_others_do(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    jobs = RandomJobs(seed, tmp_path_factory.getbasetemp())
    record = jobs.run(jobs.tables)
    if jobs.traffic:  # it shares links with the stranger
        return
    tables = jobs.placed(record)
    beside = jobs.run([*tables, jobs.stranger(record)])
    for table in tables:
        name = table["name"]
        if name not in jobs.tied:
            assert same(results(beside, name), results(record, name))
