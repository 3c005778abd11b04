# SPDX-License-Identifier: LGPL-2.1-only
"""A fabric file with the fitted values of its switch and NICs."""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named
from weft.base.units import format_seconds
from weft.calibrate.switch import COPY_RATE, GAP, TURNAROUND, Estimate, SwitchFit
from weft.fabric.toml_file import Noted, with_values

if TYPE_CHECKING:
    from weft._core import Fabric


def render(fit: SwitchFit, base: "Fabric", command: str) -> str:
    """Return the base's text with what the data determine; the rest stays as it is."""
    nic = {"offload_overhead": _seconds(_overhead(fit.estimates[0], base), fit.estimates[0])}
    switch: dict[str, Noted] = {}
    for name, key, table in (
        (GAP, "message_gap", nic),
        (COPY_RATE, "offload_copy_rate", nic),
        (TURNAROUND, "turnaround", switch),
    ):
        found = fit.estimate(name)
        if found is not None and found.determined:
            table[key] = (_rate if name == COPY_RATE else _seconds)(found.value, found)
    text = Path(base.file).read_text(encoding="utf-8")
    text = with_values(with_values(text, "nic", nic), "switch", switch)
    return f"# Calibrated by `{command}`; intervals hold together with 95 %.\n{text}"


def _overhead(found: Estimate, base: "Fabric") -> float:
    """Return what links and processing of the base leave of the base latency."""
    link = base.route(0, len(base.hosts))["latency_s"]
    known = 2 * link + base.switches[0]["processing_latency_s"]
    if found.value < known:
        raise WeftError(
            f"{named('base')}:"
            f" links and processing of {base.name} take {format_seconds(known)}, more than"
            f" the base latency that was found, {format_seconds(found.value)}; correct them"
        )
    return found.value - known


def _seconds(value: float, found: Estimate) -> Noted:
    low, high, best = (format_seconds(one) for one in (found.low, found.high, found.value))
    return Noted(f"{value * 1e6:.4g}us", f"of {found.name}: {best}, {low} to {high}")


def _rate(value: float, found: Estimate) -> Noted:
    comment = f"{found.low / 1e9:.3g} to {found.high / 1e9:.3g} GB/s"
    return Noted(f"{value / 1e9:.4g}GBps", comment)
