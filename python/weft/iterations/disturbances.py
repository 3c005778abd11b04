# SPDX-License-Identifier: LGPL-2.1-only
"""Faults and background traffic during an iteration: their files, and their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from weft import _core
from weft.base import inputs
from weft.base.errors import WeftError, named
from weft.runs.faults import description as fault_description
from weft.runs.faults.changes import of_faults
from weft.runs.faults.description import PreparedFaults
from weft.runs.record import complete_faults
from weft.runs.record_data import FaultsPart, TrafficPart
from weft.runs.traffic import description as traffic_description
from weft.runs.traffic.description import PlacedTraffic

_NO_CALLS = (
    *("broken_calls", "resent_calls", "rebuilt_calls", "calls_on_hosts", "lost_in_calls_s"),
)
"""Counters of calls that switches execute for MPI programs: an iteration has none."""


@dataclass(frozen=True)
class Disturbances:
    """Faults and traffic that have passed all checks."""

    faults: PreparedFaults | None
    traffic: Sequence[PlacedTraffic]

    @property
    def fault_text(self) -> str:
        """Description for the core; empty if there are no faults."""
        return fault_description.describe(self.faults) if self.faults else ""

    @property
    def traffic_text(self) -> str:
        """Description for the core; empty if there is no traffic."""
        return traffic_description.describe(self.traffic) if self.traffic else ""


def prepare(
    faults: Path | None,
    traffic: Path | None,
    changes: Sequence[str],
    fabric: _core.Fabric,
    ranks: int,
) -> Disturbances:
    """Read the files of an iteration whose ranks are on the first hosts of a fabric.

    `changes` are those of the fabric and of the fault file. Raises `WeftError`.
    """
    of_file = of_faults(changes)
    if of_file and faults is None:
        raise WeftError(
            f"{named('changes')}: found {of_file[0]!r}, a key of fault files; name one by"
            f" {named('faults')}, or leave it out"
        )
    for path, option in ((faults, "faults"), (traffic, "traffic")):
        if path is not None:
            inputs.declare_inputs({path: f"{named(option)} names to be read"})
    return Disturbances(
        fault_description.prepare(faults, of_file, fabric) if faults else None,
        traffic_description.prepare(traffic, fabric, fabric.hosts[:ranks]) if traffic else (),
    )


def faults_part(text: str, prepared: PreparedFaults) -> FaultsPart:
    """Return the record's part about faults."""
    part = FaultsPart.from_json({**msgspec.json.decode(text), **dict.fromkeys(_NO_CALLS, 0)})
    complete_faults(part, prepared)
    return part


def traffic_parts(text: str) -> list[TrafficPart]:
    """Return the record's rows of background traffic."""
    return [TrafficPart.from_json(row) for row in msgspec.json.decode(text)]
