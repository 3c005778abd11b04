# SPDX-License-Identifier: LGPL-2.1-only
"""Error messages for requests that cannot be planned: the scarce resource and the shortfall.

Servers are checked first, by counting: the number of hosts with at least a given number of cables
of at least a given speed must not exceed the servers with as many ports. Other shortages are proven
by the solver, which minimises them.
"""

from collections.abc import Iterator

from weft.base.units import plural
from weft_testbed.hardware.cables import gbps
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.plan.equivalence import Demand
from weft_testbed.plan.solver import NoPlanError, Shortage


def check_servers(demand: Demand, inventory: Inventory) -> None:
    """Check a necessary condition: the inventory has enough servers of each kind."""
    if short := max(_too_few(demand, inventory), default=None):
        raise NoPlanError(short[1])


def _too_few(demand: Demand, inventory: Inventory) -> Iterator[tuple[int, str]]:
    """Yield the number of missing servers of each kind, with the message."""
    wanted = [
        (len(demand.at[host]), min(link.speed for link in demand.at[host])) for host in demand.hosts
    ]
    there = [(len(inventory.cabled(one)), one.speed) for one in inventory.servers.values()]
    for ports, speed in sorted(set(wanted)):
        hosts = sum(p >= ports and s >= speed for p, s in wanted)
        servers = sum(p >= ports and s >= speed for p, s in there)
        if hosts > servers:
            others = len(there) - servers
            yield (
                hosts - servers,
                f"no plan: not enough servers: {plural(hosts, 'host')}"
                f" wanted with {plural(ports, 'cable')} of {gbps(speed)} or more,"
                f" {plural(servers, 'server')} with such ports cabled in {inventory.called}"
                f"{f' (and {others} with fewer or slower)' if others else ''}:"
                f" {hosts - servers} short; take a smaller topology, or cable more servers",
            )


def explain(found: Shortage, demand: Demand, inventory: Inventory) -> str:
    """Return the message for a shortage that the solver found."""
    parts = [*_parts(found, demand, inventory)]
    how = "proven by the solver" if found.proven else "at most; the solver stopped before a proof"
    return f"no plan: {'; '.join(parts)} ({how})"


def _parts(found: Shortage, demand: Demand, inventory: Inventory) -> Iterator[str]:
    chassis = inventory.chassis
    if found.hosts:
        yield (
            f"not enough servers: {plural(len(demand.hosts), 'host')} wanted,"
            f" {found.hosts} of them without a server whose ports fit"
            f" ({len(inventory.servers)} in {inventory.called}); cable more servers to the chassis"
        )
    if found.slices:
        yield (
            f"not enough slices: {plural(len(demand.switches), 'switch')} wanted, {chassis.slices}"
            f" allowed on {chassis.name} beside {plural(len(inventory.switches), 'layer 2 switch')}"
            f": {found.slices} short; raise {inventory.table} slices, or cable more layer 2"
            " switches"
        )
    if found.bandwidth:
        loops = sum(port.speed for port in chassis.loops)
        taken = sum(chassis.taken.values())
        kept = f" ({gbps(taken)} taken by what is kept)" if taken else ""
        yield (
            f"not enough recirculation bandwidth: {found.recirculated} directions of cables"
            " between slices,"
            f" {plural(len(chassis.loops), 'looping port')} of {gbps(loops)} together{kept}"
            f" at max_sharing = {chassis.max_sharing}: at least {gbps(found.bandwidth)} short;"
            f" list more {inventory.table} loopback ports, raise max_sharing, or cable more layer 2"
            " switches"
        )
