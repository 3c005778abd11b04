# SPDX-License-Identifier: LGPL-2.1-only
"""Measured calls of data/errors.csv: the devices they cover, and values beyond the measured ranges.

Each side of a comparison (switches or hosts) is identified by its device: the presets of switch and
NIC, the presets of hosts and messages, or else the fabric. The measured range of a device covers
cable rate, number of hosts, ranks per host and size of calls. Values beyond this range are used but
reported; with `strict` they are an error. The same holds for combinations that no network has:
cables faster than the ports of their switch, and NICs or messages of InfiniBand on Ethernet
switches, or vice versa.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.measured import read_rows
from weft.base.units import format_size, plural
from weft.benchmarks.bytes_of import elements_of

if TYPE_CHECKING:
    from weft._core import Fabric, Mpi

ERRORS, PRESETS = "errors.csv", "presets.csv"
COLUMNS = (
    *("side", "table", "device", "collective", "executor", "bytes", "ranks", "ppn", "switches"),
    *("rate_Gbps", "simulated_us", "measured_us", "changes", "unfitted"),
)
SWITCHES, HOSTS = "switches", "hosts"
_TABLES = {SWITCHES: ("switch.", "switches.", "nic."), HOSTS: ("host.", "mpi.", "point_to_point.")}
"""Tables of a fabric file that contain the values of each side's presets."""
_PLAIN = "star-8"
"""Shipped fabric whose [mpi] is a preset alone."""
LEFT_OUT = " left out"
"""End of the name of hosts whose errors are those of a fit to all others."""
_MOST_NAMED = 3
_FASTER = 1.05  # links faster than the measured ones by this factor are beyond the measurements


@dataclass(frozen=True)
class Device:
    """Hardware and software of a side."""

    name: str
    rate_Bps: float  # noqa: N815 (as records and presets name it)
    """Bandwidth of the hosts' cables."""


