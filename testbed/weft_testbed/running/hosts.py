# SPDX-License-Identifier: LGPL-2.1-only
"""Settings of the servers of a testbed of namespaces: addresses and routes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from weft_testbed.plan.layout import Layout
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.tables import tables


def settings(layout: Layout, experiment: Experiment) -> dict[str, list[str]]:
    """Return, by server, the `ip` commands that configure it as a host of an experiment."""
    commands: dict[str, list[str]] = defaultdict(list)
    wanted, plan = experiment.wanted, layout.plan
    # ARP resolves hosts with a single port; otherwise all routes are static.
    alone = all(len(wanted.at[one]) == 1 for one in wanted.hosts)
    for host, server in experiment.hosts.items():
        ports = [layout.interface(plan.end(experiment, one.name, host)) for one in wanted.at[host]]
        for cable, port in zip(wanted.at[host], ports, strict=True):
            address = tables.mac(plan, experiment, host, cable.name)
            commands[server].append(f"link set dev {port.name} address {address}")
        commands[server].append("link set dev lo up")
        address, length = layout.address(experiment, host), 16 if alone else 32
        commands[server].append(f"address add {address}/{length} dev {ports[0].name}")
        if not alone:
            commands[server] += _ways(layout, experiment, host)
    return commands


def _ways(layout: Layout, experiment: Experiment, host: str) -> Iterator[str]:
    """Yield the routes of a host: the port to use, and the other host's port."""
    for (source, target), route in experiment.wanted.routes.items():
        if source == host:
            end = layout.plan.end(experiment, route.cables[0], host)
            port = layout.interface(end).name
            address = layout.address(experiment, target)
            lladdr = tables.mac(layout.plan, experiment, target, route.cables[-1])
            yield f"route add {address}/32 dev {port}"
            yield f"neighbour add {address} lladdr {lladdr} dev {port} nud permanent"


def changed(old: Plan, new: Plan) -> list[Experiment]:
    """Return a new plan's experiments whose servers are configured differently in the old one."""
    there = [_facts(one) for one in old.experiments]
    return [one for one in new.experiments if _facts(one) not in there]


def _facts(one: Experiment) -> tuple[object, ...]:
    ports = {name: (way.ports[:1], way.ports[-1:]) for name, way in one.cables.items()}
    return one.number, one.wanted.text, one.hosts, ports


def emptied(ports: Sequence[str]) -> list[str]:
    """Return the commands that remove addresses and routes from a server's ports."""
    flushed = ("address flush", "route flush", "neighbour flush", "neighbour flush nud permanent")
    return [f"{what} dev {port}" for port in ports for what in flushed]
