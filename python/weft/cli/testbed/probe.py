# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed probe`."""

from pathlib import Path

import click

from weft.base.units import plural
from weft.cli.files import Input, command
from weft.testbed import medians


@command()
@click.argument("table", type=Input(), metavar="FILE")
def probe(table: Path) -> None:
    """Compute round trips from time stamps (CSV: c1,s1,s2,c2 in nanoseconds).

    Each is (C2 - C1) - (S2 - S1), as SLA-NG's probed has it: the client sends at C1 and receives at
    C2, the server receives at S1 and sends at S2, each on its own clock.
    """
    count, least, median, most = medians.summary(medians.read_probe(table))
    click.echo(
        f"{plural(count, 'round trip')}: median {median:g} ns, from {least:g} to {most:g} ns"
    )