@dataclass(frozen=True)
class Call:
    """Kind of call, with its share of the run time of a side."""

    collective: str
    bytes: float
    ranks: int
    ppn: int
    switches: int
    executor: str = ""
    """Mechanism of the switches or algorithm of the hosts, as named in records."""
    share: float = 1.0

    @property
    def hosts(self) -> int:
        """Number of hosts at `ppn` ranks per host."""
        return -(-self.ranks // self.ppn)


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
    changes: tuple[str, ...] = ()
    """Values that replaced values of the side's presets, each as TABLE.KEY=VALUE."""


@dataclass(frozen=True)
class Machine:
    """Devices and host connections of a fabric, which identify its measurements."""

    fabric: str
    devices: Mapping[str, Device]
    """Device of each side; no switches if none computes."""
    hosts: int
    """Number of hosts on which ranks are placed."""
    entries: Sequence[int]
    """Switch that each host is connected to."""
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values that replace values of each side's presets, each as TABLE.KEY=VALUE."""
    impossible: Sequence["Beyond"] = ()
    """Combinations of devices that no network has."""

    def changed(self, changes: Sequence[str]) -> "Machine":
        """Return the machine with preset values replaced by `changes`, each as TABLE.KEY=VALUE."""
        parts = [one.partition("=") for one in changes]
        values = {key.strip(): value.strip() for key, _, value in parts}
        found = {
            side: tuple(
                f"{key}={value}"
                for key, value in values.items()
                if key.startswith(tables) and not _keeps_device(key)
            )
            for side, tables in _TABLES.items()
        }
        return replace(self, changes={side: some for side, some in found.items() if some})

    def switches(self, hosts: int) -> int:
        """Return 1 if a call on this many hosts stays on one switch, else 2."""
        return min(2, len(set(self.entries[:hosts])))


def _keeps_device(key: str) -> bool:
    """Return True if a key replaces a whole preset, or does not affect times."""
    return key.endswith((".preset", ".max_ports"))


def machine_of(fabric: "Fabric") -> Machine:
    """Return the devices and connections of a fabric, which identify its measurements."""
    hosts = len(fabric.hosts)
    cables = [cable for cable in fabric.cables() if cable["lower"] < hosts]
    rate = min(cable["bandwidth_Bps"] for cable in cables)
    messages = fabric.mpi["preset"] if fabric.mpi else ""
    own = f"{fabric.host['preset']}+{messages}" if messages else fabric.name
    devices = {HOSTS: Device(own, rate)}
    smart = next((one["preset"] for one in fabric.switch_models if one["smart"]), None)
    if smart is not None:
        devices[SWITCHES] = Device(f"{smart}+{fabric.nic['preset']}", rate)
    machine = Machine(
        fabric.name,
        devices,
        len(fabric.compute_hosts),
        [cable["upper"] for cable in cables],
        impossible=impossible(fabric),
    )
    return machine.changed(fabric.changes)


def algorithm(
    fabric: "Fabric", fallback: str, collective: str, placed: tuple[int, int, int]
) -> str:
    """Return the host algorithm of a call, as named in records.

    `placed`: bytes, ranks, ranks per host.
    """
    size, ranks, ppn = placed
    passed = elements_of(collective, size, ranks)
    call = (collective, ranks, ppn, passed.count, passed.element_bytes)
    return _core.selected_algorithms(fabric, fallback, [call])[0]


@cache
def error_rows() -> tuple[ErrorRow, ...]:
    """Return the measured calls that ship with weft."""
    return tuple(
        ErrorRow(
            row["side"],
            row["table"],
            row["device"],
            Call(
                row["collective"],
                float(row["bytes"]),
                int(row["ranks"]),
                int(row["ppn"]),
                int(row["switches"]),
                row["executor"],
            ),
            float(row["rate_Gbps"]) * 1e9 / 8,
            math.log(float(row["simulated_us"]) / float(row["measured_us"])),
            row["unfitted"] == "1",
            tuple(row["changes"].split()),
        )
        for row in read_rows(paths.data(ERRORS))
    )


# ---- Measured ranges -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Range:
    """Largest values measured with a device."""

    rate_Bps: float  # noqa: N815
    bytes: float
    hosts: int
    ppn: int
    changes: frozenset[str]
    """Changed values for which the device was measured and its other values fitted."""


@dataclass(frozen=True)
class Beyond:
    """Value outside the measured range of a device."""

    side: str
    device: str
    key: str
    """Option or key of the fabric that sets the value."""
    found: str
    measured: str
    """Measured range; empty if the device was never measured."""
    exists: bool = True
    """False for combinations of devices that no network has."""

    def __str__(self) -> str:
        """Return the value and the measured range in brief."""
        return f"{self.side}: {self.found}" + (f" ({self.measured})" if self.measured else "")


def beyond_measured(side: str, machine: Machine, calls: Sequence[Call]) -> list[Beyond]:
    """Return the values outside the measured range of a side's device."""
    device = machine.devices.get(side)
    if not calls or device is None:
        return []
    known = _range(side, device.name)
    nowhere = [one for one in machine.impossible if one.side == side]
    if known is None:
        return [*nowhere, Beyond(side, device.name, "", device.name, "")]
    return [
        *nowhere,
        *_changed(side, machine, known),
        *(
            Beyond(side, device.name, key, found, f"up to {most}")
            for key, found, most in _larger(device, calls, known)
        ),
    ]


def fabric_beyond(fabric: "Fabric") -> list[Beyond]:
    """Return the values of a fabric beyond its presets' measured ranges: cables and scaled values.

    The number of hosts and the ranks per host are known only for a run.
    """
    machine = machine_of(fabric)
    found = list(machine.impossible)
    for side, device in machine.devices.items():
        known = _range(side, device.name)
        if known is not None and device.rate_Bps > _FASTER * known.rate_Bps:
            rate, most = _gigabits(device.rate_Bps), _gigabits(known.rate_Bps)
            found.append(
                Beyond(side, device.name, "link.bandwidth", f"cables of {rate}", f"up to {most}")
            )
    for preset, row in _used(fabric):
        if row.scaled_from:
            text = f"{preset}, scaled from {row.scaled_from}: {row.rule}"
            found.append(Beyond(SWITCHES, preset, "preset", text, ""))
    return found


def scaled(fabric: "Fabric") -> list[str]:
    """Return the basis of the fabric's scaled presets, one line each."""
    return [
        f"  {preset}: scaled from {row.scaled_from}: {row.rule}"
        for preset, row in _used(fabric)
        if row.scaled_from
    ]


@dataclass(frozen=True)
class _Preset:
    """Row of data/presets.csv."""

    port_Bps: float  # noqa: N815
    """Documented bandwidth of a port; infinite if none is known."""
    network: str
    """Ethernet or InfiniBand; empty if unknown."""
    scaled_from: str
    rule: str


@cache
def _presets() -> Mapping[str, _Preset]:
    return {
        row["preset"]: _Preset(
            float(row["port_Gbps"] or "inf") * 1e9 / 8,
            row["network"],
            row["scaled_from"],
            row["rule"],
        )
        for row in read_rows(paths.data(PRESETS))
    }


def port_rate(preset: str) -> float:
    """Return the documented bandwidth of a switch's or NIC's port, in B/s; infinite if unknown."""
    return _presets()[preset].port_Bps if preset in _presets() else math.inf


def is_scaled(preset: str) -> bool:
    """Return True if a preset's values were scaled from another preset."""
    return preset in _presets() and bool(_presets()[preset].scaled_from)


def _used(fabric: "Fabric") -> Iterator[tuple[str, _Preset]]:
    """Yield the rows of the presets of a fabric's switches and NICs."""
    names = dict.fromkeys((*(one["preset"] for one in fabric.switch_models), fabric.nic["preset"]))
    yield from ((name, _presets()[name]) for name in names if name in _presets())


def _fast_ports(fabric: "Fabric") -> Iterator[Beyond]:
    """Yield the first cable that is faster than its switch's ports, for each switch preset."""
    hosts, presets = len(fabric.hosts), [one["preset"] for one in fabric.switches]
    rates = {name: row.port_Bps for name, row in _used(fabric)}
    seen = {name for name in presets if math.isinf(rates.get(name, math.inf))}
    if seen.issuperset(presets):
        return
    for cable in fabric.cables():
        for end in (cable["lower"], cable["upper"]):
            preset = presets[end - hosts] if end >= hosts else ""
            if end < hosts or preset in seen or cable["bandwidth_Bps"] <= 1.0001 * rates[preset]:
                continue
            seen.add(preset)
            found = f"cable {cable['name']} of {_gigabits(cable['bandwidth_Bps'])}"
            port = f"a port of {_with_network(preset)} has {_gigabits(rates[preset])}"
            yield Beyond(SWITCHES, preset, "link.bandwidth", found, port, exists=False)


def _mixed_networks(fabric: "Fabric") -> Iterator[Beyond]:
    """Yield the NIC and the messages of another kind of network than that of the switches."""
    known = _presets()
    names = (one["preset"] for one in fabric.switch_models)
    switch = next((name for name in names if name in known and known[name].network), None)
    if switch is None:
        return
    nic, messages = fabric.nic["preset"], _messages_of(fabric)
    for side, key, name, what in (
        (SWITCHES, "nic", nic, "NICs"),
        (HOSTS, "mpi", messages, "messages"),
    ):
        network = known[name].network if name in known else ""
        if network and network != known[switch].network:
            found = f"{what} of {_with_network(name)} on {_with_network(switch)}"
            yield Beyond(side, name, f"{key}.preset", found, "a mixture of networks", exists=False)


def _messages_of(fabric: "Fabric") -> str:
    """Return the preset or fabric whose [mpi] a fabric has, by name or by value; else empty."""
    if fabric.mpi is None or fabric.mpi["preset"]:
        return fabric.mpi["preset"] if fabric.mpi else ""
    own = _costs(fabric.mpi)
    return next((name for name, costs in _known_messages() if costs == own), "")


@cache
def _known_messages() -> Sequence[tuple[str, Mapping[str, object]]]:
    """Return the costs of messages of presets and of the fabrics in data/presets.csv."""
    kinds, shipped = set(_core.list_presets("messages")), set(_core.list_fabrics())
    found = []
    for name in _presets():
        fabric = None
        if name in kinds:
            fabric = _core.load_fabric(_PLAIN, [f"mpi.preset={name}"])
        elif name in shipped:
            fabric = _core.load_fabric(name)
        if fabric is not None and fabric.mpi is not None:
            found.append((name, _costs(fabric.mpi)))
    return found


def _costs(mpi: "Mpi") -> Mapping[str, object]:
    """Return the costs of messages without those of reductions, which are the library's."""
    return {
        key: value for key, value in mpi.items() if key not in ("preset", "reduction_overhead_s")
    }


def _with_network(preset: str) -> str:
    """Return a preset with its kind of network, if known."""
    network = _presets()[preset].network
    return f"{preset} ({network})" if network else preset


def impossible(fabric: "Fabric") -> list[Beyond]:
    """Return the combinations of a fabric's devices that no network has."""
    return [*_fast_ports(fabric), *_mixed_networks(fabric)]


def run_beyond(fabric: "Fabric", ranks: int, ppn: int, *, offloads: bool) -> list[Beyond]:
    """Return the values known before a run that are outside the measured range."""
    machine = machine_of(fabric)
    call = Call("", 0, ranks, ppn, 1)
    found = list(machine.impossible)
    for side in (SWITCHES, HOSTS) if offloads else (HOSTS,):
        found += beyond_measured(side, machine, [call])
    return list(dict.fromkeys(found))


def refuse(found: Sequence[Beyond]) -> None:
    """Refuse values outside the measured range, for `strict`. Raises WeftError."""
    if not found:
        return
    others = list(dict.fromkeys(map(str, found[1:])))
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    also = f"; also not measured: {'; '.join(others[:_MOST_NAMED])}{more}" if others else ""
    raise WeftError(
        f"{named('strict')}: {_refusal(found[0])}{also}; choose measured values or presets, or"
        f" leave out {named('strict')}"
    )


def _refusal(one: Beyond) -> str:
    """Return the value that was not measured, and what was."""
    if one.key:
        known = one.measured or "never measured"
        if one.exists:
            known = known.replace("up to", "measured up to")
        return f"preset {one.device} of the {one.side}: {one.key}: found {one.found}; {known}"
    names = {row.device for row in error_rows() if row.side == one.side}
    devices = sorted(name for name in names if not name.endswith(LEFT_OUT))
    near = get_close_matches(one.device, devices, n=_MOST_NAMED, cutoff=0)
    more = f" and {len(devices) - len(near)} more" if len(devices) > len(near) else ""
    presets = f"preset {one.device} of the {one.side}"
    what = presets if "+" in one.device else f"the {one.side} of {one.device}"
    return f"nothing was measured with {what}, but with {', '.join(near)}{more}"


def said(found: Sequence[Beyond]) -> str:
    """Return values outside the measured range in one line, impossible ones first."""
    heads = {False: "exists nowhere", True: "not measured"}
    parts = {
        head: dict.fromkeys(str(one) for one in found if one.exists == exists)
        for exists, head in heads.items()
    }
    return "; ".join(f"{head}: {'; '.join(values)}" for head, values in parts.items() if values)


def _changed(side: str, machine: Machine, known: _Range) -> Iterator[Beyond]:
    """Yield the changed values for which a side's device was not measured."""
    for change in machine.changes.get(side, ()):
        if change not in known.changes:
            key = change.partition("=")[0]
            yield Beyond(side, machine.devices[side].name, key, key, "")


def _larger(device: Device, calls: Sequence[Call], known: _Range) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and measured maximum of each value beyond the range."""
    if device.rate_Bps > _FASTER * known.rate_Bps:
        found = f"cables of {_gigabits(device.rate_Bps)}"
        yield "link.bandwidth", found, _gigabits(known.rate_Bps)
    largest = max(call.bytes for call in calls)
    if largest > known.bytes:
        yield "bytes", f"calls of {format_size(int(largest))}", format_size(int(known.bytes))
    hosts, ppn = (max(numbers) for numbers in zip(*((c.hosts, c.ppn) for c in calls), strict=True))
    if hosts > known.hosts:
        yield "hosts", plural(hosts, "host"), str(known.hosts)
    if ppn > known.ppn:
        yield "ppn", f"{plural(ppn, 'rank')} a host", str(known.ppn)


@cache
def _range(side: str, device: str) -> _Range | None:
    rows = [row for row in error_rows() if (row.side, row.device) == (side, device)]
    if not rows:
        return None
    return _Range(
        max(row.rate_Bps for row in rows),
        max(row.call.bytes for row in rows),
        max(row.call.hosts for row in rows),
        max(row.call.ppn for row in rows),
        frozenset(change for row in rows if not row.unfitted for change in row.changes),
    )


def _gigabits(rate_Bps: float) -> str:  # noqa: N803
    return f"{rate_Bps * 8e-9:g} Gb/s"
