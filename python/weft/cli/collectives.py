# SPDX-License-Identifier: LGPL-2.1-only
"""`weft collectives`."""

from pathlib import Path

import click

from weft import _core
from weft.base.tables import console, fitting, new_table, print_table, print_title
from weft.base.units import format_size, parse_size, parse_sizes, plural
from weft.cli import completion
from weft.cli.common import output_option
from weft.cli.files import NamedFile
from weft.cli.groups import help_group
from weft.cli.run_options import click_option
from weft.study import schedules
from weft.study.bench import nccl as nccl_choices
from weft.study.schedules import Algorithm, Case, Schedule

_GROUP = """
Show how MPI libraries execute collectives.

Lists the host algorithms of collectives and shows their messages and the dependencies among them.
The messages match those counted in Open MPI and MPICH (see docs/host-algorithms.md). Runs execute
these algorithms for collectives that are not offloaded: weft run --fallback takes the names of
algorithms and of selections.
"""

collectives = help_group("collectives", _GROUP)

_LIST = """
List the host algorithms, and the selections with which MPI libraries choose among them.

\b
Examples:
  weft collectives list
  weft collectives list allreduce
"""


@collectives.command("list", help=_LIST, short_help="List algorithms and selections.")
@click.argument("collective", default="")
def list_(collective: str) -> None:
    """List the algorithms of all collectives or of one."""
    on = console()
    rows = [
        {
            "collective": row.collective,
            "algorithm": row.name,
            "library": row.source,
            "number": str(row.number or ""),
            "needs": _needs(row),
        }
        for row in schedules.algorithms(collective)
    ]
    left = ("collective", "algorithm", "library", "needs")
    print_table(fitting(rows, ("number", "library", "needs"), left, on), on)
    for selection in _core.selections():
        on.print(f"selection {selection['name']}: {selection['description']}", soft_wrap=True)


def _needs(row: Algorithm) -> str:
    needs = ["two ranks"] if row.two_ranks else []
    needs += ["ranks of one host"] if row.one_host else []
    needs += [] if row.any_operation else ["a commutative operation"]
    return ", ".join(needs)


_SHOW = """
Show the messages of a call, with the algorithm that a selection chooses or that --algorithm names.

Each message takes one round; per round, a rank sends at most one message and receives any number.
--bytes is the size of the vector of a Bcast, Reduce, Allreduce or Scan, and of one rank's block in
other collectives. COLLECTIVE is a name of `weft collectives list` or of MPI (MPI_Iallreduce is
non-blocking).

\b
Examples:
  weft collectives show allreduce -n 8 --bytes 1KiB
  weft collectives show allreduce -n 6 --bytes 1KiB --algorithm rabenseifner -o rabenseifner.png
  weft collectives show bcast -n 16 --bytes 64KiB --algorithm pipeline --segment 8KiB --csv pipe.csv
  weft collectives show allreduce -n 12 --ranks-per-host 4
"""


@collectives.command(help=_SHOW, short_help="Show the messages of one call.")
@click.argument("collective", shell_complete=completion.collectives)
@click.option(
    "-n",
    "ranks",
    type=click.IntRange(2, 4096),
    required=True,
    metavar="RANKS",
    help="Number of ranks.",
)
@click.option(
    "--bytes",
    "size",
    metavar="SIZE",
    default="1KiB",
    show_default=True,
    help="Message size; ignored for a Barrier.",
)
@click.option(
    "--root",
    type=int,
    default=0,
    show_default=True,
    metavar="RANK",
    help="Root of a rooted collective.",
)
@click.option(
    "--element",
    type=click.IntRange(1, 1 << 20),
    default=1,
    show_default=True,
    metavar="BYTES",
    help="Size of an element; vectors are split at element boundaries.",
)
@click.option(
    "--selection",
    type=NamedFile("presets/mpi"),
    default=schedules.DEFAULT_SELECTION,
    show_default=True,
    metavar="FILE|NAME",
    help="Selection of algorithms: a TOML file, Open MPI's dynamic rules, or a shipped name.",
)
@click.option(
    "--algorithm",
    default="",
    metavar="NAME",
    shell_complete=completion.algorithms,
    help="Algorithm to use instead of the selected one.",
)
@click.option(
    "--segment",
    metavar="SIZE",
    help="Segment size of the named algorithm.  [default: no segmentation]",
)
@click.option(
    "--fan-out",
    type=click.IntRange(1, 4096),
    metavar="COUNT",
    help="Fan-out of the named algorithm's tree.  [default: that of the algorithm]",
)
@click.option("--ordered", is_flag=True, help="Assume a non-commutative operation.")
@click.option(
    "--nonblocking", is_flag=True, help="Show the non-blocking call, such as MPI_Iallreduce."
)
@click.option(
    "--ranks-per-host",
    type=click.IntRange(1, 4096),
    metavar="COUNT",
    help="Consecutive ranks on one host.  [default: 1]",
)
@output_option("--csv", "csv_file", help="Write all messages as CSV: round, from, to, bytes.")
@output_option("-o", "picture", help="Draw the messages: .png, .svg or .pdf; at most 64 ranks.")
def show(
    collective: str,
    ranks: int,
    size: str,
    root: int,
    element: int,
    selection: str,
    algorithm: str,
    segment: str | None,
    fan_out: int | None,
    ordered: bool,
    nonblocking: bool,
    ranks_per_host: int | None,
    csv_file: Path | None,
    picture: Path | None,
) -> None:
    """Compute the messages of a call, print them, write the table, draw the picture."""
    if picture is not None:
        schedules.check_picture(ranks, picture, "-o")
    name, blocks = schedules.collective_of(collective)
    shown = schedules.schedule(
        Case(
            name,
            ranks,
            0 if name == "barrier" else parse_size(size, "--bytes"),
            root,
            element,
            selection,
            algorithm,
            parse_size(segment, "--segment") if segment else 0,
            fan_out or 0,
            not ordered,
            blocks and not nonblocking,
            ranks_per_host or 0,
        )
    )
    _print(shown)
    if csv_file is not None:
        schedules.write_csv(shown, csv_file, "--csv")
    if picture is not None:
        schedules.plot(shown, picture, "-o")


