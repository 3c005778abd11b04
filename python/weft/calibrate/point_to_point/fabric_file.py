# SPDX-License-Identifier: LGPL-2.1-only
"""Fabric files with calibrated values: a new one with two hosts, or a base with values replaced.

The text is validated by loading it before it replaces the target file.
"""

import tempfile
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.measured import Column, log_error
from weft.base.output import whole_file
from weft.base.units import format_size
from weft.calibrate.measurements.samples import Pair
from weft.calibrate.measurements.simulated import simulate_ping_pong
from weft.calibrate.point_to_point.p2p import Calibration, Core
from weft.calibrate.point_to_point.piecewise import LEAST_PER_BYTE_S as _LEAST_PER_BYTE_S
from weft.fabric.toml_file import in_toml, without_tables

if TYPE_CHECKING:
    from weft._core import Fabric

# 1 TB/s: if bytes cost nothing measurable, they do not determine the link's bandwidth.
_FASTEST_S = 1e-12


@dataclass(frozen=True)
class Route:
    """Route of the ping-pong's messages, which the factors refer to."""

    latency_s: float
    bandwidth_Bps: float  # noqa: N815 (as records and presets name it)


# Keys of [mpi] that a ping-pong determines; all others of a base are kept.
_FITTED = (
    *("preset", "send_overhead", "send_copy_rate", "receive_overhead", "receive_copy_rate"),
    "overheads",
)
_THRESHOLD = "eager_threshold"


def render(calibration: Calibration, name: str, base: str | None, quality: str = "") -> str:
    """Return the text of the fabric: two hosts, or a base fabric with its messages replaced.

    `quality` is the simulation error, which the file states.
    """
    kept: dict[str, Any] = {}
    if base is None:
        route = _own_route(calibration)
        head = _two_hosts(calibration, name, route)
    else:
        fabric = _core.load_fabric(base)
        route = route_of(fabric, pair_of(fabric, calibration.pingpong.between))
        text = Path(fabric.file).read_text(encoding="utf-8")
        head = without_tables(text, ("point_to_point", "mpi"))
        kept = _kept(text)
    source = f"# Point-to-point messages: {calibration.pingpong.source}"
    lines = [head.rstrip("\n"), "", f"{source}; {quality}." if quality else f"{source}."]
    return (
        "\n".join([*lines, *_messages(calibration, route), *_mpi(calibration, route, kept)]) + "\n"
    )


def eager_threshold_of(base: str) -> int | None:
    """Return the eager threshold of the fabric; None if it does not set one."""
    mpi = _core.load_fabric(base).mpi
    return None if mpi is None else int(mpi["eager_threshold_bytes"])


def latency_of(base: str | None, between: Collection[Pair] = ()) -> float | None:
    """Return the latency between the measured hosts of a fabric; None without a base."""
    if base is None:
        return None
    fabric = _core.load_fabric(base)
    return route_of(fabric, pair_of(fabric, between)).latency_s


