# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments and options shared by the commands of `weft calibrate`."""

import click

from weft.benchmarks.methods import METHODS
from weft.cli.files import fabric_name, measured_table

table_argument = click.argument("table", metavar="TABLE", type=measured_table)
column_option = click.option(
    "--column",
    metavar="NAME",
    help="Column of the times, if the table has several.  [default: the median, else the mean]",
)
benchmark_option = click.option(
    "--benchmark",
    type=click.Choice(list(METHODS)),
    help="Benchmark that made tables of collectives which do not name it.",
)
base_option = click.option(
    "--base",
    type=fabric_name,
    metavar="FILE|NAME",
    help="Fabric that provides all other values.  [default: two hosts on a switch]",
)

rows_option = click.option(
    "--rows",
    type=click.Choice(["all", "even", "odd"]),
    default="all",
    show_default=True,
    help="Rows of each table to fit to; even and odd hold the others out for a test.",
)

key_option = click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY[=LOW:HIGH]",
    help="Key to fit, such as host.loopback_latency, with bounds in its unit; repeatable."
    "  [default: the keys of [host] that affect messages within a host]",
)
library_option = click.option(
    "--fallback",
    metavar="NAME",
    help="Algorithms of the hosts' MPI library, as for `weft run`.  [default: as for `weft run`]",
)
