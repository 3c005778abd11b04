# SPDX-License-Identifier: LGPL-2.1-only
"""What a testbed has: one P4 chassis, servers, layer 2 switches, and the cables that never move.

A port is written `DEVICE:PORT`. Chassis ports have numbers: those on the front from 1, and above
them internal ones that only recirculate. A looping port (loopback or recirculation) brings back
what is sent to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from weft.base import paths
from weft.base.errors import WeftError, suggestion
from weft.base.reading import UnreadableError, read_text
from weft.testbed import options
from weft.testbed.medians import measured
from weft.testbed.options import Options

FOLDER = "inventories"
Forwarding = Literal["cut-through", "store-and-forward"]
FORWARDINGS: tuple[Forwarding, Forwarding] = ("cut-through", "store-and-forward")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
# Port numbers of v1model have nine bits, and the last one means "drop" (p4lang/p4c, v1model.p4).
MOST_PORTS = 510
# As long as Linux has them (IFNAMSIZ, less the end of the text).
_NIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, order=True)
class Port:
    """A port of a server or a layer 2 switch, or of the chassis."""

    device: str
    name: str

    def __str__(self) -> str:
        """Return it as files and messages have it."""
        return f"{self.device}:{self.name}"


@dataclass(frozen=True)
class ChassisPort:
    """A port of the chassis."""

    number: int
    speed: int
    pipe: int
    kind: Literal["front", "loopback", "recirculation"]


@dataclass(frozen=True)
class Chassis:
    """The P4 switch."""

    name: str
    ports: Mapping[int, ChassisPort]
    slices: int
    max_sharing: int
    forwarding: Forwarding
    pass_ns: float
    taken: Mapping[int, int] = field(default_factory=dict)
    """By looping port: bits a second that experiments have which are kept."""

    def room(self, port: ChassisPort) -> int:
        """Return the bits a second that a looping port may still be asked for."""
        return port.speed * self.max_sharing - self.taken.get(port.number, 0)

    @property
    def loops(self) -> list[ChassisPort]:
        """The ports that bring frames back."""
        return [port for port in self.ports.values() if port.kind != "front"]


@dataclass(frozen=True)
class Server:
    """A server and its NIC ports, each with its address."""

    name: str
    macs: Mapping[str, str]
    speed: int

    @property
    def ports(self) -> list[Port]:
        """Its ports, in their order."""
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
        """Its ports, in their order."""
        return [Port(self.name, str(k)) for k in range(1, self.count + 1)]


@dataclass(frozen=True)
class Inventory:
    """All of it; `text` is the file."""

    name: str
    description: str
    chassis: Chassis
    servers: Mapping[str, Server]
    switches: Mapping[str, Layer2]
    peers: Mapping[Port, Port]
    text: str = field(repr=False)

    @property
    def devices(self) -> dict[str, "Server | Layer2"]:
        """Servers and layer 2 switches by their names."""
        return {**self.servers, **self.switches}

    def speed(self, port: Port) -> int:
        """Return the bits a second of a port."""
        if port.device == self.chassis.name:
            return self.chassis.ports[int(port.name)].speed
        return self.devices[port.device].speed

    def cabled(self, device: Server | Layer2) -> list[Port]:
        """Return the ports of a device that a cable ends in."""
        return [port for port in device.ports if port in self.peers]


def shipped() -> list[str]:
    """Return the names of the inventories that weft brings along."""
    return sorted(path.stem for path in paths.installed(FOLDER).glob("*.toml"))


def find(name_or_path: str) -> Path:
    """Return the file of an inventory, a path or a shipped name."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if name_or_path in shipped():
        return paths.installed(FOLDER, f"{name_or_path}.toml")
    raise WeftError(
        f'inventory "{name_or_path}": there is no such file, and no shipped inventory has that'
        f" name; {suggestion(name_or_path, shipped())}"
    )


def read(name_or_path: str) -> Inventory:
    """Read a file or a shipped inventory."""
    path = find(name_or_path)
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    return parse(text, str(path))


def parse(text: str, source: str) -> Inventory:
    """Return the inventory that a text describes; messages call it by its source."""
    top = options.parse(text, source).allow(
        "testbed", "chassis", "ports", "servers", "switches", "cables"
    )
    about = top.part("testbed").allow("name", "description")
    chassis = _chassis(top)
    servers = [one for table in top.parts("servers") for one in _servers(table)]
    for number, server in enumerate(servers):
        _fill_macs(server, number)
    switches = [one for table in top.parts("switches") for one in _switches(table)]
    _unique(top, [chassis.name, *(one.name for one in servers), *(one.name for one in switches)])
    _unique_macs(top, servers)
    inventory = Inventory(
        name=about.text("name"),
        description=about.text("description", ""),
        chassis=chassis,
        servers={one.name: one for one in servers},
        switches={one.name: one for one in switches},
        peers={},
        text=text,
    )
    peers: dict[Port, Port] = {}
    for table in top.parts("cables"):
        for one, other in _ends(table):
            _lay(inventory, peers, table, one, other)
    return Inventory(**{**vars(inventory), "peers": peers})