def pair_of(fabric: "Fabric", between: Collection[Pair]) -> tuple[int, int]:
    """Return the two hosts of a fabric whose route the measured times belong to.

    Among several pairs, it is the pair with the median latency; without pairs, the first two hosts.
    Raises `WeftError` if the first two hosts are cabled directly, since the fit holds for the whole
    fabric.
    """
    if not between:
        _check_representative(fabric)
        return 0, 1
    numbers = {name: number for number, name in enumerate(fabric.hosts)}
    for name in (name for pair in between for name in pair):
        if name not in numbers:
            raise WeftError(
                f"{named('base')}: {fabric.name} has no host '{name}', which is measured;"
                f" {suggestion(name, numbers)}"
            )
    pairs = [(numbers[source], numbers[target]) for source, target in between]
    return sorted(pairs, key=lambda pair: fabric.route(*pair)["latency_s"])[(len(pairs) - 1) // 2]


def _check_representative(fabric: "Fabric") -> None:
    if len(fabric.hosts) > 2 and not fabric.route(0, 1)["through"]:
        raise WeftError(
            f"{named('base')}: {fabric.hosts[0]} and {fabric.hosts[1]} of {fabric.name} share a"
            f" cable of their own, but the fit applies to all {len(fabric.hosts)} hosts; name the"
            f" measured hosts with {named('pair')}"
        )


def _kept(text: str) -> dict[str, Any]:
    mpi = tomllib.loads(text).get("mpi", {})
    return {key: value for key, value in mpi.items() if key not in _FITTED}


def write(text: str, target: Path) -> None:
    """Write the file if weft accepts it."""
    check(text)
    with whole_file(named("output"), target) as file:
        file.write(text)


def write_messages(calibration: Calibration, base: str | None, target: Path) -> Column:
    """Write the fabric with its simulation error; return the simulated microseconds by size."""
    sizes = list(calibration.measured)
    text = render(calibration, target.stem, base)
    check(text)
    hosts = (0, 1) if base is None else pair_of(check(text), calibration.pingpong.between)
    simulated = simulate_ping_pong(text, sizes, hosts)
    write(render(calibration, target.stem, base, _quality(calibration, simulated)), target)
    return simulated


def _quality(calibration: Calibration, simulated: Column) -> str:
    error = log_error(simulated, calibration.fitted)
    text = f"simulated, logarithmic error {error.mean:.1%} mean, {error.worst:.1%} worst"
    if calibration.rows == "all":
        return text
    error = log_error(simulated, calibration.held_out)
    others = f"{error.mean:.1%} mean, {error.worst:.1%} worst of the others"
    return f"{text} of the {calibration.rows} rows, to which it is fitted, {others}"


def check(text: str) -> "Fabric":
    """Load a fabric file of this text, which raises `WeftError` if weft rejects it."""
    with tempfile.TemporaryDirectory(prefix="weft-") as directory:
        path = Path(directory) / "fabric.toml"
        path.write_text(text, encoding="utf-8")
        return _core.load_fabric(str(path))


def route_of(fabric: "Fabric", hosts: tuple[int, int] = (0, 1)) -> Route:
    """Return the route between two hosts of a fabric."""
    if len(fabric.hosts) < 2:
        raise WeftError(f"{named('base')}: {fabric.name} has one host; a ping-pong needs two")
    way = fabric.route(*hosts)
    names = {name.rpartition(".")[0] for name in way["links"]}
    rates = [cable["bandwidth_Bps"] for cable in fabric.cables() if cable["name"] in names]
    if way["latency_s"] <= 0:
        raise WeftError(
            f"{named('base')}:"
            f" the route from {fabric.hosts[hosts[0]]} to {fabric.hosts[hosts[1]]} of"
            f" {fabric.name} has no latency, so there can be no latency_factor; set the latency of"
            " its [link]"
        )
    return Route(way["latency_s"], min(rates))


def _own_route(calibration: Calibration) -> Route:
    """Return the route for which the factors of the shortest and of the largest messages are 1."""
    per_byte = max(calibration.per_byte_s, _FASTEST_S)
    # Round as in the file, so that the factors refer to the written value.
    latency = float(f"{calibration.latency_s / 2:.6g}") * 2
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
preset = "xeon-2-socket"

[nic]
preset = "connectx-6-dx"

# A ping-pong does not tell cable, NIC and switch apart: each cable has half of what the shortest
# messages take beside their bytes, and the rate of the largest messages.
[link]
bandwidth = "{_digits(route.bandwidth_Bps)}Bps"
latency = "{_digits(route.latency_s / 2)}s"

[switch]
preset = "l2"
forwarding_latency = "0s"
"""


def _digits(value: float) -> str:
    return f"{value:.6g}"


def _messages(calibration: Calibration, route: Route) -> Iterator[str]:
    rate = _digits(1 / (max(calibration.per_byte_s, _LEAST_PER_BYTE_S) * route.bandwidth_Bps))
    shares = calibration.shares(route.latency_s)
    rows = {0: shares.latency_s}
    if calibration.stream:
        rows.update((one.from_bytes, one.latency_s) for one in shares.eager)
    rows.update((one.from_bytes, one.fixed_s) for one in calibration.rendezvous)
    for start, latency in rows.items():
        yield "[[point_to_point]]"
        yield f'from = "{start}B"'
        yield f"latency_factor = {_digits(latency / route.latency_s)}"
        yield f"bandwidth_factor = {rate}"
        yield ""


def _mpi(calibration: Calibration, route: Route, kept: Mapping[str, Any]) -> Iterator[str]:
    yield from _threshold_comment(calibration, kept)
    yield "[mpi]"
    if calibration.overheads is not None:
        yield f'{_THRESHOLD} = "{calibration.eager_threshold}B"'
        kept = {key: value for key, value in kept.items() if key != _THRESHOLD}
    yield from (f"{key} = {in_toml(value)}" for key, value in kept.items())
    for number, row in enumerate(calibration.shares(route.latency_s).eager):
        if number:
            yield from ("", "[[mpi.overheads]]", f'from = "{row.from_bytes}B"')
        yield from _core_keys("send", row.send)
        yield from _core_keys("receive", row.receive)
    if calibration.rendezvous:
        yield from ("", "# Rendezvous: its cost is in the latency_factor.")
        yield from ("[[mpi.overheads]]", f'from = "{calibration.eager_threshold}B"')
        yield 'send_overhead = "0s"'


def _threshold_comment(calibration: Calibration, kept: Mapping[str, Any]) -> Iterator[str]:
    yield "# Time of the cores for eager messages, by size."
    found = calibration.overheads
    if found is not None:
        yield (
            f"# MPI_Send timed separately: eager up to {found.last_eager} B, rendezvous from"
            f" {found.first_rendezvous} B on. The rest"
        )
        yield "# of the time that is not the network's is taken for the receiver's."
        return
    whose = "the base's" if _THRESHOLD in kept else "the default"
    if calibration.stream:
        yield "# Each core: what a message of a stream takes (osu_bw), taken out of the latency."
    yield "# A ping-pong cannot separate sender and receiver: half each. It does not determine the"
    yield f"# eager threshold either: it is {whose}, {format_size(calibration.eager_threshold)}."


def _core_keys(side: str, core: Core) -> Iterator[str]:
    yield f'{side}_overhead = "{_digits(core.fixed_s)}s"'
    if core.per_byte_s > _LEAST_PER_BYTE_S:
        yield f'{side}_copy_rate = "{_digits(1 / core.per_byte_s)}Bps"'
