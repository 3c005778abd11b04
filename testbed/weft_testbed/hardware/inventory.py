# SPDX-License-Identifier: LGPL-2.1-only
"""Resources of a testbed: P4 chassis, servers, layer 2 switches, and the fixed cables.

A port is written `DEVICE:PORT`. Chassis ports have numbers: those on the front from 1, and above
them internal ones that only recirculate. A looping port (loopback or recirculation) returns every
frame sent to it. A file may have several chassis; an `Inventory` covers one of them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from weft.base import options
from weft.base.errors import WeftError, named, suggestion
from weft.base.options import Options
from weft.base.units import natural_order
from weft.base.user_files import UnreadableError, read_text
from weft_testbed.hardware import cables
from weft_testbed.hardware.cables import Port
from weft_testbed.hardware.medians import measured

FOLDER = Path(__file__).resolve().parent.parent / "inventories"
"""Shipped inventories and P4 programs."""
Forwarding = Literal["cut-through", "store-and-forward"]
Fec = Literal["none", "fc", "rs"]
FECS: tuple[Fec, ...] = ("none", "fc", "rs")
FORWARDINGS: tuple[Forwarding, Forwarding] = ("cut-through", "store-and-forward")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
# Port numbers of v1model have nine bits, and the last one means "drop" (p4lang/p4c, v1model.p4).
MOST_PORTS = 510
# A Tofino parser has 256 TCAM rows (p4lang/p4c, backends/tofino/bf-asm/parser.h:
# PARSER_TCAM_DEPTH). Each value of a set takes one, and so do the program's four other transitions.
MOST_PARSER_VALUES = 256 - 4
# Maximum length of interface names in Linux (IFNAMSIZ, less the terminating zero).
_NIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class ChassisPort:
    """Port of the chassis."""

    number: int
    speed: int
    pipe: int
    kind: Literal["front", "loopback", "recirculation"]
    device: int
    """Port number in the switch's tables."""
    fec: Fec


@dataclass(frozen=True)
class Chassis:
    """The P4 switch."""

    name: str
    ports: Mapping[int, ChassisPort]
    slices: int
    max_sharing: int
    forwarding: Forwarding
    pass_ns: float
    parser_values: int
    """Size of the parser's set of looping ports in the program for Tofino."""
    taken: Mapping[int, int] = field(default_factory=dict)
    """Bits/s that kept experiments use, by looping port."""

    def room(self, port: ChassisPort) -> int:
        """Return the bits/s still available on a looping port."""
        return port.speed * self.max_sharing - self.taken.get(port.number, 0)

    def device(self, number: int) -> int:
        """Return the device port of a port; virtual ports have their own numbers."""
        return self.ports[number].device if number in self.ports else number

    @property
    def loops(self) -> list[ChassisPort]:
        """Ports that return frames."""
        return [port for port in self.ports.values() if port.kind != "front"]


@dataclass(frozen=True)
class Server:
    """Server with its NIC ports and their addresses."""

    name: str
    macs: Mapping[str, str]
    speed: int

    @property
    def ports(self) -> list[Port]:
        """Ports in order."""
        return [Port(self.name, nic) for nic in self.macs]


@dataclass(frozen=True)
class Layer2:
    """An external layer 2 switch."""

    name: str
    count: int
    speed: int
    forwarding: Forwarding
    latency_ns: float

    @property
    def ports(self) -> list[Port]:
        """Ports in order."""
        return [Port(self.name, str(k)) for k in range(1, self.count + 1)]