def _chassis(top: Options) -> Chassis:
    if isinstance(several := top.values.get("chassis"), list):
        top.fail(
            "chassis",
            f"found [[chassis]], {len(several)} of them; an inventory has one P4 switch, [chassis];"
            " write an inventory for each, with what is cabled to it",
        )
    table = top.part("chassis").allow(
        "name", "ports", "speed", "pipes", "loopback", "recirculation", "recirculation_speed",
        "max_sharing", "slices", "forwarding", "pass_latency",
    )  # fmt: skip
    count = table.integer("ports", 1, MOST_PORTS)
    pipes = table.integer("pipes", 1, count, 1)
    speeds = dict.fromkeys(range(1, count + 1), table.bandwidth("speed"))
    for exception in top.parts("ports"):
        exception.allow("numbers", "speed")
        for number in _numbers(exception, "numbers", range(1, count + 1)):
            speeds[number] = exception.bandwidth("speed")
    loopback = set(_numbers(table, "loopback", range(1, count + 1)))
    ports = {
        k: ChassisPort(k, speed, (k - 1) * pipes // count, "loopback" if k in loopback else "front")
        for k, speed in speeds.items()
    }
    # Internal ports belong to the pipes in turn.
    for k, number in enumerate(_numbers(table, "recirculation", range(count + 1, MOST_PORTS + 1))):
        speed = table.bandwidth("recirculation_speed")
        ports[number] = ChassisPort(number, speed, k % pipes, "recirculation")
    return Chassis(
        name=_name(table, table.text("name")),
        ports=ports,
        slices=table.integer("slices", 1, 4096, 256),
        max_sharing=table.integer("max_sharing", 1, 1024, 1),
        forwarding=_forwarding(table, "cut-through"),
        pass_ns=table.duration("pass_latency", f"{measured().chassis_pass}ns"),
    )


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
            table.fail(key, f"port {number} is there twice; name it once")
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
            table.fail("nics", f"{nic!r} is there twice; name each port once")
    for name in names:
        macs = dict(zip(nics, given or [""] * len(nics), strict=True))
        yield Server(_name(table, name), macs, table.bandwidth("speed"))


def _fill_macs(server: Server, number: int) -> None:
    """Give ports without an address one that is administered locally (second bit, IEEE 802)."""
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
        table.fail("name", f"found {name!r}; allowed are letters, digits, '-', '_' and '.'")
    return name


def _unique(top: Options, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise WeftError(
                f"{top.source}: {names.count(name)} devices are called {name!r}; give each a name"
                " of its own"
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


def _ends(table: Options) -> Iterator[tuple[Port, Port]]:
    """Yield the cables of a table, whose two ends may be ranges of the same length."""
    table.allow("between")
    between = table.need("between")
    if not isinstance(between, list) or len(between) != 2:
        table.fail("between", f'found {between!r}; write two ports, such as ["a:eth0", "b:1"]')
    ones, others = (table.expand("between", end) for end in map(str, between))
    if len(ones) != len(others):
        table.fail(
            "between", f"found {len(ones)} ports at one end and {len(others)} at the other;"
            " both ends must have as many",
        )  # fmt: skip
    for one, other in zip(ones, others, strict=True):
        yield _port(table, one), _port(table, other)


def _port(table: Options, text: str) -> Port:
    device, colon, name = text.partition(":")
    if not colon:
        table.fail("between", f"found {text!r}; write a port as DEVICE:PORT")
    return Port(device, name)


def _lay(
    inventory: Inventory, peers: dict[Port, Port], table: Options, one: Port, other: Port
) -> None:
    for port in (one, other):
        _check_end(inventory, table, port)
    for port, end in ((one, other), (other, one)):
        if port in peers:
            table.fail(
                "between", f"{port} is cabled twice, to {peers[port]} and to {end}; a port takes"
                " one cable",
            )  # fmt: skip
    if one.device == other.device:
        table.fail(
            "between",
            f"found {one} and {other}, both of {one.device}; a cable joins two devices (ports that"
            ' bring frames back are listed in [chassis] loopback = ["…"])',
        )
    speeds = inventory.speed(one), inventory.speed(other)
    if speeds[0] != speeds[1]:
        table.fail(
            "between",
            f"{one} has {gbps(speeds[0])} and {other} {gbps(speeds[1])}; both ends of a cable run"
            " at the same speed (a port's own is set in [[ports]], [[servers]] or [[switches]])",
        )
    peers[one], peers[other] = other, one


def _check_end(inventory: Inventory, table: Options, port: Port) -> None:
    chassis = inventory.chassis
    devices: dict[str, list[str]] = {
        chassis.name: [str(number) for number in chassis.ports],
        **{name: [*one.macs] for name, one in inventory.servers.items()},
        **{name: [p.name for p in one.ports] for name, one in inventory.switches.items()},
    }
    if port.device not in devices:
        table.fail(
            "between",
            f"found {str(port)!r}, but there is no device {port.device!r}"
            f" among {len(devices)}; {suggestion(port.device, devices)}",
        )
    names = devices[port.device]
    if port.name not in names:
        ports = ", ".join(names) if len(names) <= 8 else f"{names[0]} to {names[-1]}"
        table.fail("between", f"found {str(port)!r}; the ports of {port.device} are {ports}")
    if port.device == chassis.name and chassis.ports[int(port.name)].kind != "front":
        kind = chassis.ports[int(port.name)].kind
        table.fail("between", f"{port} is a {kind} port, which brings frames back; cable another")


def gbps(speed: float) -> str:
    """Return a speed in Gb/s."""
    return f"{speed / 1e9:g} Gb/s"
