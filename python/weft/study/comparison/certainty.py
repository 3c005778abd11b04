# SPDX-License-Identifier: LGPL-2.1-only
"""Certainty of a gain, from the simulator's errors where calls were measured.

data/errors.csv has the error of each measured call. A side of a comparison (switches, or hosts) is
expected to be off by what eight of ten calls like it were off by at most:

- of the same device, if calls of it were measured: for switches the presets of switch and NIC, for
  hosts the fabric or its presets of hosts and messages;
- otherwise, and beyond what was measured of the device (rate, size, hosts, ranks per host), of
  machines to which no value was fitted.

Calls are alike in the size (up to 4 KiB, up to 256 KiB, larger), in whether a host has several
ranks, and in whether they cross several switches. Where fewer than eight such calls were measured,
the conditions are dropped in this order: switches, ranks, size.

A run is as uncertain as the shares of its time: errors of calls on one side add up, since the same
model makes them, and the two sides' are combined in quadrature. Time outside offloaded collectives
is on both sides alike, and not counted.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from msgspec import field

from weft.base import paths
from weft.base.models import Model, Number
from weft.base.units import format_size

if TYPE_CHECKING:
    from weft._core import Fabric

ERRORS = "errors.csv"
COLUMNS = (
    *("side", "table", "device", "collective", "bytes", "ranks", "ppn", "switches", "rate_Gbps"),
    *("simulated_us", "measured_us", "unfitted"),
)
SWITCHES, HOSTS = "switches", "hosts"
LEVEL = 0.8
"""Share of measured cases that intervals contain."""
_LEAST = 8
_SMALL, _MEDIUM = 4096, 262144
_FASTER = 1.05  # links this much faster than the measured ones are beyond the measurements


@dataclass(frozen=True)
class Device:
    """Hardware and library of a side."""

    name: str
    rate_Bps: float  # noqa: N815 (as records and presets name it)
    """Bandwidth of the hosts' cables."""


@dataclass(frozen=True)
class Call:
    """Kind of call, with its share of the time of a side's run."""

    collective: str
    bytes: float
    ranks: int
    ppn: int
    switches: int
    share: float = 1.0


@dataclass(frozen=True)
class ErrorRow:
    """One measured call."""

    side: str
    table: str
    device: str
    call: Call
    rate_Bps: float  # noqa: N815
    error: float
    """ln(simulated / measured)."""
    unfitted: bool


class Certainty(Model, kw_only=True):
    """Interval of a gain, and what it rests on."""

    low: Number
    high: Number
    level: Number = LEVEL
    basis: str
    """`calibration` of the fabric, or `measurements` of data/errors.csv."""
    says: str
    """`faster`, `slower` or `cannot tell`."""
    beyond: list[str] = field(default_factory=list)
    """Values outside what was measured."""


@dataclass(frozen=True)
class Machine:
    """Devices and entries of a fabric, by which its measurements are known."""

    devices: Mapping[str, Device]
    """Device of each side."""
    entries: Sequence[int]
    """Switch of each host's cable."""

    def switches(self, hosts: int) -> int:
        """Return 1 if a call of so many hosts is on one switch, else 2."""
        return min(2, len(set(self.entries[:hosts])))


def machine_of(fabric: "Fabric") -> Machine:
    """Return what measurements of a fabric are known by."""
    hosts = len(fabric.hosts)
    cables = [cable for cable in fabric.cables() if cable["lower"] < hosts]
    rate = min(cable["bandwidth_Bps"] for cable in cables)
    smart = next((one["preset"] for one in fabric.switches if one["smart"]), "")
    messages = fabric.mpi["preset"] if fabric.mpi else ""
    own = f"{fabric.host['preset']}+{messages}" if messages else fabric.name
    devices = {SWITCHES: f"{smart}+{fabric.nic['preset']}", HOSTS: own}
    return Machine(
        {side: Device(name, rate) for side, name in devices.items()},
        [cable["upper"] for cable in cables],
    )


