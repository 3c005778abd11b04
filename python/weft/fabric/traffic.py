# SPDX-License-Identifier: LGPL-2.1-only
"""Load of a fabric in a run: utilisation of cables, and bytes reduced by switches."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named
from weft.base.units import format_seconds, plural
from weft.runs.record import Record, read_record

if TYPE_CHECKING:
    from weft._core import Fabric


@dataclass(frozen=True)
class Traffic:
    """Load of one run, by cable (the busier of its two links) and by switch name."""

    title: str
    by_cable: Sequence[float]
    by_switch: dict[str, float]

    def utilisation(self, cables: Sequence[int]) -> float:
        """Return the highest utilisation of these cables."""
        return max(self.by_cable[cable] for cable in cables)

    @property
    def utilisation_max(self) -> float:
        """The utilisation of the busiest link."""
        return max(self.by_cable)

    @property
    def reduced_max(self) -> float:
        """Maximum over the switches of the bytes reduced."""
        return max(self.by_switch.values())


def read_traffic(path: Path, fabric: "Fabric") -> Traffic:
    """Read the record of a run, which must have used this fabric."""
    return traffic_of(read_record(path), fabric, str(path))


def traffic_of(record: Record, fabric: "Fabric", source: str = "the record") -> Traffic:
    """Return the load of a run, which must have used this fabric; messages name its source."""
    _check_fabric(source, record, fabric)
    utilisation = {link.name: link.utilisation for link in record.links}  # of used links
    by_cable = [
        max(utilisation.pop(f"{cable['name']}.{way}", 0.0) for way in ("up", "down"))
        for cable in fabric.cables()
    ]
    for name in utilisation:
        raise _other_fabric(source, f"it has a link '{name}'", fabric)
    try:
        reduced = {switch.name: switch.bytes_reduced for switch in record.switches}
        by_switch = {switch["name"]: reduced[switch["name"]] for switch in fabric.switches}
    except KeyError as error:
        raise _other_fabric(source, f"it says nothing about {error}", fabric) from None
    return Traffic(_title(record), by_cable, by_switch)


def _check_fabric(source: str, record: Record, fabric: "Fabric") -> None:
    ran_on = record.fabric
    if (ran_on.name, ran_on.links) != (fabric.name, fabric.links):
        problem = f"it ran on '{ran_on.name}' with {plural(ran_on.links, 'link')}"
        raise _other_fabric(source, problem, fabric)


def _other_fabric(source: str, problem: str, fabric: "Fabric") -> WeftError:
    return WeftError(
        f"{named('record')}:"
        f" {source} is not a run on '{fabric.name}' with {plural(fabric.links, 'link')}:"
        f" {problem}; name the fabric of the run"
    )


def _title(record: Record) -> str:
    program = Path(record.program).name or "a program"
    return (
        f"{program} on {plural(record.ranks, 'rank')}, offload {record.offload},"
        f" {format_seconds(record.simulated_time_s)} of simulated time"
    )
