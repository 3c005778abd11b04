# SPDX-License-Identifier: LGPL-2.1-only
"""Background traffic on the hosts of a fabric, as libweft.so reads it."""

import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import _core
from weft.base.errors import suggestion
from weft.base.options import Entry
from weft.runs.traffic.file import ALL, IDLE, Traffic, names_in, read

_LEAST_HOSTS = 2


@dataclass(frozen=True)
class PlacedTraffic:
    """Traffic that has passed all checks."""

    traffic: Traffic
    hosts: tuple[int, ...]
    """Indices of the sending hosts."""
    targets: tuple[int, ...] = ()


def prepare(path: Path, fabric: _core.Fabric, used: Collection[str]) -> tuple[PlacedTraffic, ...]:
    """Read a traffic file, and choose the sending hosts.

    Raises:
        WeftError: The file is wrong, or does not fit the fabric.
    """
    chooser = _Chooser(fabric, frozenset(used))
    return tuple(chooser.place(one) for one in read(path))


def describe(placed: Sequence[PlacedTraffic]) -> str:
    """Return the description that libweft.so reads."""
    return json.dumps([_row(one) for one in placed])


def _row(one: PlacedTraffic) -> dict[str, Any]:
    its = one.traffic
    row: dict[str, Any] = {
        "name": its.name,
        "pattern": its.pattern,
        "weight": its.weight,
        "start_s": its.start_s,
        "end_s": its.end_s,
        "hosts": one.hosts,
    }
    if its.schedule is not None:
        schedule = [[operation.row() for operation in rank] for rank in its.schedule]
        return {**row, "schedule": schedule, "repeat": its.repeat}
    return {
        **row,
        "targets": one.targets,
        "bytes": its.bytes,
        "hot": its.hot,
        "seed": its.seed,
        "load": its.load,
        "window": its.window,
    }


class _Chooser:
    """Chooses hosts of a fabric."""

    def __init__(self, fabric: _core.Fabric, used: frozenset[str]) -> None:
        self._fabric = fabric
        self._used = used
        self._numbers = {name: number for number, name in enumerate(fabric.hosts)}

    def place(self, traffic: Traffic) -> PlacedTraffic:
        """Return the traffic with its sending hosts."""
        table = traffic.table
        hosts = self._hosts(traffic)
        if traffic.schedule is not None:
            ranks = len(traffic.schedule)
            if len(hosts) < ranks:
                table.fail(
                    "hosts",
                    f"the schedule has {ranks} ranks, and {self._meaning(traffic)} are"
                    f" {len(hosts)}; name as many hosts",
                )
            return PlacedTraffic(traffic, tuple(hosts[:ranks]))
        draw = random.Random(traffic.seed)
        if traffic.part < 1:
            count = max(1, round(len(hosts) * traffic.part))
            hosts = sorted(draw.sample(hosts, count))
        targets = self._targets(traffic, hosts, draw)
        if traffic.pattern == "incast":
            hosts = [host for host in hosts if host not in targets]
        least = 1 if targets else _LEAST_HOSTS
        if len(hosts) < least:
            table.fail(
                "hosts",
                f"{self._meaning(traffic)} leave {len(hosts)} to send, and traffic needs at least"
                f' {least}; name others, or "{ALL}" for those with ranks too',
            )
        return PlacedTraffic(traffic, tuple(hosts), tuple(targets))

    def _meaning(self, traffic: Traffic) -> str:
        known = {IDLE: "the hosts without ranks", ALL: "all hosts"}
        return known.get(traffic.hosts, "the named hosts")

    def _hosts(self, traffic: Traffic) -> list[int]:
        able = self._fabric.compute_hosts
        if traffic.hosts == ALL:
            return [self._numbers[name] for name in able]
        if traffic.hosts == IDLE:
            return [self._numbers[name] for name in able if name not in self._used]
        return self._named(traffic.table, "hosts", traffic.hosts)

    def _targets(self, traffic: Traffic, hosts: Sequence[int], draw: random.Random) -> list[int]:
        if traffic.targets:
            return self._named(traffic.table, "targets", traffic.targets)
        return [draw.choice(hosts)] if traffic.pattern in ("incast", "hot-spot") and hosts else []

    def _named(self, table: Entry, key: str, text: str) -> list[int]:
        names = names_in(table, key, text)
        for name in names:
            if name not in self._numbers:
                table.fail(
                    key,
                    f"found {name!r}, which is no host of fabric {self._fabric.name};"
                    f" {suggestion(name, self._fabric.hosts)}",
                )
        return [self._numbers[name] for name in names]
