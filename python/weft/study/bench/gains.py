# SPDX-License-Identifier: LGPL-2.1-only
"""Speed-up of offloading in a benchmark, over a library's algorithms and over the fastest ones."""

from collections.abc import Mapping

from weft.base.units import format_ratio
from weft.runs import offload_modes
from weft.study.comparison.compare import BEST

Times = Mapping[int, float]
"""Times by bytes."""


def gains(found: Mapping[str, Times]) -> list[str]:
    """Return the speed-up of each offload mode over the hosts, if `best` is one of their modes.

    `found` maps the modes' labels to times; a speed-up is given as a range over all sizes.
    """
    offloaded = [mode for mode in found if mode in offload_modes.WAYS]
    hosts = [mode for mode in found if mode not in offload_modes.WAYS and " for " not in mode]
    if BEST not in hosts:
        return []
    return [
        f"{mode}: " + ", ".join(f"{_range(found[host], found[mode])} {host}" for host in hosts)
        for mode in offloaded
    ]


def _range(hosts: Times, ours: Times) -> str:
    speed_ups = [hosts[size] / time for size, time in ours.items() if time]
    least, most = (format_ratio(one(speed_ups, default=None)) for one in (min, max))
    return f"{least if least == most else f'{least} to {most}'} times as fast as"
