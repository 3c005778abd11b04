# SPDX-License-Identifier: LGPL-2.1-only
"""Requested fabrics for testbeds, with the devices of the shipped testbeds."""

from pathlib import Path


def fabric_file(folder: Path, topology: str, name: str = "wanted", speed: str = "100Gbps") -> Path:
    """Write a fabric with a topology, given as the lines of its table."""
    path = folder / f"{name}.toml"
    path.write_text(
        f"""
[fabric]
name = "{name}"
[topology]
{topology}
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "{speed}"
latency = "1us"
[switch]
preset = "l2"
"""
    )
    return path
