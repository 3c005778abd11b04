# SPDX-License-Identifier: LGPL-2.1-only
"""Cluster calibration: fits a fabric's network and hosts to a folder of OSU or IMB outputs.

The network is fitted first (`weft.calibrate.cluster.network`), then the hosts on top of it
(`weft.calibrate.host.host`). Fitting one part alone keeps the base fabric's values for the other.
The resulting file lists the purpose of each row and the bootstrap intervals of its values.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.measured import LogError, log_error
from weft.base.process import work_directory
from weft.base.units import format_size, plural
from weft.calibrate.cluster import network
from weft.calibrate.cluster.folder import Evidence
from weft.calibrate.cluster.network import NetworkFit
from weft.calibrate.host import host
from weft.calibrate.host.host import HostFit, with_intervals
from weft.calibrate.host.intervals import FOLDS, PERCENT
from weft.calibrate.host.keys import Key
from weft.calibrate.host.rows import (
    HostRow,
    Times,
    check_fits,
    choose,
    simulate_as_measured,
)
from weft.calibrate.host.search import Progress
from weft.calibrate.point_to_point import fabric_file
from weft.fabric.defaults import NewFabricOptions
from weft.fabric.from_file import fill_from
from weft.fabric.template import write

Part = Literal["all", "network", "hosts"]
PARTS: tuple[Part, ...] = ("all", "network", "hosts")


@dataclass(frozen=True)
class Use:
    """Group of measured rows and its purpose."""

    rows: str
    purpose: str


@dataclass(frozen=True)
class ClusterFit:
    """Result of calibrating a fabric from a folder."""

    text: str
    """Contents of the fabric file."""
    evidence: Evidence
    network: NetworkFit | None
    hosts: HostFit | None
    measured: Times
    """Measured times of the collectives."""
    predicted: Times
    """Simulated times of the same collectives on the fitted fabric, by the same benchmarks."""
    uses: Sequence[Use] = field(default_factory=list)

    @property
    def intervals(self) -> Mapping[str, tuple[str, str]]:
        """Bootstrap intervals by key, as written to the file."""
        found = {} if self.network is None else dict(self.network.intervals)
        return found | ({} if self.hosts is None else self.hosts.intervals)

    @property
    def collectives(self) -> LogError | None:
        """Error of the predicted collectives; None if none were measured."""
        if not self.measured:
            return None
        numbers = list(enumerate(self.measured))
        return log_error(
            {number: self.predicted[row] for number, row in numbers},
            {number: self.measured[row] for number, row in numbers},
        )

    @property
    def held_out(self) -> LogError | None:
        """Prediction error on held-out rows: folds of fitted rows, all rows if none were fitted."""
        return self.collectives if self.hosts is None else self.hosts.held_out(self.measured)


@contextmanager
def base_of(base: str | None, topology: Path | None) -> Iterator[tuple[str | None, str]]:
    """Return the base fabric, converted from another tool's topology file if given, and a note.

    A converted base exists only within the context.
    """
    if topology is None:
        yield base, ""
        return
    if base is not None:
        raise WeftError(
            f"{named('topology')}: found together with {named('base')}, which has a topology too;"
            " leave one out"
        )
    with work_directory() as work:
        filled = fill_from(topology, topology.stem, NewFabricOptions(), named("topology"))
        write(filled.template, work / "base.toml")
        yield str(work / "base.toml"), filled.note


def calibrate(
    evidence: Evidence,
    name: str,
    base: str | None = None,
    part: Part = "all",
    keys: Sequence[Key] = (),
    fallback: str | None = None,
    progress: Progress | None = None,
) -> ClusterFit:
    """Fit a fabric to the measurements of a folder."""
    measured = evidence.times
    if base is None and part == "hosts":
        raise WeftError(
            f"{named('base')}: is missing; fitting hosts alone requires the network of a fabric"
        )
    if not measured and part == "hosts":
        raise WeftError(f"{named('folder')}: {evidence.folder} has no collectives to fit hosts to")
    if base is not None:
        check_fits(_core.load_fabric(base), measured)
    found = None if part == "hosts" else network.fit(evidence, base, name)
    if found is None:
        assert base is not None
        text = Path(_core.load_fabric(base).file).read_text(encoding="utf-8")
    else:
        text = found.text
    hosts = None
    if part != "network" and measured:
        with work_directory() as work:
            file = work / "fabric.toml"
            file.write_text(text, encoding="utf-8")
            rows = choose(measured)
            fabric = _core.load_fabric(str(file))
            hosts = host.fit(fabric, keys, measured, evidence.methods, rows, fallback, progress)
        text = hosts.text
        predicted = hosts.predicted
    else:
        predicted = simulate_as_measured(text, evidence.methods, fallback)
    fit = ClusterFit(text, evidence, found, hosts, measured, predicted)
    fit = ClusterFit(text, evidence, found, hosts, measured, predicted, _uses(fit))
    text = _head(fit) + with_intervals(text, fit.intervals)
    fabric_file.check(text)
    return ClusterFit(text, evidence, found, hosts, measured, predicted, fit.uses)


def _uses(fit: ClusterFit) -> list[Use]:
    """Return the purpose of each group of rows, including the unused ones."""
    uses = []
    evidence = fit.evidence
    if fit.network is not None:
        uses += _stream_uses(evidence, fit.network)
        number = len(fit.network.calibration.measured)
        what = evidence.pairs.name if evidence.pairs else _files(evidence)
        uses.append(
            Use(f"{plural(number, 'size')} of latency ({what})", "link.latency, messages by size")
        )
    for (collective, ranks, ppn), rows in _series(fit.measured).items():
        sizes = [row.bytes for row in rows]
        label = f"{collective}, {ranks // ppn} x {ppn}: {plural(len(rows), 'size')}"
        if len(rows) > 1:
            label += f", {format_size(sizes[0])} to {format_size(sizes[-1])}"
        fitted = 0 if fit.hosts is None else len([row for row in rows if row in fit.hosts.fitted])
        purpose = "held out" if not fitted else "hosts"
        if fitted and fitted < len(rows):
            purpose = f"hosts ({fitted} sizes); held out ({len(rows) - fitted})"
        uses.append(Use(label, purpose))
    return [*uses, *(Use(what, f"not used: {why}") for what, why in evidence.unused)]


def _stream_uses(evidence: Evidence, fit: NetworkFit) -> list[Use]:
    """Return the streams that set the link rate and the streams that set the core time."""
    purposes: dict[str, list[str]] = {fit.rate.source: ["link.bandwidth"]}
    for one in evidence.bandwidth:
        purposes.setdefault(network.stream_name(one), [])
    if fit.message_rate is not None:
        purposes[fit.message_rate.source].append("nic.message_rate")
    if fit.calibration.stream:
        (first, *_) = network.core_streams(evidence)
        purposes[network.stream_name(first)].append("messages' time on the cores")
    return [
        Use(rows, ", ".join(some) or "not used: other rows reach a higher rate")
        for rows, some in purposes.items()
    ]


def _files(evidence: Evidence) -> str:
    names = [one.path.name for one in evidence.latency]
    return names[0] if len(names) == 1 else f"{len(names)} files"


def _series(times: Times) -> dict[tuple[str, int, int], list[HostRow]]:
    found: dict[tuple[str, int, int], list[HostRow]] = {}
    for row in sorted(times):
        found.setdefault((row.collective, row.ranks, row.ppn), []).append(row)
    return found


def series_errors(fit: ClusterFit) -> dict[str, tuple[int, LogError]]:
    """Return number of rows and held-out error by collective and number of ranks."""
    found = {}
    for (collective, ranks, ppn), rows in _series(fit.measured).items():
        some = {row: fit.measured[row] for row in rows}
        if fit.hosts is None:
            error: LogError | None = ClusterFit(
                "", fit.evidence, None, None, some, fit.predicted
            ).collectives
        else:
            error = fit.hosts.held_out(some, rows)
        if error is not None:
            found[f"{collective}, {ranks // ppn} x {ppn}"] = (len(rows), error)
    return found


def _head(fit: ClusterFit) -> str:
    """Return the comment at the head of the file."""
    lines = [f"Calibrated by `weft calibrate cluster` from {fit.evidence.folder.name}."]
    if fit.network is not None:
        error = fit.network.error
        lines += [f"{line}, {PERCENT} %" for line in fit.network.messages]
        lines.append(f"Ping-pong, simulated: {error.mean:.1%} mean, {error.worst:.1%} worst.")
    if (out := fit.held_out) is not None:
        how = "predicted" if fit.hosts is None else f"held out ({FOLDS} folds)"
        lines.append(
            f"{plural(len(fit.measured), 'row')} of collectives, {how}: {out.mean:.1%} mean,"
            f" {out.worst:.1%} worst."
        )
    lines += [f"{use.rows}: {use.purpose}" for use in fit.uses]
    if fit.hosts is not None:
        lines += unsettled(fit.hosts)
    return "".join(f"# {line}\n" for line in lines)


def unsettled(fit: HostFit) -> list[str]:
    """Return a line for each key that the rows do not determine."""
    kept = [
        f"{key.text}: not determined ({one.why}); keeps the value of --base"
        for key, one in fit.undetermined.items()
    ]
    vague = [
        f"{key.text}: poorly determined ({one.why}); fitted, because the value of --base is worse"
        for key, one in fit.values.items()
        if not one.determined
    ]
    return kept + vague
