# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed paper`."""

import click

from weft.cli.files import command
from weft_testbed.cli.shared import print_rows
from weft_testbed.hardware import medians


@command()
def paper() -> None:
    """Compare predicted round-trip times with TopoCloud's medians and published ranges."""
    found = medians.measured()
    predicted = {
        "direct": found.direct,
        "chassis": found.direct + 2 * found.chassis_pass,
        "l2": found.direct + 2 * found.l2_pass,
    }
    rows = [(f"{getattr(found, way):.0f}", f"{value:.0f}", way) for way, value in predicted.items()]
    print_rows(("median(ns)", "predicted(ns)", "path"), rows, 2)
    click.echo(
        f"one-way latency: chassis {found.chassis_pass:g} ns, a layer 2 switch {found.l2_pass:g} ns"
    )
    for way, (low, high) in medians.STATED.items():
        verdict = "within" if min(low, high) <= found.over(way) <= max(low, high) else "outside"
        base = getattr(found, way) / 100
        click.echo(
            f"chassis against {way}: stated {low:+.0f} to {high:+.0f} %, which is"
            f" {base * (100 + low):.0f} to {base * (100 + high):.0f} ns; of the medians"
            f" {found.over(way):+.1f} %: {verdict}"
        )
