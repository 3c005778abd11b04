# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics: shipped, from users' files, and new."""

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weft import _core
from weft.api.input_checks import Changes, PathLike, call, changes, choice, existing, whole
from weft.base.errors import WeftError
from weft.base.plots import check_format
from weft.base.units import natural_order, plural
from weft.benchmarks import measured
from weft.fabric import export as exports
from weft.fabric.schema import tables
from weft.runs import launch
from weft.runs.html import folded, preformatted
from weft.runs.record import Record, read_record
from weft.runs.record_data import with_changes
from weft.runs.site import load_fabric

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

    from weft.fabric.defaults import FilledTemplate, NewFabricOptions
    from weft.fabric.from_file import ReadFabric
    from weft.fabric.traffic import Traffic

__all__ = ["Fabric", "check_platform", "fabric_from", "fabric_options", "fabrics", "new_fabric"]

Part = Literal["switches", "cables"]
_MOST_DRAWN = 300
"""Limit on hosts and switches up to which notebooks draw a fabric automatically."""


class Fabric:
    """Immutable network to run on: hosts, their NICs, links and switches.

    Attributes:
        name: Name in the fabric file.
        file: Path of the fabric file.
        changes: Differences from the file, each as TABLE.KEY=VALUE.
        description: One-line description.
        topology: Kind of topology, such as "fat_tree".
        hosts: Names of the hosts, in the order in which ranks are placed.
        switches: Names of the switches.
        links: Number of links, two per cable.
        cores_per_host: Limit on the ranks per host.
        note: For a new fabric, the values that were measured on other devices.
    """

    @call
    def __init__(self, fabric: "PathLike | Fabric", set: Changes | None = None) -> None:
        """Read a fabric.

        Args:
            fabric: A shipped name (`weft.fabrics()` lists them), the path of a fabric file, or a
                fabric to derive from.
            set: Keys whose values in the file are replaced: `{"switch.slots": 64}`.

        Raises:
            WeftError: There is no such fabric, or its file is invalid.
        """
        name, before = _named(fabric)
        self.core = load_fabric(name, (*before, *changes(set)))
        self.name = self.core.name
        self.file = Path(self.core.file)
        self.changes = tuple(self.core.changes)
        self.description = self.core.description
        self.topology = self.core.topology
        self.hosts = tuple(self.core.hosts)
        self.switches = tuple(one["name"] for one in self.core.switches)
        self.links = self.core.links
        self.cores_per_host = self.core.cores_per_host
        self.note = ""

    @call
    def describe(self) -> str:
        """Return the output of `weft fabric show`: devices, links, and capabilities of switches."""
        return "\n".join([self.core.describe().rstrip("\n"), *measured.scaled(self.core)])

    @call
    def check(self, *, strict: bool = False) -> str:
        """Prove that every route between hosts is connected end to end; return the proof's result.

        Values outside the presets' measured ranges (cable rates, scaled values) cause a warning.

        Args:
            strict: Refuse such values.

        Raises:
            WeftError: The proof fails.
        """
        beyond = measured.fabric_beyond(self.core)
        if strict:
            measured.refuse(beyond)
        if beyond:
            warnings.warn(f"{self.name}: {measured.said(beyond)}", stacklevel=3)
        return self.core.check().rstrip("\n")

    @call
    def frame(self, part: Part = "switches") -> "DataFrame":
        """Return the switches or the cables, one per row.

        Args:
            part: `switches`, with their capabilities (times in seconds, sizes in bytes), or
                `cables`, with the names of both ends, `bandwidth_Bps` (bytes per second) and
                `latency_s`.
        """
        import polars

        if choice("part", part, ("switches", "cables")) == "switches":
            hidden = ("offload",)
            rows = [{k: v for k, v in one.items() if k not in hidden} for one in self.core.switches]
            return polars.DataFrame(rows, infer_schema_length=None)
        names = (*self.hosts, *self.switches)
        return polars.DataFrame(
            [
                {
                    "name": one["name"],
                    "lower": names[one["lower"]],
                    "upper": names[one["upper"]],
                    "bandwidth_Bps": one["bandwidth_Bps"],
                    "latency_s": one["latency_s"],
                }
                for one in self.core.cables()
            ]
        )

    @call
    def plot(
        self, path: PathLike, record: Record | PathLike | None = None, job: str | None = None
    ) -> None:
        """Draw the fabric, optionally with the load of a run, or of one of its jobs.

        Args:
            path: The picture to write: .png, .pdf or .svg.
            record: Record of a run on this fabric, or its file. Cables are coloured by the
                utilisation of the busier of their two links, and switches by the bytes that they
                reduced.
            job: Job of the record whose traffic and hosts are shown.
        """
        from weft.fabric.picture import plot

        check_format("path", Path(path))
        plot(self.core, Path(path), self._traffic(record, job))

    @call
    def figure(self, record: Record | PathLike | None = None, job: str | None = None) -> "Figure":
        """Return the drawing of `plot` as a matplotlib figure.

        Args:
            record: As in `plot`.
            job: As in `plot`.
        """
        from weft.fabric.picture import figure_of

        return figure_of(self.core, self._traffic(record, job))

    def _traffic(self, record: "Record | PathLike | None", job: str | None) -> "Traffic | None":
        from weft.fabric.traffic import traffic_of

        if record is None:
            if job is not None:
                raise WeftError("job: found without record, whose job it names")
            return None
        if isinstance(record, Record):
            return traffic_of(record, self.core, job=job)
        return traffic_of(read_record(Path(record)), self.core, os.fspath(record), job)

    @call
    def export(self, path: PathLike) -> list[str]:
        """Export the fabric for other tools: a SimGrid platform (.xml) or a graph (.dot).

        Returns:
            The features that the format cannot express, which are lost.
        """
        return exports.export(self.core, Path(path))

    def __repr__(self) -> str:
        """Return name and size."""
        label = with_changes(self.name, self.changes)
        hosts, switches = plural(len(self.hosts), "host"), plural(len(self.switches), "switch")
        return f"<Fabric {label}: {hosts}, {switches}>"

    def __str__(self) -> str:
        """Return the output of `weft fabric show`."""
        return "\n".join([self.core.describe().rstrip("\n"), *measured.scaled(self.core)])

    def _repr_html_(self) -> str:
        text = f"<strong>{escape(with_changes(self.name, self.changes))}</strong>"
        text += f" <em>{escape(self.note)}</em>" if self.note else ""
        shown = preformatted(self.core.describe().rstrip("\n"))
        drawn = ""
        if len(self.hosts) + len(self.switches) <= _MOST_DRAWN:
            drawn = folded("picture", self._as_svg())
        return f"<div>{text}{shown}{drawn}</div>"

    def _as_svg(self) -> str:
        """Return the picture; identical fabrics produce identical bytes."""
        import matplotlib

        file = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": self.name}):
            self.figure().savefig(file, format="svg", metadata={"Date": None})
        _, start, rest = file.getvalue().partition("<svg")
        return start + rest