@dataclass(frozen=True)
class Inventory:
    """One chassis with the devices cabled to it; `text` is the file, which may have others."""

    name: str
    description: str
    chassis: Chassis
    servers: Mapping[str, Server]
    switches: Mapping[str, Layer2]
    peers: Mapping[Port, Port]
    text: str = field(repr=False)
    several: bool = False
    """True if the file has further chassis."""

    @property
    def called(self) -> str:
        """Name for messages: the testbed's, with the chassis' if there are several."""
        return f"{self.name}, chassis {self.chassis.name}" if self.several else self.name

    @property
    def table(self) -> str:
        """The file's table of this chassis."""
        return "[[chassis]]" if self.several else "[chassis]"

    @property
    def devices(self) -> dict[str, "Server | Layer2"]:
        """Servers and layer 2 switches by name."""
        return {**self.servers, **self.switches}

    def speed(self, port: Port) -> int:
        """Return the speed of a port in bits/s."""
        if port.device == self.chassis.name:
            return self.chassis.ports[int(port.name)].speed
        return self.devices[port.device].speed

    def cabled(self, device: Server | Layer2) -> list[Port]:
        """Return the cabled ports of a device."""
        return [port for port in device.ports if port in self.peers]


def shipped() -> list[str]:
    """Return the names of the shipped inventories."""
    return sorted((path.stem for path in FOLDER.glob("*.toml")), key=natural_order)


