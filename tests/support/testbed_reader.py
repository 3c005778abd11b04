# SPDX-License-Identifier: LGPL-2.1-only
"""Forwards frames step by step according to the output of `weft testbed tables` and the cabling.

The reader is independent of plans: its inputs are the entries (JSON), their semantics in
testbed.p4, and the cables in the inventory's text.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

ALL = "ff:ff:ff:ff:ff:ff"
MOST_STEPS = 2000

Place = tuple[str, str]
"""Device and port."""


def spelt_out(text: str) -> list[str]:
    match = re.search(r"\[(\d+)-(\d+)\]", text)
    if not match:
        return [text]
    numbers = range(int(match[1]), int(match[2]) + 1)
    return [text.replace(match[0], str(k)) for k in numbers]


def cabling(text: str) -> dict[Place, Place]:
    """Return both directions of every cable of an inventory."""
    found: dict[Place, Place] = {}
    for cable in tomllib.loads(text).get("cables", []):
        for pair in zip(*map(spelt_out, cable["between"]), strict=True):
            (one, a), (other, b) = (end.split(":") for end in pair)
            found[one, a], found[other, b] = (other, b), (one, a)
    return found


@dataclass(frozen=True)
class Arrival:
    """Frame at a server's port, with the switches that it passed, as slice numbers."""

    at: Place
    switches: tuple[int | str, ...]


class Reader:
    """Testbed with entries that can be added and removed."""

    def __init__(
        self, inventory: str, entries: Iterable[dict[str, Any]] = (), chassis: str = ""
    ) -> None:
        parsed = tomllib.loads(inventory)
        self.chassis = chassis or parsed["chassis"]["name"]
        self.servers = {
            name for one in parsed.get("servers", []) for name in spelt_out(one["name"])
        }
        self.peers = cabling(inventory)
        self.tables: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = defaultdict(dict)
        for entry in entries:
            self.add(entry)

    @classmethod
    def of(cls, inventory: str, tables: str, chassis: str = "") -> "Reader":
        content = json.loads(tables)
        assert content["format"] == "weft-testbed-tables/1"
        return cls(inventory, content["entries"], chassis)

    def add(self, entry: dict[str, Any]) -> None:
        table, key = self.tables[entry["table"]], tuple(entry["key"])
        assert key not in table, entry
        table[key] = tuple(entry["data"])

    def remove(self, entry: dict[str, Any]) -> None:
        assert self.tables[entry["table"]].pop(tuple(entry["key"])) == tuple(entry["data"])

    def send(self, source: Place, destination: str) -> list[Arrival]:
        """Return all ports at which a server's frame arrives."""
        waiting = [(self.peers[source], (), None)] if source in self.peers else []
        arrivals: list[Arrival] = []
        for _ in range(MOST_STEPS):
            if not waiting:
                return arrivals
            (device, port), passed, tag = waiting.pop()
            if device in self.servers:
                arrivals.append(Arrival((device, port), passed))
            elif device == self.chassis:
                waiting += self._through_chassis(int(port), destination, passed, tag)
            else:
                waiting += self._through_switch(device, port, destination, passed)
        raise AssertionError(f"a frame from {source} to {destination} goes round for ever")

    def _through_switch(
        self, device: str, port: str, destination: str, passed: tuple[Any, ...]
    ) -> Iterator[Any]:
        if (port,) not in self.tables[f"{device}:port"]:
            return
        if destination == ALL:
            ports = self.tables[f"{device}:broadcast"]
            out = [one for (one,) in ports if one != port]
        else:
            out = [*self.tables[f"{device}:forward"].get((destination,), ())]
        for one in out:
            if one != port:
                yield self.peers[device, one], (*passed, device), None

    def _through_chassis(
        self, port: int, destination: str, passed: tuple[Any, ...], tag: int | None
    ) -> Iterator[Any]:
        tables = self.tables
        looped = (port,) in tables["loop_ports"]
        if not looped and (port,) in tables["wire_table"]:
            (out,) = tables["wire_table"][port,]
            yield self.peers[self.chassis, str(out)], passed, None
            return
        entered = tag if looped else port
        if (entered,) not in tables["slice_table"]:
            return
        (number,) = tables["slice_table"][entered,]
        passed = (*passed, number)
        if destination == ALL:
            (group,) = tables["arp_table"].get((number,), (None,))
            leaving = [out for one, out in tables["group"] if one == group]
        else:
            leaving = [*tables["forward_table"].get((number, destination), ())]
        for out in leaving:
            if out != entered:
                yield from self._out(out, passed)

    def _out(self, out: int, passed: tuple[Any, ...]) -> Iterator[Any]:
        if out < 512:
            yield self.peers[self.chassis, str(out)], passed, None
        elif (out,) in self.tables["loop_table"] and (out,) in self.tables["tag_table"]:
            (loop,) = self.tables["loop_table"][out,]
            (tag,) = self.tables["tag_table"][out,]
            yield (self.chassis, str(loop)), passed, tag