FabricLike = str | os.PathLike[str] | Fabric
"""Fabric: a shipped name, a file, or a `weft.Fabric`."""


def _named(fabric: FabricLike) -> tuple[str, tuple[str, ...]]:
    """Return a fabric's name for requests, and the differences from its file."""
    if isinstance(fabric, Fabric):
        return str(fabric.file), fabric.changes
    if not isinstance(fabric, str | os.PathLike):
        raise WeftError(
            f"fabric: found {fabric!r}; write a shipped name, a fabric file, or weft.Fabric(...)"
        )
    return os.fspath(fabric), ()


def fabric_and_changes(
    fabric: FabricLike, changed: Changes | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return a fabric's name for requests, and all differences from its file."""
    name, before = _named(fabric)
    return name, (*before, *changes(changed))


@call
def check_platform(platform: PathLike) -> str:
    """Prove the routes of a SimGrid platform, as `weft fabric check` does.

    Args:
        platform: The platform file (.xml or .so).

    Returns:
        The proven properties: every host reaches every other host and every smart switch over a
        route that uses no link twice, and routes between hosts cross a smart switch if the platform
        has any.

    Raises:
        WeftError: SimGrid cannot load it, or a route is missing or wrong; the text says which.
    """
    return launch.prove_routes(Path(platform)).rstrip("\n")


@call
def fabrics() -> "DataFrame":
    """Return the shipped fabrics: `name`, `hosts`, `switches`, `description`."""
    import polars

    loaded = [
        (name, _core.load_fabric(name)) for name in sorted(_core.list_fabrics(), key=natural_order)
    ]
    return polars.DataFrame(
        [
            {
                "name": name,
                "hosts": len(one.hosts),
                "switches": len(one.switches),
                "description": one.description,
            }
            for name, one in loaded
        ]
    )


@call
def fabric_options(word: str | None = None) -> "DataFrame":
    """Return all keys of fabric files, one per row.

    The columns are `table`, `key`, `type`, `required`, `otherwise` (the value if the key is
    absent), `allowed` and `meaning`.

    Args:
        word: Name of a table, whose keys are returned; or a word in the names or meanings of keys.

    Raises:
        WeftError: No table and no key matches.
    """
    import polars

    return polars.DataFrame(
        [
            {"table": table["table"], **option}
            for table in tables(word)
            for option in table["options"]
        ]
    ).select("table", "key", "type", "required", "otherwise", "allowed", "meaning")


@call
def new_fabric(
    topology: str,
    path: PathLike,
    *,
    like: PathLike | None = None,
    hosts_like: PathLike | None = None,
    host_from: PathLike | None = None,
    cores: int | None = None,
    host_preset: str | None = None,
    nic_preset: str | None = None,
    switch_preset: str | None = None,
    bandwidth: str | None = None,
    latency: str | None = None,
    switch_latency: str | None = None,
    messages: PathLike | None = None,
    name: str | None = None,
    strict: bool = False,
    force: bool = False,
    **keys: int | str | Sequence[int] | Sequence[str],
) -> Fabric:
    """Write a commented fabric file for a topology, as `weft fabric new` does, and read it.

    Missing values are copied from a shipped fabric, `like`, and host values from the fit to several
    clusters. These values were measured on other devices, as the fabric's `note` and a warning
    state.

    Args:
        topology: Kind of topology: star, fat_tree, torus, dragonfly and so on. Or `sized`: the
            smallest star or fat tree for `hosts`, with the `oversubscription` of its leaves ("2:1")
            and the `radix` of its switches, by default their preset's ports.
        path: The file to write.
        like: The fabric that provides all missing values.
        hosts_like: The fabric that provides hosts, their cables and their messages, so that fabrics
            with different switches have the same hosts.
        host_from: XML of lstopo on a host, which provides the hosts' cores, sockets and caches.
        cores: Cores of every host. By default as in the host's preset.
        host_preset: Preset of all hosts. By default the preset of `hosts_like` or `like` if given,
            else `xeon-2-socket`.
        nic_preset: Preset of all NICs.
        switch_preset: Preset of all switches.
        bandwidth: Bandwidth of each direction of a cable, such as "100Gbps". By default that of the
            presets' ports, or as the cables of `hosts_like` or `like` if given.
        latency: Latency of each direction of a host's cable, such as "0.94us".
        switch_latency: Latency of each direction of a cable between switches.
        messages: The fabric that provides the messages between hosts, or "none".
        name: Name in records and plots. By default the file's name.
        strict: Refuse cables faster than the presets' measured cables or ports, scaled presets, and
            hosts and switches of two kinds of network.
        force: Replace an existing file.
        keys: The topology's own keys, such as `hosts=16`, `dimensions=[4, 4]`, `down=[8, 8]`.

    Raises:
        WeftError: A key is unknown or wrong, or the file exists.
    """
    from weft.fabric.defaults import NewFabricOptions, fill
    from weft.fabric.sizing import KEYS, SIZED
    from weft.fabric.template import DEVICES, find_topology, own_options

    known = (
        KEYS
        if topology == SIZED
        else [option["key"] for option in own_options(find_topology(topology))]
    )
    for key in keys:
        choice(f"weft.new_fabric: {topology}", key, known)
    presets = dict(zip(DEVICES, (host_preset, nic_preset, switch_preset), strict=True))
    asked = NewFabricOptions(
        presets=presets,
        like=_text(like),
        hosts_like=_text(hosts_like),
        host_from=None if host_from is None else existing("host_from", host_from),
        cores=cores,
        bandwidth=bandwidth,
        latency=latency,
        switch_latency=switch_latency,
        messages=_text(messages),
    )
    file = Path(path)
    if topology == SIZED:
        return _written(
            _sized(file.stem if name is None else name, asked, keys),
            file,
            force=force,
            strict=strict,
        )
    options = {key: _texts(topology, key, value) for key, value in keys.items()}
    filled = fill(topology, options, file.stem if name is None else name, asked)
    return _written(filled, file, force=force, strict=strict)


def _sized(name: str, asked: "NewFabricOptions", keys: Mapping[str, Any]) -> "FilledTemplate":
    """Return the template of the smallest tree for a number of hosts."""
    from weft.fabric.sizing import fill_sized

    if "hosts" not in keys:
        raise WeftError("hosts: is missing; write how many hosts the fabric has")
    hosts = whole("hosts", keys["hosts"], 2, 1_000_000)
    radix = whole("radix", keys["radix"], 2, 1024) if "radix" in keys else None
    oversubscription = str(keys.get("oversubscription", "1:1"))
    return fill_sized(hosts, oversubscription, radix, name, asked)[1]


@call
def fabric_from(
    from_file: PathLike,
    path: PathLike,
    *,
    like: PathLike | None = None,
    hosts_like: PathLike | None = None,
    host_from: PathLike | None = None,
    cores: int | None = None,
    host_preset: str | None = None,
    nic_preset: str | None = None,
    switch_preset: str | None = None,
    bandwidth: str | None = None,
    latency: str | None = None,
    switch_latency: str | None = None,
    messages: PathLike | None = None,
    name: str | None = None,
    strict: bool = False,
    force: bool = False,
) -> Fabric:
    """Write a fabric file for another tool's topology, as `weft fabric new --from`, and read it.

    Names, rates and latencies come from the file. The fabric's `note` and a warning list the
    missing values and their sources.

    Args:
        from_file: Output of ibnetdiscover, iblinkinfo, ibdiagnet or `scontrol show topology`,
            Slurm's topology.conf or topology.yaml, topology of ns-3 or SimAI, network of ASTRA-sim,
            lab of containerlab, platform of SimGrid, graph in GML or GraphML, or JSON of Mininet,
            the P4 tutorials or networkx.
        path: The file to write.
        like: The fabric that provides all values that are neither arguments nor in the file.
        hosts_like: The fabric that provides hosts, their cables and their messages.
        host_from: XML of lstopo on a host, which provides the hosts' cores, sockets and caches.
        cores: Cores of every host. By default as in the host's preset.
        host_preset: Preset of all hosts.
        nic_preset: Preset of all NICs.
        switch_preset: Preset of all switches.
        bandwidth: Bandwidth of each direction of cables whose rate the file does not state.
        latency: Latency of each direction of hosts' cables without one in the file.
        switch_latency: Latency of each direction of cables between switches without one.
        messages: The fabric that provides the messages between hosts, or "none".
        name: Name in records and plots. By default the file's name.
        strict: Refuse cables faster than the presets' measured cables or ports, scaled presets, and
            hosts and switches of two kinds of network.
        force: Replace an existing file.

    Raises:
        WeftError: The file's kind is unknown, the file is invalid, or the output file exists.
    """
    from weft.fabric.defaults import NewFabricOptions
    from weft.fabric.from_file import fill_from
    from weft.fabric.template import DEVICES

    asked = NewFabricOptions(
        presets=dict(zip(DEVICES, (host_preset, nic_preset, switch_preset), strict=True)),
        like=_text(like),
        hosts_like=_text(hosts_like),
        host_from=None if host_from is None else existing("host_from", host_from),
        cores=cores,
        bandwidth=bandwidth,
        latency=latency,
        switch_latency=switch_latency,
        messages=_text(messages),
    )
    file = Path(path)
    filled = fill_from(existing("from_file", from_file), name or file.stem, asked)
    return _written(filled, file, force=force, strict=strict)


def _written(
    filled: "FilledTemplate | ReadFabric", file: Path, *, force: bool, strict: bool
) -> Fabric:
    """Write a new fabric, and warn of copied and unmeasured values."""
    from weft.fabric.template import write

    write(filled.template, file, force=force, strict=strict)
    made = Fabric(file)
    made.note = filled.note
    if filled.note:
        warnings.warn(f"{file}: {filled.note}", stacklevel=4)
    if beyond := measured.fabric_beyond(made.core):
        warnings.warn(f"{file}: {measured.said(beyond)}", stacklevel=4)
    return made


def _text(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


def _texts(topology: str, key: str, value: object) -> tuple[str, ...]:
    """Return a value in the command line's form: comma-separated lists, and tables individually."""
    from weft.fabric.template import find_topology, own_options

    kind = next(one["type"] for one in own_options(find_topology(topology)) if one["key"] == key)
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = tuple(map(str, value))
        return parts if kind == "tables" else (",".join(parts),)
    return (str(value),)
