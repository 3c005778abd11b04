# SPDX-License-Identifier: LGPL-2.1-only
"""Defaults of new fabrics, copied from a shipped fabric and attributed to it.

Apart from a guess for cables between switches, no value is defined here. The file and the command
report every copied value, because it was measured on other devices. Host values come from the fit
to several clusters, unless the user names a fabric for them: values fitted to one cluster predict
other clusters worse.
"""

import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.user_files import read_toml
from weft.benchmarks import measured
from weft.fabric.host_file import HostKeys, keys_of
from weft.fabric.template import (
    CLUSTERS_LIKE,
    CLUSTERS_OF_GPUS,
    DEFAULT_PRESETS,
    DEVICES,
    LIKE,
    NICS,
    OTHERS_LIKE,
    SWITCH_LATENCY,
    WITH_HCOLL,
    Template,
    has_cables_between_switches,
)

if TYPE_CHECKING:
    from weft._core import Cable, Fabric

NO_MESSAGES = "none"
_CLUSTERS = "the hosts of six clusters"
_TABLE = re.compile(r"\[+(\w+)")
# Keys of [topology] of a GPU cluster that depend on its network.
_OF_NETWORK = {"nodes_per_unit", "spines", "routers", "global_cables"}
# Keys of [topology] that change NCCL's view of a node.
_IN_NODE = {"gpus", "inside", "nics", "planes"}
# Options that do not apply to a GPU cluster, whose cables have several rates.
_OF_OTHERS = ("hosts_like", "host_from", "bandwidth", "latency", "switch_latency", "messages")


@dataclass(frozen=True, kw_only=True)
class NewFabricOptions:
    """Options of `weft fabric new`; None if not given."""

    like: str | None = None
    hosts_like: str | None = None
    presets: Mapping[str, str | None] = field(default_factory=dict)
    bandwidth: str | None = None
    latency: str | None = None
    switch_latency: str | None = None
    messages: str | None = None
    """Name of a fabric, or `none`."""
    host_from: Path | None = None
    """XML of lstopo."""
    cores: int | None = None
    """Cores of each host."""

    @property
    def names_hosts(self) -> bool:
        """True if the user names a fabric that provides the hosts."""
        return bool(self.like or self.hosts_like)


@dataclass(frozen=True)
class FilledTemplate:
    """Template, and the sources of its copied values."""

    template: Template
    taken: Mapping[str, Sequence[str]]
    """Copied values, by the fabric or measurements that provide them."""
    guess: str = ""
    """Value that no fabric provides."""
    compare_with: str = ""
    """Fabric that provided cables and messages because of its switches; to compare, pass it to
    --hosts-like.
    """
    hosts_said: str = ""
    """Host values that the file of --host-from states, and values that it lacks."""
    library_said: str = ""
    """Collective library with which the NIC was measured, and the preset with another one."""

    @property
    def note(self) -> str:
        """One-line summary of the copied values."""
        parts = (self.hosts_said, self._taken_note, self.library_said)
        return "; ".join(part for part in parts if part)

    @property
    def _taken_note(self) -> str:
        parts = [f"taken from {name}: {', '.join(taken)}" for name, taken in self.taken.items()]
        if not parts:
            return self.guess
        guess = f", and {self.guess}" if self.guess else ""
        said = f"not measured on your devices but {'; '.join(parts)}{guess}"
        if self.compare_with:
            said += (
                "; other switch presets take cables and messages from other fabrics; to compare"
                f" fabrics, create all of them with --hosts-like {self.compare_with}"
            )
        return said


