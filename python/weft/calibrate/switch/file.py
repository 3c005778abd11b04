# SPDX-License-Identifier: LGPL-2.1-only
"""Fabric files with fitted switch and NIC values."""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named
from weft.base.units import format_seconds
from weft.calibrate.switch.switch import COPY_RATE, GAP, TURNAROUND, Estimate, SwitchFit
from weft.fabric.toml_file import SourcedValue, with_values

if TYPE_CHECKING:
    from weft._core import Fabric


def render(fit: SwitchFit, base: "Fabric", path_s: float, command: str) -> str:
    """Return the base's text with the determined values replaced; all other values are kept.

    `path_s` is the latency of links and processing with one switch.
    """
    first = fit.estimates[0]
    overhead = _overhead(fit.written[first.name], base, path_s)
    nic = {"offload_overhead": _seconds(overhead, first)}
    switch: dict[str, SourcedValue] = {}
    for name, key, table in (
        (GAP, "message_gap", nic),
        (COPY_RATE, "offload_copy_rate", nic),
        (TURNAROUND, "turnaround", switch),
    ):
        found = fit.estimate(name)
        if found is not None and name in fit.written:
            table[key] = (_rate if name == COPY_RATE else _seconds)(fit.written[name], found)
    text = Path(base.file).read_text(encoding="utf-8")
    text = with_values(with_values(text, "nic", nic), "switch", switch)
    return f"# Calibrated by `{command}`; simultaneous 95 % intervals.\n{text}"


def values_of(base: "Fabric") -> dict[str, float]:
    """Return the base's values of the parameters, for parameters that are not written."""
    smart = next(one for one in base.switches if one["smart"])
    return {
        GAP: base.nic["message_gap_s"],
        COPY_RATE: base.nic["offload_copy_rate_Bps"],
        TURNAROUND: smart["turnaround_s"],
    }


def _overhead(found_s: float, base: "Fabric", path_s: float) -> float:
    """Return the base latency minus links and processing."""
    if found_s < path_s:
        raise WeftError(
            f"{named('base')}:"
            f" links and processing of {base.name} take {format_seconds(path_s)}, more than the"
            f" fitted base latency, {format_seconds(found_s)}; correct them"
        )
    return found_s - path_s


def _seconds(value: float, found: Estimate) -> SourcedValue:
    low, high, best = (format_seconds(one) for one in (found.low, found.high, found.value))
    return SourcedValue(
        f"{value * 1e6:.6g}us", f"of {found.name}: {best}, {low} to {high}{_alone(found)}"
    )


def _rate(value: float, found: Estimate) -> SourcedValue:
    comment = f"{found.low / 1e9:.3g} to {found.high / 1e9:.3g} GB/s{_alone(found)}"
    return SourcedValue(f"{value / 1e9:.6g}GBps", comment)


def _alone(found: Estimate) -> str:
    return "" if found.determined else "; not determined, but the fit is worse without it"