def find(name_or_path: str) -> Path:
    """Return the file of an inventory, given by path or shipped name."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if name_or_path in shipped():
        return FOLDER / f"{name_or_path}.toml"
    raise WeftError(
        f'inventory "{name_or_path}": there is no such file, and no shipped inventory has that'
        f" name; {suggestion(name_or_path, shipped())}"
    )


def read(name_or_path: str, chassis: str | None = None) -> Inventory:
    """Read one chassis of a file or shipped inventory; by default the first."""
    return read_all(name_or_path, chassis)[0]


def read_all(name_or_path: str, chassis: str | None = None) -> list[Inventory]:
    """Read all chassis of an inventory in file order, or only the named one."""
    path = find(name_or_path)
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    is_shipped = path.resolve().parent == FOLDER
    called = f"inventory {path.stem}" if is_shipped else str(path)
    found = parse_all(text, called)
    if chassis is None:
        return found
    names = [one.chassis.name for one in found]
    if chassis not in names:
        raise WeftError(
            f"{named('chassis')}: found '{chassis}', which {called} does not have;"
            f" {suggestion(chassis, names)}"
        )
    return [found[names.index(chassis)]]


def parse(text: str, source: str) -> Inventory:
    """Return the first chassis of a text, usually the only one."""
    return parse_all(text, source)[0]


def parse_all(text: str, source: str) -> list[Inventory]:
    """Return all chassis of a text, each with the devices cabled to it.

    Devices without a cable to any chassis belong to the first. Messages cite the text by its
    source.
    """
    top = options.parse(text, source).allow(
        "testbed", "chassis", "ports", "servers", "switches", "cables"
    )
    about = top.part("testbed").allow("name", "description")
    name, description = about.text("name"), about.text("description", "")
    chassis = _all_chassis(top)
    servers = [one for table in top.parts("servers") for one in _servers(table)]
    for number, server in enumerate(servers):
        _fill_macs(server, number)
    switches = [one for table in top.parts("switches") for one in _switches(table)]
    devices: list[Server | Layer2] = [*servers, *switches]
    _unique(top, [*(one.name for one in chassis), *(one.name for one in devices)])
    _unique_macs(top, servers)
    peers = cables.lay(top, _sockets(chassis, devices))
    first = chassis[0].name
    homes = cables.homes(top, [one.name for one in chassis], peers)
    return [
        Inventory(
            name=name,
            description=description,
            chassis=one,
            servers={it.name: it for it in servers if homes.get(it.name, first) == one.name},
            switches={it.name: it for it in switches if homes.get(it.name, first) == one.name},
            peers={p: q for p, q in peers.items() if homes.get(p.device, first) == one.name},
            text=text,
            several=len(chassis) > 1,
        )
        for one in chassis
    ]


def _sockets(chassis: Sequence[Chassis], devices: Sequence[Server | Layer2]) -> cables.Sockets:
    """Return speed and kind of every port."""
    return {
        **{one.name: {str(k): (p.speed, p.kind) for k, p in one.ports.items()} for one in chassis},
        **{one.name: {port.name: (one.speed, "front") for port in one.ports} for one in devices},
    }


def _all_chassis(top: Options) -> list[Chassis]:
    one_table = not isinstance(top.values.get("chassis"), list)
    tables = [top.part("chassis")] if one_table else [*top.parts("chassis")]
    if not tables:
        top.fail("chassis", "is empty; describe the P4 switch of the testbed in a table [chassis]")
    for table in tables:
        table.allow(
            "name", "ports", "speed", "pipes", "loopback", "recirculation", "recirculation_speed",
            "max_sharing", "slices", "forwarding", "pass_latency", "device_ports", "fec",
            "parser_values",
        )  # fmt: skip
    names = [table.text("name") for table in tables]
    _unique(top, names)
    exceptions: dict[str, list[Options]] = {name: [] for name in names}
    for table in top.parts("ports"):
        table.allow("chassis", "numbers", "speed", "fec")
        name = table.text("chassis", names[0] if len(names) == 1 else None)
        if name not in names:
            table.fail("chassis", f"found {name!r}; {suggestion(name, names)}")
        exceptions[name].append(table)
    return [_chassis(table, exceptions[name]) for table, name in zip(tables, names, strict=True)]


def _chassis(table: Options, exceptions: Sequence[Options]) -> Chassis:
    count = table.integer("ports", 1, MOST_PORTS)
    pipes = table.integer("pipes", 1, count, 1)
    speeds = dict.fromkeys(range(1, count + 1), table.bandwidth("speed"))
    fecs = dict.fromkeys(speeds, _fec(table, "rs"))
    for exception in exceptions:
        for number in _numbers(exception, "numbers", range(1, count + 1)):
            speeds[number] = exception.bandwidth("speed")
            fecs[number] = _fec(exception, fecs[number])
    loopback = set(_numbers(table, "loopback", range(1, count + 1)))
    inside = _numbers(table, "recirculation", range(count + 1, MOST_PORTS + 1))
    devices = _device_ports(table, [*speeds, *inside])
    ports = {
        k: ChassisPort(
            k,
            speed,
            (k - 1) * pipes // count,
            "loopback" if k in loopback else "front",
            devices[k],
            fecs[k],
        )
        for k, speed in speeds.items()
    }
    # Internal ports are distributed round-robin over the pipes.
    for k, number in enumerate(inside):
        speed = table.bandwidth("recirculation_speed")
        ports[number] = ChassisPort(
            number, speed, k % pipes, "recirculation", devices[number], "none"
        )
    return Chassis(
        name=_name(table, table.text("name")),
        ports=ports,
        slices=table.integer("slices", 1, 4096, 256),
        max_sharing=table.integer("max_sharing", 1, 1024, 1),
        forwarding=_forwarding(table, "cut-through"),
        pass_ns=table.duration("pass_latency", f"{measured().chassis_pass}ns"),
        parser_values=_parser_values(table, len(loopback) + len(inside)),
    )


def _device_ports(table: Options, numbers: Sequence[int]) -> dict[int, int]:
    """Return the device port of each port: as listed, in port order, or identical."""
    found = _numbers(table, "device_ports", range(MOST_PORTS + 1))
    if found and len(found) != len(numbers):
        table.fail(
            "device_ports",
            f"found {len(found)} numbers; write one for each of the {len(numbers)} ports"
            " (those on the front, then those for recirculation), in their order",
        )
    return dict(zip(numbers, found or numbers, strict=True))


def _fec(table: Options, default: Fec) -> Fec:
    found = table.choice("fec", FECS, default)
    return next(one for one in FECS if one == found)


def _parser_values(table: Options, loops: int) -> int:
    """Return the size of the parser's set, which must hold every looping port and fit the TCAM."""
    if loops > MOST_PARSER_VALUES:
        table.fail(
            "loopback",
            f"found {loops} looping ports with those of recirculation; a parser can distinguish at"
            f" most {MOST_PARSER_VALUES} ports",
        )
    return table.integer("parser_values", max(1, loops), MOST_PARSER_VALUES, max(1, loops))