def check_plan(plan: dict[str, Any], tables: str, wanted: dict[str, Any]) -> int:
    """Check that a plan's tables carry exactly the wanted frames; return the number of frames sent.

    `wanted` contains, by experiment, the switches on the route of each ordered pair of hosts.
    """
    text = plan["inventory"]
    reader = Reader.of(text, tables, plan.get("chassis", ""))
    addresses = {address: place for place, address in nic_addresses(text).items()}
    sent = 0
    for experiment in plan["experiments"]:
        hosts = {server: host for host, server in experiment["hosts"].items()}
        names = {place: switch for switch, place in experiment["switches"].items()}
        routes = wanted[experiment["name"]]
        reached = defaultdict(list)
        for source in (place for place in reader.peers if place[0] in hosts):
            for address, target in addresses.items():
                sent += 1
                arrivals = reader.send(source, address)
                # Virtual wires deliver every frame to their other end, whatever its address.
                arrivals = [one for one in arrivals if one.switches or one.at == target]
                if target[0] not in hosts or target[0] == source[0]:
                    assert not arrivals, (source, target, arrivals)
                for arrival in arrivals:
                    assert arrival.at == target, (source, target, arrival)
                    way = tuple(names[one] for one in arrival.switches)
                    reached[hosts[source[0]], hosts[target[0]]].append(way)
        assert set(reached) == set(routes)
        for pair, ways in reached.items():
            assert routes[pair] in ways, (pair, ways)
        check_broadcasts(reader, {server for server in hosts}, names)
    unplanned = {
        place
        for place in reader.peers
        if place[0] in reader.servers
        and not any(place[0] in one["hosts"].values() for one in plan["experiments"])
    }
    for place in unplanned:
        for address in (*addresses, ALL):
            sent += 1
            assert not reader.send(place, address)
    return sent


def check_broadcasts(reader: Reader, servers: set[str], names: dict[Any, str]) -> None:
    """Check that a broadcast from one port of each server reaches every other server once."""
    for server in servers:
        counts = []
        for place in reader.peers:
            if place[0] == server:
                arrivals = reader.send(place, ALL)
                assert {one.at[0] for one in arrivals} <= servers
                assert all(one in names for arrival in arrivals for one in arrival.switches)
                counts.append(sorted(one.at[0] for one in arrivals if one.at[0] != server))
        assert sorted(servers - {server}) in counts, (server, counts)


def nic_addresses(text: str) -> dict[Place, str]:
    """Return the address of each NIC port that the inventory leaves open."""
    found, number = {}, 0
    for table in tomllib.loads(text).get("servers", []):
        for name in spelt_out(table["name"]):
            for k, nic in enumerate(table["nics"]):
                given = table.get("macs")
                low = f"02:00:00:{number >> 8:02x}:{number & 255:02x}:{k:02x}"
                found[name, nic] = given[k] if given else low
            number += 1
    return found