def fill(
    topology: str, options: Mapping[str, Sequence[str]], name: str, asked: NewFabricOptions
) -> FilledTemplate:
    """Return the template, with missing values copied from the model fabric."""
    if whole := _whole_fabric(topology, asked):
        return _like_whole(Template(topology=topology, options=options, name=name), whole)
    switch = asked.presets.get("switch")
    like = asked.like or LIKE.get(switch or "", OTHERS_LIKE)
    fabric = _core.load_fabric(like)
    hosts = _core.load_fabric(asked.hosts_like) if asked.hosts_like else fabric
    presets = _presets(fabric, hosts, asked)
    cable = _host_cable(hosts)
    slowest = _slowest_port(cable["bandwidth_Bps"], presets, asked)
    origins: dict[str, str] = {}
    taken: dict[str, list[str]] = {}

    def take(table: str, what: str, source: "Fabric" = hosts) -> None:
        origins[table] = _origin(source, switch)
        taken.setdefault(source.name, []).append(what)

    if asked.presets.get("host") is None:
        host = f"{presets['host']} (--host-preset)"
        if asked.names_hosts:
            take("host", host)
        else:
            origins["host"] = f"Fitted to {_CLUSTERS}: not measured on your hosts. Give your own."
            taken[_CLUSTERS] = [host]
    if asked.presets.get("nic") is None:
        take("nic", f"{presets['nic']} (--nic-preset)", fabric)
        if library := _library(presets):
            origins["nic"] += f"\n{library[0].upper()}{library[1:]}."
    if asked.presets.get("switch") is None:
        taken.setdefault(fabric.name, []).append(f"{presets['switch']} (--switch-preset)")
    bandwidth = asked.bandwidth or slowest.text
    latency = asked.latency or f"{cable['latency_s'] * 1e6:g}us"
    if asked.latency is None:
        take("link", f"{latency} per cable to a host (--latency)")
    if asked.bandwidth is None and slowest.preset:
        origins["bandwidth"] = f"That of a port of {slowest.preset}."
        taken.setdefault(f"the ports of {slowest.preset}", []).append(f"{bandwidth} (--bandwidth)")
    elif asked.bandwidth is None:
        take("link", f"{bandwidth} (--bandwidth{slowest.other})")
    if asked.messages is None:
        take("point_to_point", "its MPI library's messages (--messages)")
    messages = asked.messages or asked.hosts_like or like
    inside = _host_keys(asked, presets["host"])
    template = Template(
        topology=topology,
        options=options,
        name=name,
        presets=presets,
        bandwidth=bandwidth,
        latency=latency,
        switch_latency=asked.switch_latency,
        messages=None if messages == NO_MESSAGES else messages,
        origins=origins,
        host=inside.keys,
        whole_host=inside.whole,
    )
    by_switch = switch is not None and not asked.names_hosts
    of_hosts = by_switch and any(table in origins for table in ("link", "point_to_point"))
    return _with_switch_latency(
        FilledTemplate(
            template,
            taken,
            compare_with=fabric.name if of_hosts else "",
            hosts_said=inside.said,
            library_said=_library(presets) if asked.presets.get("nic") is None else "",
        )
    )


def _whole_fabric(topology: str, asked: NewFabricOptions) -> "Fabric | None":
    """Return the fabric that provides all other tables, as cables of several rates belong together.

    The fabric is a GPU cluster, or a fabric of the same kind whose devices have no presets, unless
    the user names presets.
    """
    like = asked.like or (CLUSTERS_LIKE if topology == CLUSTERS_OF_GPUS else None)
    fabric = None if like is None else _core.load_fabric(like)
    if fabric is None or fabric.topology != topology:
        return None
    of_gpus = topology == CLUSTERS_OF_GPUS
    presets = {f"{device}_preset": preset for device, preset in asked.presets.items()}
    if not of_gpus and (fabric.host["preset"] or fabric.nic["preset"] or any(presets.values())):
        return None
    for key, value in (presets | {key: getattr(asked, key) for key in _OF_OTHERS}).items():
        if value:
            raise WeftError(
                f"{named(key)}: {'a cluster of GPUs' if of_gpus else f'a {topology}'} takes all"
                f" tables but its topology from {fabric.name} ({named('like')}); leave the option"
                " out, and edit the file"
            )
    return fabric


def _like_whole(template: Template, fabric: "Fabric") -> FilledTemplate:
    keys = tomllib.loads(Path(fabric.file).read_text(encoding="utf-8"))["topology"]
    own = _keys_of_gpus(template, keys) if template.topology == CLUSTERS_OF_GPUS else {}
    left = {"fabric", "topology"}
    told = "all tables but the topology"
    given = {key: template.options[key][-1] for key in _IN_NODE if key in template.options}
    if any(value != str(keys.get(key)) for key, value in given.items()):
        left.add("nccl")
        told += " and [nccl], whose graphs are of other nodes"
    origin = f"# As in {fabric.name}: not measured on your devices. Give your own.\n\n"
    template = replace(
        template,
        options={**{key: [value] for key, value in own.items()}, **template.options},
        other_tables=origin + _other_tables(fabric, left),
    )
    taken = [*(f"{key} {value}" for key, value in own.items()), f"{told} (--like)"]
    return FilledTemplate(template, {fabric.name: taken})


def _keys_of_gpus(template: Template, keys: Mapping[str, object]) -> dict[str, str]:
    """Return the keys of [topology] that the user did not give, with the fabric's values.

    Keys that depend on a given key are left out.
    """
    given = {"kind", *template.options}
    if "network" in template.options:
        given |= _OF_NETWORK
    if "gpus" in template.options:
        given.add("nics")
    return {key: str(value) for key, value in keys.items() if key not in given}


def _other_tables(fabric: "Fabric", left: Collection[str]) -> str:
    """Return the tables of a file except those named in `left`, with the comments above them."""
    kept: list[str] = []
    comments: list[str] = []
    keep = False
    text = Path(fabric.file).read_text(encoding="utf-8")
    for line in text.splitlines(keepends=True):
        if head := _TABLE.match(line):
            keep = head[1] not in left
        elif line.startswith("#"):
            comments.append(line)
            continue
        kept += [*comments, line] if keep else []
        comments.clear()
    return "".join(kept)


