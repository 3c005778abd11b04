# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate cpu`."""

from pathlib import Path

import click

from weft.base.errors import WeftError
from weft.base.tables import console
from weft.cli.common import output_option
from weft.cli.files import command, fabric_name

_HELP = """
Measure the speed of a core of this machine.

A matrix product is repeated several times, for less than a second each; the result is the median.
Pass it to `weft run --host-speed`, or write a copy of the fabric --base to -o whose hosts are as
fast as this machine.

\b
Examples:
  weft calibrate cpu
  weft calibrate cpu --base tofino-16 -o my-hosts.toml
"""


@command(help=_HELP, short_help="Measure the speed of a core of this machine.")
@click.option(
    "--repetitions",
    type=click.IntRange(1, 10_000),
    default=7,
    show_default=True,
    metavar="N",
    help="Number of measurements.",
)
@click.option(
    "--base", type=fabric_name, metavar="FILE|NAME", help="Fabric whose hosts get this speed."
)
@output_option("-o", "output", help="Fabric file to write.")
def cpu(repetitions: int, base: str | None, output: Path | None) -> None:
    """Measure this machine's speed, write the fabric file, and print the result."""
    from weft.calibrate.host import cpu as api
    from weft.calibrate.point_to_point import fabric_file

    if (base is None) != (output is None):
        raise WeftError(
            "--base and -o require each other: name the fabric to change, and the new file"
        )
    if base is not None and output is not None:
        api.with_speed(base, "1Gf")
    speed = api.measure(repetitions)
    if base is not None and output is not None:
        fabric_file.write(api.with_speed(base, speed.text), output)
    on = console()
    least, most = map(api.format_speed, (min(speed.repetitions), max(speed.repetitions)))
    on.print(
        f"{speed.text}: one core of this machine, median of {repetitions} (from {least} to {most})."
        f"\nWith --host-speed {speed.text}, computation takes as long as here on hosts of that"
        " speed.",
        soft_wrap=True,
    )
