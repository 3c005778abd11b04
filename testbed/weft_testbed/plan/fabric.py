# SPDX-License-Identifier: LGPL-2.1-only
"""A planned experiment as a fabric file, with the plan's latencies and bandwidths.

All tables of the requested fabric other than cables and switches are kept: topology (and thereby
the routes), hosts, NICs, MPI library, multicast, policy. Its cables to hosts keep their latency,
which includes the host's part; a virtual wire adds a pass. The cost of cables between switches is
part of the measured passes. Recirculated cables share the bandwidth of their looping ports, of
which other experiments use a part.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from weft.base.errors import named
from weft.base.output import whole_file
from weft.fabric.toml_file import in_toml, without_tables
from weft_testbed.plan.plan import Experiment, Plan

# Tables of the requested fabric that the plan replaces; all others are copied unchanged.
_REPLACED = ("fabric", "link", "links", "shared", "switch", "switches")


def write(plan: Plan, experiment: Experiment, target: Path) -> None:
    """Write the fabric file."""
    with whole_file(named("output"), target) as file:
        file.writelines(f"{line}\n" for line in render(plan, experiment))


def render(plan: Plan, experiment: Experiment) -> Iterator[str]:
    """Yield the lines of the file."""
    yield f"# {experiment.name} as planned on {plan.inventory.called} (weft testbed fabric)."
    yield "[fabric]"
    yield f"name = {in_toml(f'{experiment.name}-planned')}"
    yield f"description = {in_toml(f'{experiment.name} on {plan.inventory.called}')}"
    yield ""
    yield without_tables(experiment.wanted.text, _REPLACED).strip("\n")
    yield from _links(plan, experiment)
    yield from _shared(plan, experiment)
    yield from _switches(plan, experiment)


def losses(experiment: Experiment) -> list[str]:
    """Return the features of the requested fabric that slices of a chassis lack, by name."""
    wanted = experiment.wanted.fabric
    told = {
        "[[switch.offload]]": any(switch["smart"] for switch in wanted.switches),
        "[switch.forwarding]": any(switch["looks_up_by"] for switch in wanted.switches),
        "[[shared]]": bool(wanted.shared),
    }
    return [table for table, there in told.items() if there]


def bandwidth(plan: Plan, experiment: Experiment, name: str) -> float:
    """Return a cable's bits/s in each direction; the higher value if they differ."""
    way = experiment.cables[name]
    if way.kind == "recirculated":
        return max(_share(plan, experiment, loop) for loop in way.loops)
    return min(plan.inventory.speed(port) for port in way.ports)


def _share(plan: Plan, experiment: Experiment, loop: int) -> float:
    """Return an experiment's share of a looping port when all others send through it."""
    own = sum(
        experiment.wanted.cables[link.rpartition(".")[0]].speed for link in _on(experiment, loop)
    )
    load = sum(speed * count for speed, count in plan.shares[loop].items())
    return plan.inventory.chassis.ports[loop].speed * own / load


def _on(experiment: Experiment, loop: int) -> list[str]:
    """Return the links of an experiment that pass through a looping port."""
    return [
        f"{name}.{direction}"
        for name, way in experiment.cables.items()
        for direction, one in zip(("up", "down"), way.loops, strict=False)
        if one == loop
    ]


def _shared(plan: Plan, experiment: Experiment) -> Iterator[str]:
    """Yield the looping ports that several links share, or that are slower than their cable."""
    for loop in sorted(plan.shares):
        links = _on(experiment, loop)
        if not links:
            continue
        share = _share(plan, experiment, loop)
        cables = {link.rpartition(".")[0] for link in links}
        if len(links) > 1 or any(bandwidth(plan, experiment, one) > share for one in cables):
            yield ""
            yield f"# Port {loop}"
            yield "[[shared]]"
            yield f"links = {in_toml(links)}"
            yield f"bandwidth = {in_toml(f'{share / 1e9:.9g}Gbps')}"


def latency_ns(plan: Plan, experiment: Experiment, name: str) -> float:
    """Return a cable's latency in each direction, including the host's part if it ends at one."""
    cable = experiment.wanted.cables[name]
    own = cable.latency_ns if cable.lower in experiment.hosts else 0.0
    own = cable.latency_ns if cable.upper in experiment.hosts else own
    return own + (plan.inventory.chassis.pass_ns if experiment.cables[name].kind == "wire" else 0.0)


def _links(plan: Plan, experiment: Experiment) -> Iterator[str]:
    """Yield the hosts' most common kind of cable as [link], and all others by name.

    Recirculated cables are not physical, so they never serve as the default for new cables.
    """
    kinds: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in experiment.cables:
        speed = f"{bandwidth(plan, experiment, name) / 1e9:.9g}Gbps"
        kinds[speed, f"{latency_ns(plan, experiment, name):.9g}ns"].append(name)
    at_hosts = {one.name for host in experiment.hosts for one in experiment.wanted.at[host]}
    commonest = max(kinds, key=lambda kind: len(at_hosts.intersection(kinds[kind])))
    for kind in (commonest, *(kind for kind in kinds if kind != commonest)):
        speed, latency = kind
        for name in kinds[kind] if kind != commonest else [""]:
            yield ""
            yield "[[links]]" if name else "[link]"
            if name:
                yield f"match = {in_toml(name)}"
            yield f"bandwidth = {in_toml(speed)}"
            yield f"latency = {in_toml(latency)}"


def _switches(plan: Plan, experiment: Experiment) -> Iterator[str]:
    chassis = plan.inventory.chassis
    yield ""
    yield "# A slice of the chassis, which forwards and computes nothing."
    yield "[switch]"
    yield 'preset = "l2"'
    yield f"max_ports = {max(map(len, experiment.wanted.at.values()))}"
    yield f"forwarding_latency = {in_toml(f'{chassis.pass_ns:g}ns')}"
    for name, place in experiment.switches.items():
        if isinstance(place, str):
            yield ""
            yield f"# {place}"
            yield "[[switches]]"
            yield f"match = {in_toml(name)}"
            latency = plan.inventory.switches[place].latency_ns
            yield f"forwarding_latency = {in_toml(f'{latency:g}ns')}"