def _with_switch_latency(filled: FilledTemplate) -> FilledTemplate:
    """Guess the latency of cables between switches, if needed."""
    template = filled.template
    if template.switch_latency is not None or not has_cables_between_switches(template):
        return filled
    guess = f"{SWITCH_LATENCY} is a guess: 5 m of cable, 5 ns a metre."
    origins = {**template.origins, "links": guess}
    told = f"{SWITCH_LATENCY} between switches is a guess (--switch-latency)"
    template = replace(template, switch_latency=SWITCH_LATENCY, origins=origins)
    return replace(filled, template=template, guess=told)


def _presets(fabric: "Fabric", hosts: "Fabric", asked: NewFabricOptions) -> dict[str, str]:
    own = {
        "host": hosts.host["preset"] if asked.names_hosts else DEFAULT_PRESETS["host"],
        "nic": NICS.get(asked.presets.get("switch") or "", fabric.nic["preset"]),
        "switch": fabric.switches[0]["preset"],
    }
    presets = {device: asked.presets.get(device) or own[device] for device in DEVICES}
    for device, preset in presets.items():
        if not preset:
            of_hosts = device == "host" and asked.hosts_like is not None
            raise WeftError(
                f"{named('hosts_like' if of_hosts else 'like')}:"
                f" {(hosts if of_hosts else fabric).name} names no {device} preset; give"
                f" {named(f'{device}_preset')}"
            )
    return presets


@dataclass(frozen=True)
class _CableRate:
    """Default bandwidth of cables, as option, and the preset whose ports limit it."""

    text: str
    preset: str = ""
    """Empty if the rate is that of the model fabric's cables."""
    other: str = ""
    """Remark on a port with another rate."""


def _slowest_port(
    cable_Bps: float,  # noqa: N803
    presets: Mapping[str, str],
    asked: NewFabricOptions,
) -> _CableRate:
    """Return the bandwidth that ports of switches and NICs have, if the model's is another.

    The rate of the model fabric's cables is that of its hosts' NICs. It counts if the user names
    the hosts, or if the model fabric was measured with this switch.
    """
    switch, nic = asked.presets.get("switch"), asked.presets.get("nic")
    if nic is None and switch in NICS:
        nic = presets["nic"]
    rates = {presets["switch"]: measured.port_rate(presets["switch"])}
    if nic is not None:
        rates[nic] = measured.port_rate(nic)
    slowest = min(rates, key=lambda preset: rates[preset])
    rate = rates[slowest]
    of_cable = _CableRate(_gigabits(cable_Bps))
    if math.isinf(rate) or math.isclose(rate, cable_Bps, rel_tol=1e-4):
        return of_cable
    if asked.names_hosts:
        return replace(of_cable, other=f"; a port of {slowest} has {_gigabits(rate)}")
    if nic is None and cable_Bps < rate and (switch is None or switch in LIKE):
        return of_cable
    return _CableRate(_gigabits(rate), slowest)


def _gigabits(rate_Bps: float) -> str:  # noqa: N803
    return f"{rate_Bps * 8e-9:g}Gbps"


def ports_of(preset: str) -> int | None:
    """Return the ports of a switch preset; None if it names none."""
    table = read_toml(paths.installed("presets", "switch", f"{preset}.toml"))
    ports: int | None = table.get("max_ports")
    return ports


def switch_of(asked: NewFabricOptions) -> str:
    """Return the preset of the switches: the named one, or that of the model fabric, if any."""
    if switch := asked.presets.get("switch"):
        return switch
    preset: str = _core.load_fabric(asked.like or OTHERS_LIKE).switches[0]["preset"]
    return preset


def _library(presets: Mapping[str, str]) -> str:
    """Return which library's overhead a NIC has with SHARP, if that of another is known."""
    nic = presets["nic"]
    if presets["switch"] not in LIKE or nic not in WITH_HCOLL:
        return ""
    return (
        f"{nic} has the overhead of SHARP in a loop of UCC's benchmark; a call of MPI through HCOLL"
        f" takes about 5 us more: --nic-preset {WITH_HCOLL[nic]}"
    )


def _host_keys(asked: NewFabricOptions, preset: str) -> HostKeys:
    """Return the keys of [host] from the file of --host-from, or the cores."""
    if asked.host_from is None:
        return HostKeys({} if asked.cores is None else {"cores": asked.cores}, "")
    if asked.cores is not None:
        raise WeftError(
            f"{named('cores')}: found with {named('host_from')}, whose file has the cores; leave"
            " one out"
        )
    return keys_of(asked.host_from, preset, named("host_from"))


def _host_cable(fabric: "Fabric") -> "Cable":
    return next(cable for cable in fabric.cables() if cable["lower"] < len(fabric.hosts))


def _origin(fabric: "Fabric", switch: str | None) -> str:
    """Return the comment above values copied from a fabric."""
    own = fabric.switches[0]["preset"]
    other = f", with {own} switches and not {switch}" if switch not in (None, own) else ""
    return f"As in {fabric.name}{other}: not measured on your devices. Give your own."