@cache
def error_rows() -> tuple[ErrorRow, ...]:
    """Return the measured calls that ship with weft."""
    with paths.data(ERRORS).open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return tuple(
        ErrorRow(
            row["side"],
            row["table"],
            row["device"],
            Call(
                row["collective"],
                float(row["bytes"]),
                *(int(row[name]) for name in ("ranks", "ppn", "switches")),
            ),
            float(row["rate_Gbps"]) * 1e9 / 8,
            math.log(float(row["simulated_us"]) / float(row["measured_us"])),
            row["unfitted"] == "1",
        )
        for row in csv.DictReader(lines)
    )


def expected_error(
    side: str, device: str, call: Call, rows: Sequence[ErrorRow] | None = None
) -> float:
    """Return by how much, in ln, a call may be off in eight of ten cases."""
    known = [row for row in (error_rows() if rows is None else rows) if row.side == side]
    own = [row for row in known if row.device == device]
    others = [row for row in known if row.unfitted]
    found = _alike(call, own) if len(own) >= _LEAST else _alike(call, others)
    sizes = sorted(abs(row.error) for row in found)
    return sizes[math.ceil(LEVEL * len(sizes)) - 1] if sizes else math.inf


def _alike(call: Call, rows: Sequence[ErrorRow]) -> Sequence[ErrorRow]:
    """Return the rows of calls like this one, with as many conditions as leave enough."""
    same_size = [row for row in rows if _size(row.call) == _size(call)]
    crowded = [row for row in same_size if (row.call.ppn > 1) == (call.ppn > 1)]
    trees = [row for row in crowded if row.call.switches == call.switches]
    return next((some for some in (trees, crowded, same_size) if len(some) >= _LEAST), rows)


def _size(call: Call) -> int:
    return (call.bytes > _SMALL) + (call.bytes > _MEDIUM)


@dataclass(frozen=True)
class Side:
    """Expected error of one side of a comparison."""

    width: float
    """ln of the factor by which the time of its run may be off."""
    beyond: Sequence[str]
    """Values outside what was measured."""


def of_side(side: str, machine: Machine, calls: Sequence[Call]) -> Side:
    """Return by how much the time of a run of these calls may be off."""
    device = machine.devices[side]
    beyond = beyond_measured(side, device, calls)
    known = "" if beyond else device.name
    width = sum(call.share * expected_error(side, known, call) for call in calls)
    return Side(width, [f"{side}: {one}" for one in beyond])


def of_gain(speed_up: float, sides: Sequence[Side]) -> Certainty:
    """Return the interval of a gain."""
    wide = math.exp(combined(sides))
    return certainty(speed_up / wide, speed_up * wide, "measurements", sides)


def combined(sides: Sequence[Side]) -> float:
    """Return ln of the factor by which a gain may be off."""
    return math.hypot(*(one.width for one in sides))


def certainty(low: float, high: float, basis: str, sides: Sequence[Side]) -> Certainty:
    """Return what an interval says."""
    says = "faster" if low > 1 else "slower" if high < 1 else "cannot tell"
    beyond = [text for one in sides for text in one.beyond]
    return Certainty(low=low, high=high, basis=basis, says=says, beyond=beyond)


def beyond_measured(side: str, device: Device, calls: Sequence[Call]) -> list[str]:
    """Return values outside what was measured with the device, each with the measured range."""
    rows = [row for row in error_rows() if row.side == side]
    own = [row for row in rows if row.device == device.name] or rows
    if not own or not calls:
        return []
    found = []
    fastest = max(row.rate_Bps for row in own)
    if device.rate_Bps > _FASTER * fastest:
        found.append(f"cables of {_gigabits(device.rate_Bps)} (up to {_gigabits(fastest)})")
    largest, most = max(call.bytes for call in calls), max(row.call.bytes for row in own)
    if largest > most:
        found.append(f"calls of {format_size(int(largest))} (up to {format_size(int(most))})")
    hosts = max(call.ranks // call.ppn for call in calls)
    if hosts > (most_hosts := max(row.call.ranks // row.call.ppn for row in own)):
        found.append(f"{hosts} hosts (up to {most_hosts})")
    ppn = max(call.ppn for call in calls)
    if ppn > (most_ppn := max(row.call.ppn for row in own)):
        found.append(f"{ppn} ranks a host (up to {most_ppn})")
    return found


def _gigabits(rate_Bps: float) -> str:  # noqa: N803
    return f"{rate_Bps * 8e-9:g} Gb/s"
