# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics for tests: a fabric of 16 hosts for each topology, and its file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from weft import _core
from weft.fabric.template import DEFAULT_PRESETS, Template, write

HOSTS = 16
NAMES = ",".join(f"h{number:x}" for number in range(HOSTS))
SMALL: dict[str, dict[str, Sequence[str]]] = {
    "star": {"hosts": ["16"]},
    "fat_tree": {"down": ["4,4"], "up": ["1,2"], "cables": ["1,2"]},
    "dragonfly": {"groups": ["4"], "routers": ["2"], "hosts": ["2"]},
    "torus": {"dimensions": ["4,4"]},
    "mesh": {"dimensions": ["4,2"], "hosts_per_switch": ["2"], "cables": ["3"]},
    "gpu_cluster": {"nodes": ["4"], "gpus": ["4"], "nodes_per_unit": ["2"], "spines": ["2"]},
    "custom": {
        "hosts": [NAMES],
        "switches": ["left,right"],
        "cables": [
            *(f"{name},{'left' if name < 'h8' else 'right'}" for name in NAMES.split(",")),
            "left,right:count=2",
        ],
    },
}
LARGE = {
    "fat_tree": {"down": ["8,8,16"], "up": ["1,8,8"]},
    "dragonfly": {"groups": ["16"], "routers": ["16"], "hosts": ["4"]},
    "torus": {"dimensions": ["4,4,4,4"], "hosts_per_switch": ["4"]},
}


def template(
    kind: str, options: Mapping[str, Sequence[str]] | None = None, switch: str = "tofino"
) -> Template:
    """Return the template that `weft fabric new KIND` renders, with hosts of one socket.

    SMPI's messages, the reference for times, do not model sockets.
    """
    return Template(
        topology=kind,
        options=SMALL[kind] if options is None else options,
        name=kind,
        presets={**DEFAULT_PRESETS, "host": "xeon-8360", "switch": switch},
    )


def make(
    directory: Path,
    kind: str,
    options: Mapping[str, Sequence[str]] | None = None,
    switch: str = "tofino",
) -> Path:
    """Write the file of this template."""
    path = directory / f"{kind}.toml"
    write(template(kind, options, switch), path, force=True)
    return path


def load(
    directory: Path, kind: str, options: Mapping[str, Sequence[str]] | None = None
) -> _core.Fabric:
    """Return the fabric of this template."""
    return _core.load_fabric(str(make(directory, kind, options)))


def with_free_hosts(directory: Path, fabric: str) -> Path:
    """Write a fabric with zero-cost hosts and MPI library, for closed forms of other costs."""
    text = Path(_core.load_fabric(fabric).file).read_text(encoding="utf-8").partition("\n[mpi]")[0]
    free = 'speed = "76.8Gf"\ncores = 72\nloopback_bandwidth = "10GBps"\nloopback_latency = "0.4us"'
    path = directory / "free-hosts.toml"
    path.write_text(text.replace('preset = "xeon-8360"', free), encoding="utf-8")
    return path
