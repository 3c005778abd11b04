# SPDX-License-Identifier: LGPL-2.1-only
"""Provenance of the numbers: programs, versions, and the accuracy of the fabrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from weft import _core
from weft.campaign.pairs import OFF, OFFLOAD
from weft.report.data.study import Study
from weft.report.page.fabrics import variants


@dataclass(frozen=True)
class Statement:
    """Known accuracy of a fabric's simulated times."""

    fabric: str
    about: str
    changes: Sequence[str]
    """Changed keys of each variant to which the accuracy applies."""
    known: Sequence[str]


def accuracy(study: Study) -> list[Statement]:
    """Return the accuracy of each fabric; variants with equal accuracy share a statement."""
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for one in variants(study):
        states = {study.records[row]["state"] for row in one.rows}
        if one.refused and "done" not in states:
            continue  # refused runs are listed under failures
        known = tuple(measured.accuracy for measured in one.measurements)
        changes = ", ".join(one.changes) or "as its file has it"
        alike.setdefault((one.fabric, one.about, known), []).append(changes)
    return [Statement(*key[:2], changes, key[2]) for key, changes in alike.items()]


def computation(study: Study) -> str:
    """Return a sentence on the share of computation in the simulated times."""
    programs = {point["program"] for point in study.points} - set(study.iterations.models)
    if not programs:
        return (
            "Computation takes the time of the GPU's preset: operations at a rate that depends on"
            " the shapes, and bytes of memory (docs/training-models.md)."
        )
    speeds = {point.get("host_speed", "") for point in study.points}
    without = (
        "computation took no simulated time (no host_speed): times include communication and sleep"
        " only"
    )
    if speeds == {""}:
        return f"{without[0].upper()}{without[1:]}."
    timed = (
        "computation was timed on the simulating machine and scaled by host_speed"
        f" {', '.join(sorted(speeds - {''}))}: these times vary slightly between runs"
    )
    if "" not in speeds:
        return f"In all runs {timed}."
    return f"In some runs {timed}; in the others {without}."


def hosts_algorithms(study: Study) -> str:
    """Return a phrase for the algorithms of collectives that were not offloaded."""
    off = [row for row, point in enumerate(study.points) if point.get(OFFLOAD) == OFF]
    library = [row for row in off if row not in study.best_rows]
    said = _used(study, library, "With offload = off the hosts executed")
    best = _used(study, sorted(study.best_rows), "The fastest algorithms (best) were")
    return f"{said} {best}".strip()


def _used(study: Study, rows: Sequence[int], said: str) -> str:
    """Return a phrase for the algorithms of some runs."""
    hosts = [study.records[row]["run"] for row in rows]
    if not hosts or study.calls.is_empty():
        return ""
    used = study.calls.filter(pl.col("run").is_in(hosts)).select("collective", "algorithm").unique()
    by: dict[str, list[str]] = {}
    for collective, algorithm in sorted(used.iter_rows()):
        by.setdefault(collective, []).append(algorithm or "an algorithm of their own")
    how = "; ".join(f"{name} by {' or '.join(found)}" for name, found in by.items())
    return f"{said} {how}." if how else ""


def versions() -> Iterator[tuple[str, str]]:
    """Yield the versions of the simulator; runs of other versions are not shown."""
    yield "weft", _core.version
    yield "SimGrid", _core.simgrid_version