_MOST_LINES = 12


def _print(shown: Schedule) -> None:
    on = console()
    print_title(schedules.title(shown), on)
    table = new_table(("round", "messages", "size", "sender>receiver"), left=("sender>receiver",))
    rounds: dict[tuple[int, int], list[str]] = {}
    for message in shown.messages:
        pair = f"{message.sender}>{message.receiver}"
        rounds.setdefault((message.round, message.bytes), []).append(pair)
    for (number, size), pairs in sorted(rounds.items())[:_MOST_LINES]:
        some = " ".join(pairs[:8]) + (" ..." if len(pairs) > 8 else "")
        table.add_row(str(number), str(len(pairs)), format_size(size), some)
    print_table(table, on)
    if len(rounds) > _MOST_LINES:
        on.print(f"... and {len(rounds) - _MOST_LINES} more lines; --csv writes all messages")
    on.print(
        f"{plural(len(shown.messages), 'message')} in {plural(shown.rounds, 'round')},"
        f" {format_size(shown.sent_bytes)} in all;"
        f" the busiest rank sends {format_size(shown.busiest_bytes)}",
        soft_wrap=True,
    )


_NCCL = """
Show what NCCL chooses for a collective: algorithm, protocol, channels and chunk, by size.

The choice follows NCCL's tuner, on the GPUs and graphs of the fabric's [nccl] table: its ranks are
one a GPU. Sizes are those of nccl-tests: of the larger buffer, all blocks of an Allgather together.
The predicted time is NCCL's own estimate, by which it chooses; nothing is simulated. NCCL_ALGO,
NCCL_PROTO, NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS and NCCL_BUFFSIZE are keys of [nccl].

\b
Examples:
  weft collectives nccl allreduce --fabric dgx-h100 -n 8
  weft collectives nccl allgather --fabric h100-ndr-10 -n 10 --sizes 1MiB:1GiB --nccl 2.18
  weft collectives nccl allreduce --fabric dgx-h100 -n 8 --set nccl.NCCL_ALGO=ring
"""


@collectives.command(help=_NCCL, short_help="Show NCCL's choices for a collective.")
@click.argument("collective")
@click_option("fabric", required=True)
@click_option("changes")
@click_option("ranks")
@click.option(
    "--sizes",
    default="1KiB:1GiB",
    show_default=True,
    metavar="SIZES",
    help="A doubling range (4KiB:256KiB), or a list (4KiB,1MiB).",
)
@click.option(
    "--nccl",
    "version",
    default=nccl_choices.DEFAULT_VERSION,
    show_default=True,
    metavar="VERSION",
    help="Version whose constants and formulas apply: 2.18 or 2.29.",
)
@output_option("--csv", "csv_file", help="Write one line per size.")
def nccl(
    collective: str,
    fabric: str,
    changes: tuple[str, ...],
    ranks: int,
    sizes: str,
    version: str,
    csv_file: Path | None,
) -> None:
    """Compute NCCL's choices, print them, write the table."""
    call = nccl_choices.Call(
        collective, fabric, ranks, parse_sizes(sizes, "--sizes"), version, changes
    )
    found = nccl_choices.choices(call)
    on = console()
    print_title(f"NCCL {version}: {collective} on {fabric}, {plural(ranks, 'rank')}", on)
    heads = ("# Size", "algorithm", "protocol", "channels", "chunk", "Predicted(us)")
    table = new_table(heads, left=("algorithm", "protocol"))
    for row in found:
        table.add_row(
            *(str(row.bytes), row.algorithm, row.protocol, str(row.channels)),
            *(format_size(row.chunk_bytes), f"{row.predicted_us:.2f}"),
        )
    print_table(table, on)
    if csv_file is not None:
        nccl_choices.write_csv(found, csv_file, "--csv")
