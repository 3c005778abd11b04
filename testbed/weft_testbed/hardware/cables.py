# SPDX-License-Identifier: LGPL-2.1-only
"""Cables of an inventory: the ports they connect, and the chassis that each device belongs to."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.base.errors import suggestion
from weft.base.options import Options

Sockets = Mapping[str, Mapping[str, tuple[int, str]]]
"""By device and port: bits/s, and "front", or the kind of looping port."""


@dataclass(frozen=True, order=True)
class Port:
    """Port of a server, a layer 2 switch or the chassis."""

    device: str
    name: str

    def __str__(self) -> str:
        """Return the form used in files and messages."""
        return f"{self.device}:{self.name}"


def gbps(speed: float) -> str:
    """Format a speed in Gb/s."""
    return f"{speed / 1e9:g} Gb/s"


def lay(top: Options, sockets: Sockets) -> dict[Port, Port]:
    """Return, for all cables of a file, each port's peer."""
    peers: dict[Port, Port] = {}
    for table in top.parts("cables"):
        for one, other in _ends(table):
            _lay(sockets, peers, table, one, other)
    return peers


def homes(top: Options, chassis: Sequence[str], peers: Mapping[Port, Port]) -> dict[str, str]:
    """Return the chassis of each device, to which it may be cabled through other devices.

    No device may be cabled to two: plans cover one chassis, so each would claim the device.
    """
    leaving: dict[str, list[tuple[Port, Port]]] = defaultdict(list)
    for port, peer in peers.items():
        leaving[port.device].append((port, peer))
    found = {name: name for name in chassis}
    reached = [*chassis]
    for device in reached:  # grows during the loop
        for port, peer in leaving[device]:
            if peer.device not in found:
                found[peer.device] = found[device]
                reached.append(peer.device)
            elif found[peer.device] != found[device]:
                Options(top.source, "[cables]", {}).fail(
                    "between",
                    f"the cable of {port} and {peer} connects the devices of {found[device]} and"
                    f" {found[peer.device]}; connected devices must share one chassis: remove this"
                    " cable, or another one between the two",
                )
    return found


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
            " both ends must have equally many",
        )  # fmt: skip
    for one, other in zip(ones, others, strict=True):
        yield _port(table, one), _port(table, other)


def _port(table: Options, text: str) -> Port:
    device, colon, name = text.partition(":")
    if not colon:
        table.fail("between", f"found {text!r}; write a port as DEVICE:PORT")
    return Port(device, name)


def _lay(sockets: Sockets, peers: dict[Port, Port], table: Options, one: Port, other: Port) -> None:
    for port in (one, other):
        _check_end(sockets, table, port)
    for port, end in ((one, other), (other, one)):
        if port in peers:
            table.fail(
                "between", f"{port} has two cables, to {peers[port]} and to {end}; a port has one"
                    " cable",
            )  # fmt: skip
    if one.device == other.device:
        table.fail(
            "between",
            f"found {one} and {other}, both of {one.device}; a cable joins two devices"
            ' (loopback ports are listed in [chassis] loopback = ["…"])',
        )
    speeds = [sockets[port.device][port.name][0] for port in (one, other)]
    if speeds[0] != speeds[1]:
        table.fail(
            "between",
            f"{one} has {gbps(speeds[0])} and {other} {gbps(speeds[1])}; both ends of a cable run"
            " at the same speed (a port's own is set in [[ports]], [[servers]] or [[switches]])",
        )
    peers[one], peers[other] = other, one


def _check_end(sockets: Sockets, table: Options, port: Port) -> None:
    if port.device not in sockets:
        table.fail(
            "between",
            f"found {str(port)!r}, but there is no device {port.device!r}"
            f" among {len(sockets)}; {suggestion(port.device, sockets)}",
        )
    names = [*sockets[port.device]]
    if port.name not in names:
        ports = ", ".join(names) if len(names) <= 8 else f"{names[0]} to {names[-1]}"
        table.fail("between", f"found {str(port)!r}; the ports of {port.device} are {ports}")
    if (kind := sockets[port.device][port.name][1]) != "front":
        table.fail("between", f"{port} is a {kind} port, which loops frames back; cable another")
