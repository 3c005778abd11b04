# SPDX-License-Identifier: LGPL-2.1-only
"""New fabrics from topology files of other tools.

The file provides hosts, switches, cables and, if stated, rates and latencies. All other values get
the defaults of new fabrics (`weft.fabric.defaults`) and are reported.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weft.base import topology_files
from weft.base.errors import WeftError, named
from weft.base.topology_files import Kind, kind_of
from weft.base.units import plural
from weft.base.user_files import UnreadableError, read_text
from weft.fabric.defaults import FilledTemplate, NewFabricOptions, fill, ports_of
from weft.fabric.foreign import (
    astra,
    containerlab,
    graphs,
    ibdiagnet,
    iblinkinfo,
    ibnetdiscover,
    ns3,
    simgrid,
    slurm,
)
from weft.fabric.foreign.topology import ForeignCable, ForeignTopology
from weft.fabric.template import SWITCH_LATENCY, LinkException, Template

_READERS: Mapping[str, Callable[[str], ForeignTopology]] = {
    topology_files.IBNETDISCOVER: ibnetdiscover.read,
    topology_files.IBLINKINFO: iblinkinfo.read,
    topology_files.IBDIAGNET: ibdiagnet.read_list,
    topology_files.NET_DUMP: ibdiagnet.read_dump,
    topology_files.NET_DUMP_EXT: ibdiagnet.read_extended_dump,
    topology_files.DB_CSV: ibdiagnet.read_database,
    topology_files.SLURM: slurm.read,
    topology_files.SLURM_YAML: slurm.read,
    topology_files.NS3: ns3.read,
    topology_files.ASTRA: astra.read,
    topology_files.CONTAINERLAB: containerlab.read,
    topology_files.GML: graphs.read_gml,
    topology_files.GRAPHML: graphs.read_graphml,
    topology_files.JSON: graphs.read_json,
}
KINDS = (
    "SimGrid, ibnetdiscover, iblinkinfo, ibdiagnet, Slurm, ns-3, SimAI, ASTRA-sim,"
    " containerlab, GML, GraphML, Mininet and P4 tutorials"
)
_MOST_CABLES = 1 << 20


@dataclass(frozen=True)
class ReadFabric:
    """Template from a file, and the report of the values that the file states and lacks."""

    filled: FilledTemplate
    said: str

    @property
    def template(self) -> Template:
        """Content of the fabric file."""
        return self.filled.template

    @property
    def note(self) -> str:
        """One-line summary of the values read, assumed and copied."""
        return "; ".join(part for part in (self.said, self.filled.note) if part)


def read(path: Path, given: str) -> tuple[ForeignTopology, str]:
    """Return a file's topology and kind. Raises WeftError that names `given` and the file."""
    text, kind = _recognized(path, given)
    if kind.instead:
        raise WeftError(f"{given}: {path} is {kind.said}; {kind.instead}")
    try:
        found = _READERS[kind.name](text)
    except ValueError as error:
        raise WeftError(f"{given}: {path}, {kind.said}: {error}") from None
    return _checked(path, found, kind, given), kind.said


def _checked(path: Path, found: ForeignTopology, kind: Kind, given: str) -> ForeignTopology:
    """Check that a topology can be a fabric. Raises WeftError that names `given` and the file."""
    cabled = {end for cable in found.cables for end in (cable.one, cable.other)}
    if bare := [host for host in found.hosts if host not in cabled]:
        note = f"{plural(len(bare), 'host')} without a cable left out ({bare[0]})"
        hosts = [host for host in found.hosts if host in cabled]
        found = replace(found, hosts=hosts, notes=[*found.notes, note])
    if not found.hosts:
        raise WeftError(f"{given}: {path}, {kind.said}: has no hosts with cables")
    if sum(cable.count for cable in found.cables) > _MOST_CABLES:
        raise WeftError(f"{given}: {path} has more than {_MOST_CABLES:,} cables")
    return _with_routers(_largest_island(found))


def _recognized(path: Path, given: str) -> tuple[str, Kind]:
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise WeftError(f"{given}: {path}: {error}") from None
    kind = kind_of(text)
    if kind is None:
        raise WeftError(
            f"{given}: {path} is no topology that weft knows; it reads those of {KINDS}"
        )
    return text, kind


def _from_cluster(
    path: Path, cluster: simgrid.ForeignCluster, name: str, asked: NewFabricOptions
) -> ReadFabric:
    """Return the template of a single SimGrid cluster, which maps to a weft topology."""
    own = replace(
        asked,
        bandwidth=_rate_text(cluster.bps),
        latency=_latency_text(cluster.latency_s),
        switch_latency=SWITCH_LATENCY,  # replaced below
    )
    filled = fill(cluster.kind, cluster.options, name, own)
    latency = None if cluster.kind == "star" else _latency_text(cluster.latency_s)
    said = [f"{path.name} is a SimGrid platform", *cluster.notes]
    ports = None
    if cluster.kind == "star":
        switch = filled.template.presets["switch"]
        ports = _more_ports(int(cluster.options["hosts"][0]), switch)
        said += [_ports_said(ports, switch)] if ports is not None else []
    template = replace(
        filled.template,
        switch_latency=latency,
        max_ports=ports,
        description=f"{path.name}, a SimGrid platform",
    )
    return ReadFabric(replace(filled, template=template, guess=""), "; ".join(said))


