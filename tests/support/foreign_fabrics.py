# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics from the text of another tool's file."""

import warnings
from pathlib import Path

import weft


def made(folder: Path, text: str, name: str = "topology.txt", **options: str) -> weft.Fabric:
    (folder / name).write_text(text)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        return weft.fabric_from(folder / name, folder / "out.toml", force=True, **options)  # type: ignore[arg-type]


def cables(fabric: weft.Fabric) -> dict[str, tuple[float, float]]:
    """Return rate in Gb/s and latency in ns, by cable name."""
    return {
        one["name"]: (
            round(one["bandwidth_Bps"] * 8e-9, 6),
            round(one["latency_s"] * 1e9, 6),
        )
        for one in fabric.core.cables()
    }
