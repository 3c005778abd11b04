# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cache rate`."""

import click

from weft import _core
from weft.base.tables import console, new_table, print_table
from weft.cli.files import FiniteNumber, command
from weft.study.forwarding import forwarding

_RATE = """
Compute the highest line rate at which a port can look up every frame.

\b
Examples:
  weft cache rate --latency 4
  weft cache rate --latency 2.16 --stages 3
"""


@command(name="rate", help=_RATE, short_help="Highest line rate by lookup latency.")
@click.option(
    "--latency",
    "latency_ns",
    type=FiniteNumber(min=1e-3, max=1e9),
    required=True,
    metavar="NS",
    help="Latency of a lookup, in nanoseconds.",
)
@click.option(
    "--stages",
    type=click.IntRange(1, 1 << 20),
    default=1,
    show_default=True,
    help="Lookups in flight.",
)
def rate_command(latency_ns: float, stages: int) -> int:
    """Compute the rate and print it."""
    frames = {"shortest": forwarding.SHORTEST_FRAME, "longest": forwarding.LONGEST_FRAME}
    on = console()
    table = new_table(("frames", "bytes", "Gpackets/s", "Gb/s"), left=("frames",))
    for name, size in frames.items():
        bytes_a_second = _core.line_rate(latency_ns * 1e-9, stages, size)
        table.add_row(
            name, str(size), f"{bytes_a_second / size / 1e9:.3g}", f"{bytes_a_second * 8e-9:.0f}"
        )
    print_table(table, on)
    return 0