def fill_from(
    path: Path, name: str, asked: NewFabricOptions, given: str = named("from_file")
) -> ReadFabric:
    """Return the template from a file, with missing values filled in; `given` is its option."""
    text, of = _recognized(path, given)
    if not of.platform:
        return _from_graph(path, *read(path, given), name, asked)
    try:
        platform = simgrid.read(text)
    except ValueError as error:
        raise WeftError(f"{given}: {path}, {of.said}: {error}") from None
    if isinstance(platform, simgrid.ForeignCluster):
        return _from_cluster(path, platform, name, asked)
    return _from_graph(path, _checked(path, platform, of, given), of.said, name, asked)


def _from_graph(
    path: Path, found: ForeignTopology, kind: str, name: str, asked: NewFabricOptions
) -> ReadFabric:
    """Return the template of a custom topology."""
    hosts = set(found.hosts)
    to_hosts = [one for one in found.cables if one.one in hosts or one.other in hosts]
    own = replace(
        asked,
        bandwidth=_usual(_rates(to_hosts) or _rates(found.cables)) or asked.bandwidth,
        latency=_usual(_latencies(to_hosts)) or asked.latency,
        switch_latency=asked.switch_latency or SWITCH_LATENCY,
    )
    options = {
        "hosts": (",".join(found.hosts),),
        **({"switches": (",".join(found.switches),)} if found.switches else {}),
        "cables": tuple(
            f"{one.one},{one.other}" + (f":count={one.count}" if one.count > 1 else "")
            for one in found.cables
        ),
    }
    filled = fill("custom", options, name, own)
    guessed = any(
        one.latency_s is None and not {one.one, one.other} & hosts for one in found.cables
    )
    needed = max((found.ports[switch] for switch in found.switches), default=0)
    ports = _more_ports(needed, filled.template.presets["switch"])
    template = replace(
        filled.template,
        switch_latency=None,
        max_ports=ports,
        description=f"{path.name}, {kind}",
        exceptions=_exceptions(found, filled.template, asked, own.switch_latency or SWITCH_LATENCY),
    )
    guess = ""
    if guessed and asked.switch_latency is None:
        guess = f"{SWITCH_LATENCY} between switches is a guess (--switch-latency)"
    said = _said(path, kind, found)
    if ports is not None:
        said += f"; {_ports_said(ports, template.presets['switch'])}"
    return ReadFabric(replace(filled, template=template, guess=guess), said)


def _more_ports(needed: int, preset: str) -> int | None:
    """Return the ports that the busiest switch needs, if the preset has fewer."""
    ports = ports_of(preset)
    return needed if ports is not None and needed > ports else None


def _ports_said(ports: int, preset: str) -> str:
    return f"switches of {ports} ports, more than {preset} has"


def _said(path: Path, kind: str, found: ForeignTopology) -> str:
    rates = _rates(found.cables)
    said = [f"{path.name} is {kind}"]
    if rates:
        said.append("rates from it: " + ", ".join(f"{n} x {rate}" for rate, n in rates.items()))
    if lacking := sum(one.count for one in found.cables if not one.bps):
        all_of = "it states no rates" if not rates else f"{plural(lacking, 'cable')} without a rate"
        said.append(all_of)
    return "; ".join([*said, *found.notes])


def _rates(cables: Iterable[ForeignCable]) -> Counter[str]:
    """Count the cables by the rate that the file states."""
    return _counts((_rate_text(one.bps), one.count) for one in cables if one.bps)


def _latencies(cables: Iterable[ForeignCable]) -> Counter[str]:
    """Count the cables by the latency that the file states."""
    return _counts(
        (_latency_text(one.latency_s), one.count) for one in cables if one.latency_s is not None
    )


