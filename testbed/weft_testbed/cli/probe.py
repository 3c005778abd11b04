# SPDX-License-Identifier: LGPL-2.1-only
"""`weft testbed probe`."""

from pathlib import Path

import click

from weft.base.plots import check_format
from weft.cli.common import output_option
from weft.cli.files import Input, command
from weft_testbed.cli.shared import print_rows
from weft_testbed.hardware import medians
from weft_testbed.plan import distribution


@command()
@click.argument("tables", type=Input(), metavar="FILE...", nargs=-1, required=True)
@output_option("--picture", help="Picture to write, as TopoCloud's figure 2: .png, .pdf or .svg.")
def probe(tables: tuple[Path, ...], picture: Path | None) -> None:
    """Compute round-trip times from time stamps (CSV: c1,s1,s2,c2 in nanoseconds).

    A round trip takes (C2 - C1) - (S2 - S1), as in probed of SLA-NG: the client sends at C1 and
    receives at C2, the server receives at S1 and sends at S2, each on its own clock. The table
    shows the distribution of each file.
    """
    if picture is not None:
        check_format("--picture", picture)
    trips = {str(table): medians.read_probe(table) for table in tables}
    rows = [
        (
            str(len(found)),
            *(f"{distribution.quantile(found, share):.6g}" for share in distribution.SHARES),
            name,
        )
        for name, found in trips.items()
    ]
    names = ("count", "min", "P5", "median", "P95", "P99", "max", "file")
    print_rows(names, rows, 7)
    if picture is not None:
        distribution.draw(trips, picture, "--picture")
