# SPDX-License-Identifier: LGPL-2.1-only
"""What runs may ask the network for: the core's table of mechanisms, `auto`, and `off`."""

from weft import _core

OFF = "off"
DEFAULT = _core.mechanisms()[0]["name"]
MECHANISMS = tuple(row["name"] for row in _core.mechanisms())
OFFLOADS = tuple(_core.offload_modes())
WAYS = tuple(mode for mode in OFFLOADS if mode != OFF)
"""All that offloads something."""
SWITCHES = tuple(row["name"] for row in _core.mechanisms() if not row["rest"])
"""Mechanisms that stand for themselves: they hand no collective over to another."""
_MEANINGS = {
    "auto": "where predicted to be faster than the hosts, or as [[policy]] says",
    OFF: "not at all",
}


def meanings() -> dict[str, str]:
    """Return what each mode does, in one line."""
    return {row["name"]: row["meaning"] for row in _core.mechanisms()} | _MEANINGS


def listed(names: tuple[str, ...], last: str = "or") -> str:
    """Return names as a sentence has them: "stream, message or auto"."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