def _counts(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, count in pairs:
        counts[text] += count
    return counts


def _usual(counts: Counter[str]) -> str | None:
    return counts.most_common(1)[0][0] if counts else None


def _rate_text(bps: float) -> str:
    return f"{bps * 1e-9:.6g}Gbps"


def _latency_text(latency_s: float) -> str:
    return f"{latency_s * 1e9:.6g}ns"


def _exceptions(
    found: ForeignTopology, template: Template, asked: NewFabricOptions, between: str
) -> tuple[LinkException, ...]:
    """Return the cables that differ from [link], in the fewest patterns specific to them."""
    vertices = {name: place for place, name in enumerate((*found.hosts, *found.switches))}
    hosts = len(found.hosts)
    usual = (template.bandwidth, template.latency)
    ports = found.ports
    names: dict[tuple[str, str], list[tuple[str, str]]] = {}
    numbers: Counter[tuple[str, str]] = Counter()
    for one in found.cables:
        ends = (one.one, one.other)
        if vertices[ends[1]] < hosts <= vertices[ends[0]]:
            ends = ends[::-1]  # ordered as by the core
        inner = vertices[ends[0]] >= hosts
        latency = between if inner else asked.latency or template.latency
        if one.latency_s is not None:
            latency = _latency_text(one.latency_s)
        rate = _rate_text(one.bps) if one.bps else asked.bandwidth or template.bandwidth
        for _ in range(one.count):
            pair = (min(ends), max(ends))
            numbers[pair] += 1
            mark = f"#{numbers[pair]}" if numbers[pair] > 1 else ""
            name = f"{ends[0]}--{ends[1]}{mark}"
            if ports[ends[0]] == 1 and not inner and vertices[ends[1]] >= hosts:
                name = ends[0]  # a host's only cable
            names.setdefault((rate, latency), []).append((ends[0], name))
    rows = []
    for (rate, latency), members in names.items():
        if (rate, latency) == usual:
            continue
        others = [pair for key, some in names.items() if key != (rate, latency) for pair in some]
        rows += [
            LinkException(
                pattern,
                rate if rate != usual[0] else None,
                latency if latency != usual[1] else None,
            )
            for pattern in _patterns(members, others)
        ]
    return tuple(rows)


def _patterns(members: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> list[str]:
    """Return patterns that match all members and no other cable: lower ends, and names."""
    names = [name for _, name in members]
    prefix = _common_start(names)
    if len(names) > 1 and prefix and not any(name.startswith(prefix) for _, name in others):
        return [f"{prefix}*"]
    mixed = {lower for lower, _ in others}
    whole = dict.fromkeys(
        lower if lower == name else f"{lower}--*" for lower, name in members if lower not in mixed
    )
    return [*whole, *(name for lower, name in members if lower in mixed)]


def _common_start(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(one for one, _ in same)


# ---- Connected parts


def _largest_island(found: ForeignTopology) -> ForeignTopology:
    """Keep the connected component with the most hosts, as ranks in different ones cannot connect.

    Slurm's trees without a common switch, and planned sites of a map, are separate components.
    """
    part = _parts([*found.hosts, *found.switches], found.cables)
    sizes = Counter(part[host] for host in found.hosts)
    if len(sizes) < 2:
        return found
    (largest, kept), *_ = sizes.most_common(1)
    note = (
        f"its {len(sizes)} parts with hosts are not connected: the largest is read, of"
        f" {plural(kept, 'host')} ({next(one for one in found.hosts if part[one] == largest)}),"
        f" and {plural(len(found.hosts) - kept, 'host')} left out"
    )
    return ForeignTopology(
        [one for one in found.hosts if part[one] == largest],
        [one for one in found.switches if part[one] == largest],
        [one for one in found.cables if part[one.one] == largest],
        [*found.notes, note],
    )


def _with_routers(found: ForeignTopology) -> ForeignTopology:
    """Put hosts that join separate networks behind routers, since hosts do not forward packets.

    Without routers, GPUs of different servers could not reach each other's NVSwitches.
    """
    hosts = set(found.hosts)
    part = _parts(found.switches, found.cables)
    reached: dict[str, set[str]] = {host: set() for host in found.hosts}
    for one in found.cables:
        for host, other in ((one.one, one.other), (one.other, one.one)):
            if host in hosts and other not in hosts:
                reached[host].add(part[other])
    live = {one for parts in reached.values() for one in parts}
    found = _without_switches(found, {one for one, own in part.items() if own not in live})
    count = len(live)
    if count < 2 or all(len(parts) == count for parts in reached.values()):
        return found
    routers = {host: f"{host}.router" for host, parts in reached.items() if len(parts) > 1}
    rates = dict.fromkeys(routers, 0.0)
    cables = []
    for one in found.cables:
        for end in (one.one, one.other):
            if end in rates:
                rates[end] += one.count * (one.bps or 0.0)
        ends = (routers.get(one.one, one.one), routers.get(one.other, one.other))
        cables.append(replace(one, one=ends[0], other=ends[1]))
    inner = [ForeignCable(host, new, rates[host] or None, 0.0) for host, new in routers.items()]
    note = "hosts that join separate networks are behind a router each, since hosts forward nothing"
    return ForeignTopology(
        found.hosts,
        [*found.switches, *routers.values()],
        [*inner, *cables],
        [*found.notes, *([note] if routers else [])],
    )


def _without_switches(found: ForeignTopology, bare: Collection[str]) -> ForeignTopology:
    """Omit switches that no host reaches."""
    if not bare:
        return found
    note = f"{plural(len(bare), 'switch')} that no host reaches left out ({min(bare)})"
    return ForeignTopology(
        found.hosts,
        [one for one in found.switches if one not in bare],
        [one for one in found.cables if one.one not in bare and one.other not in bare],
        [*found.notes, note],
    )


def _parts(nodes: Iterable[str], cables: Iterable[ForeignCable]) -> dict[str, str]:
    """Return a representative of each node's connected component, by cables between these nodes."""
    above = {node: node for node in nodes}

    def root(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for one in cables:
        if one.one in above and one.other in above:
            above[root(one.one)] = root(one.other)
    return {node: root(node) for node in above}
