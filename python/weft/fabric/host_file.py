# SPDX-License-Identifier: LGPL-2.1-only
"""Keys of [host] from lstopo's XML.

The file provides cores, sockets and caches. Costs and rates remain the preset's, since only
measurements determine them. For caches, jointly fitted presets use a fraction of the stated size,
and a bandwidth per core of a socket, the same for all processors; all other presets keep their
cache values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.topology_files import kind_of
from weft.base.units import plural
from weft.base.user_files import UnreadableError, read_text, read_toml
from weft.fabric.foreign import lstopo
from weft.fabric.foreign.lstopo import HostInside

# Fractions of a core's second-level cache, and of all caches of a socket, that are available to
# collectives: the fit behind these presets (`python -m studies hosts`, docs/accuracy.md).
CORE_CACHE_FRACTION = 0.42274
CACHES_FRACTION = 1.0832
FITTED = (
    "xeon-2-socket",
    "xeon-e5-2683v4",
    "xeon-6148",
    "xeon-8276",
    "xeon-8360y",
    "xeon-6354",
    "epyc-7v73x",
    *("xeon-8480", "xeon-6980p", "epyc-7763", "epyc-9654", "epyc-9755"),
)
_NO_FILE = "is no XML of lstopo; write one on a host: `lstopo FILE.xml`"


@dataclass(frozen=True)
class HostKeys:
    """Keys of [host] that a file provides, and the report about them."""

    keys: Mapping[str, Any]
    said: str
    whole: bool = False
    """True if the keys replace the preset rather than some of its values."""


def keys_of(path: Path, preset: str, given: str) -> HostKeys:
    """Return the keys that a file provides; `given` is the option that names the file."""
    inside = _read(path, given)
    theirs = read_toml(paths.installed("presets", "host", f"{preset}.toml"))
    keys: dict[str, Any] = {"cores": inside.cores}
    if "sockets" in theirs:
        keys["sockets"] = inside.sockets
    if preset in FITTED and inside.core_cache:
        keys["core_cache_size"] = f"{inside.core_cache * CORE_CACHE_FRACTION:.0f}B"
        keys["cache_size"] = f"{inside.caches * CACHES_FRACTION:.0f}B"
        of_a_core = float(theirs["shared_cache_bandwidth"].removesuffix("Bps")) / theirs["cores"]
        rate = of_a_core * theirs["sockets"] * inside.cores / inside.sockets
        keys["shared_cache_bandwidth"] = f"{rate:.4g}Bps"
    said = _said(path, inside, preset, keys)
    between = [key for key in theirs if key.startswith("intersocket_")]
    if inside.sockets > 1 or not between or "sockets" not in keys:
        return HostKeys(keys, said)
    rest = {key: value for key, value in theirs.items() if key not in between}
    return HostKeys({**rest, **keys}, f"{said} without those between sockets", whole=True)


def _read(path: Path, given: str) -> HostInside:
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise WeftError(f"{given}: {path}: {error}") from None
    kind = kind_of(text)
    if kind is None or not kind.inside:
        what = "" if kind is None else f" is {kind.said}, and"
        raise WeftError(f"{given}: {path}{what} {_NO_FILE}")
    try:
        return lstopo.read(text)
    except ValueError as error:
        raise WeftError(f"{given}: {path}, {kind.said}: {error}") from None


def _said(path: Path, inside: HostInside, preset: str, keys: Mapping[str, Any]) -> str:
    stated = f"{plural(inside.cores, 'core')}, {plural(inside.sockets, 'socket')}"
    if "cache_size" in keys:
        stated += ", caches"
    named = f" ({inside.processor})" if inside.processor else ""
    parts = [f"hosts from {path.name}: {stated}{named}; speed, costs and rates from {preset}"]
    if "sockets" not in keys:
        parts.append(f"{preset} does not model sockets")
    elif inside.domains > inside.sockets:
        domains = plural(inside.domains, "memory domain")
        parts.append(f"its {domains} are not modelled apart, as in {preset}")
    if "cache_size" not in keys:
        parts.append(f"caches from {preset}")
    return "; ".join(parts)
