# SPDX-License-Identifier: LGPL-2.1-only
"""Offload modes of runs: the core's table of mechanisms, `auto`, and `off`."""

from weft import _core

OFF = "off"
DEFAULT = _core.mechanisms()[0]["name"]
MECHANISMS = tuple(row["name"] for row in _core.mechanisms())
OFFLOADS = tuple(_core.offload_modes())
WAYS = tuple(mode for mode in OFFLOADS if mode != OFF)
"""All modes that offload something."""
SWITCHES = tuple(row["name"] for row in _core.mechanisms() if not row["rest"])
"""Mechanisms that never hand a collective over to another one."""
_MEANINGS = {
    "auto": "the fastest by prediction, hosts included, unless [[policy]] decides",
    OFF: "no offloading",
}


def meanings() -> dict[str, str]:
    """Return a one-line description of each mode."""
    return {row["name"]: row["meaning"] for row in _core.mechanisms()} | _MEANINGS


def listed(names: tuple[str, ...], last: str = "or") -> str:
    """Return names as an enumeration: "stream, message or auto"."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