def _forwarding(table: Options, default: Forwarding) -> Forwarding:
    found = table.choice("forwarding", FORWARDINGS, default)
    return "cut-through" if found == "cut-through" else "store-and-forward"


def _numbers(table: Options, key: str, allowed: range) -> list[int]:
    numbers: list[int] = []
    for text in table.texts(key):
        number = int(text) if re.fullmatch(r"\d{1,6}", text) else -1
        if number not in allowed:
            table.fail(
                key,
                f"found {text!r}; allowed are port numbers from {allowed.start} to"
                f' {allowed.stop - 1}, such as ["{allowed.start}", "[5-8]"]',
            )
        if number in numbers:
            table.fail(key, f"port {number} is named twice; name it once")
        numbers.append(number)
    return numbers


def _servers(table: Options) -> Iterator[Server]:
    table.allow("name", "nics", "speed", "macs")
    names = table.expand("name", table.text("name"))
    nics = table.texts("nics") or table.fail("nics", 'is empty; name NIC ports, such as ["eth0"]')
    given = table.texts("macs")
    if given and (len(given) != len(nics) or len(names) != 1):
        table.fail("macs", f"found {len(given)}; write one for each NIC port of one server")
    for mac in given:
        if not _MAC.fullmatch(mac) or int(mac[:2], 16) & 1:
            table.fail("macs", f"found {mac!r}; write an address such as 0c:42:a1:00:00:01")
    for nic in nics:
        if not _NIC.fullmatch(nic):
            table.fail(
                "nics", f"found {nic!r}; allowed are up to 15 letters, digits, '-', '_', '.'"
            )
        if nics.count(nic) > 1:
            table.fail("nics", f"{nic!r} is named twice; name each port once")
    for name in names:
        macs = dict(zip(nics, given or [""] * len(nics), strict=True))
        yield Server(_name(table, name), macs, table.bandwidth("speed"))


def _fill_macs(server: Server, number: int) -> None:
    """Give ports without an address a locally administered one (second bit, IEEE 802)."""
    for k, (nic, mac) in enumerate(server.macs.items()):
        if not mac and isinstance(server.macs, dict):
            server.macs[nic] = f"02:00:00:{number >> 8:02x}:{number & 255:02x}:{k:02x}"


def _switches(table: Options) -> Iterator[Layer2]:
    table.allow("name", "ports", "speed", "forwarding", "latency")
    for name in table.expand("name", table.text("name")):
        yield Layer2(
            name=_name(table, name),
            count=table.integer("ports", 1, 1024),
            speed=table.bandwidth("speed"),
            forwarding=_forwarding(table, "store-and-forward"),
            latency_ns=table.duration("latency", f"{measured().l2_pass}ns"),
        )


def _name(table: Options, name: str) -> str:
    if not _NAME.fullmatch(name):
        table.fail(
            "name",
            f"found {name[:80]!r}; allowed are letters, digits, '-', '_' and '.', 63 at most",
        )
    return name


def _unique(top: Options, names: Sequence[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise WeftError(
                f"{top.source}: {times} devices have the name {name!r}; rename all but one"
            )


def _unique_macs(top: Options, servers: Sequence[Server]) -> None:
    seen: dict[str, Port] = {}
    for server in servers:
        for port, mac in zip(server.ports, server.macs.values(), strict=True):
            other = seen.setdefault(mac, port)
            if other != port:
                raise WeftError(
                    f"{top.source}: {other} and {port} have the same address, {mac}; an address"
                    " belongs to one port"
                )
