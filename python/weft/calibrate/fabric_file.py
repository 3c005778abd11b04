# SPDX-License-Identifier: LGPL-2.1-only
"""Fabric files with calibrated values: a new one of two hosts, or another with its values replaced.

What is written is proven by loading it, before it takes its place.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.output import whole_file
from weft.calibrate.p2p import Calibration
from weft.fabric.toml_file import in_toml, without_tables

if TYPE_CHECKING:
    from weft._core import Fabric

# 1 TB/s: where bytes cost nothing that was measured, they say nothing of the link's bandwidth.
_FASTEST_S = 1e-12


@dataclass(frozen=True)
class Route:
    """The way of the ping-pong's messages, whose latency and bandwidth the factors are of."""

    latency_s: float
    bandwidth_Bps: float  # noqa: N815 (as records and presets name it)


def render(calibration: Calibration, name: str, base: str | None) -> str:
    """Return the text of the fabric: two hosts, or a base fabric with its messages replaced."""
    if base is None:
        route = _own_route(calibration)
        head = _two_hosts(calibration, name, route)
    else:
        fabric = _core.load_fabric(base)
        route = route_of(fabric)
        text = Path(fabric.file).read_text(encoding="utf-8")
        head = without_tables(text, ("point_to_point", "mpi"))
    return "\n".join([head.rstrip("\n"), "", *_messages(calibration, route)]) + "\n"


def write(text: str, target: Path) -> None:
    """Write the file, if it is one that weft accepts."""
    with tempfile.TemporaryDirectory(prefix="weft-") as directory:
        path = Path(directory) / "fabric.toml"
        path.write_text(text, encoding="utf-8")
        _core.load_fabric(str(path))
    with whole_file(named("output"), target) as file:
        file.write(text)


def route_of(fabric: "Fabric") -> Route:
    """Return the way between the first two hosts of a fabric."""
    if len(fabric.hosts) < 2:
        raise WeftError(f"{named('base')}: {fabric.name} has one host; a ping-pong needs two")
    way = fabric.route(0, 1)
    names = {name.rpartition(".")[0] for name in way["links"]}
    rates = [cable["bandwidth_Bps"] for cable in fabric.cables() if cable["name"] in names]
    if way["latency_s"] <= 0:
        raise WeftError(
            f"{named('base')}:"
            f" the route between the first two hosts of {fabric.name} has no latency, of"
            " which a latency_factor could be; give its [link] one"
        )
    return Route(way["latency_s"], min(rates))


def _own_route(calibration: Calibration) -> Route:
    """Return what makes the factors of the shortest and of the fastest messages 1."""
    segments = calibration.transfer.segments
    per_byte = min(max(segment.per_byte_s, _FASTEST_S) for segment in segments)
    # In digits that the file has, so that the factors are of what it says.
    latency = float(f"{segments[0].fixed_s / 2:.6g}") * 2
    return Route(latency, float(f"{1 / per_byte:.6g}"))


def _two_hosts(calibration: Calibration, name: str, route: Route) -> str:
    source = calibration.pingpong.source
    return f"""# Calibrated by `weft calibrate p2p` from {source}.
# Hosts, NICs and switch are placeholders: name the presets that you have, or take --base.
[fabric]
name = {in_toml(name)}
description = {in_toml(f"Two hosts, messages as in {calibration.pingpong.one_way.table.path.name}")}

[topology]
kind = "star"
hosts = 2

[host]
preset = "xeon-8360"

[nic]
preset = "connectx-6-dx"

# A ping-pong does not tell cable, NIC and switch apart: each cable has half of what the shortest
# messages take beside their bytes, and the rate of the fastest segment.
[link]
bandwidth = "{route.bandwidth_Bps!r}Bps"
latency = "{_digits(route.latency_s / 2)}s"

[switch]
preset = "l2"
forwarding_latency = "0s"
"""


def _digits(value: float) -> str:
    return f"{value:.12g}"


def _messages(calibration: Calibration, route: Route) -> Iterator[str]:
    yield f"# Point-to-point messages: {calibration.pingpong.source}; {_quality(calibration)}."
    for segment in calibration.transfer.segments:
        yield "[[point_to_point]]"
        yield f'from = "{segment.from_bytes}B"'
        yield f"latency_factor = {_digits(segment.fixed_s / route.latency_s)}"
        yield f"bandwidth_factor = {_digits(1 / (segment.per_byte_s * route.bandwidth_Bps))}"
        yield ""
    yield from _mpi(calibration)


def _quality(calibration: Calibration) -> str:
    name = next(iter(calibration.models))
    error = calibration.error(name)
    return f"{name}, logarithmic error {error.mean:.1%} mean, {error.worst:.1%} worst"


def _mpi(calibration: Calibration) -> Iterator[str]:
    found = calibration.overheads
    if found is None:
        return
    yield (
        f"# MPI_Send timed apart: eager up to {found.last_eager} B, rendezvous from"
        f" {found.first_rendezvous} B on. The receiver's overhead is not in the data."
    )
    yield "[mpi]"
    yield f'eager_threshold = "{found.eager_threshold}B"'
    yield f'send_overhead = "{_digits(found.send_fixed_s)}s"'
    if found.send_per_byte_s > 0:
        yield f'send_copy_rate = "{_digits(1 / found.send_per_byte_s)}Bps"'
