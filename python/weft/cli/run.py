"""`weft run`."""

import sys
from pathlib import Path

import click

from weft import launch
from weft.cli.common import output_option, ppn_option, ranks_option
from weft.output import check_distinct, check_writable
from weft.record import Record, write_record
from weft.report import console, print_run

_HELP = """
Run an MPI program on a simulated fabric, and say what offloading its collectives bought.

The program is one that `weft cc`, `weft cxx` or `weft f90` has compiled. Its input, output and
exit status pass through unchanged. The table that follows it goes to standard error: for each
collective what was offloaded and what fell back and why, the calls, the bytes that one rank gave
to them, and the simulated time that one rank spent in one call (in microseconds). Computation on
the hosts takes no simulated time, so that every run gives the same; --host-speed times it.

\b
Examples:
  weft run --fabric tofino-4 -n 4 -- ./program --its-own-option
  weft run --fabric tofino-16 -n 64 --ppn 4 --offload off --fallback rdb -- ./program
  weft run --platform cluster.xml -n 64 -- ./program
  weft run --fabric my-fabric.toml -n 16 --json run.json --trace timeline.json -- ./program

\b
Exit status: the program's own; 128 + signal where it crashed; 1 for a deadlock, ranks that call
different collectives, and MPI_Abort; 2 where weft refuses to start; 124 after --timeout.
"""


@click.command(
    help=_HELP,
    short_help="Run an MPI program on a simulated fabric.",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--fabric",
    metavar="FILE|NAME",
    help="Fabric to run on: a TOML file, or a shipped name (see `weft fabric list`).",
)
@click.option(
    "--platform",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Platform of SimGrid's to run on instead (.xml or .so): its smart switches are hosts with"
    " the properties processing_latency and max_ports.",
)
@ranks_option
@ppn_option
@click.option(
    "--offload",
    type=click.Choice(launch.OFFLOADS),
    default="stream",
    show_default=True,
    help="How the switches do a collective: packet by packet, message by message, or not at all.",
)
@click.option(
    "--fallback",
    metavar="ALGORITHM",
    help="SMPI algorithm of every Allreduce that is not offloaded, such as rdb, lr or mpich."
    f"  [default: {launch.DEFAULT_FALLBACK}, what Open MPI would choose]",
)
@output_option("--json", "json_file", help="Write the record of the run (JSON).")
@output_option("--trace", help="Write a timeline of all ranks and switches, for ui.perfetto.dev.")
@click.option(
    "--cfg",
    "config",
    multiple=True,
    metavar="KEY:VALUE",
    help="Set an option of SimGrid; repeatable.",
)
@click.option(
    "--host-speed",
    metavar="SPEED|auto",
    help="Time the computation on the hosts: the speed of this machine, such as 10Gf, or auto to"
    " measure it.",
)
@click.option(
    "--no-privatize",
    is_flag=True,
    help="Let all ranks share the program's global variables: far less memory and a faster start"
    " with thousands of ranks, right only for a program that writes no global variable.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up after this wall time.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no table.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    fabric: str | None,
    platform: Path | None,
    ranks: int,
    ppn: int | None,
    offload: launch.Offload,
    fallback: str | None,
    json_file: Path | None,
    trace: Path | None,
    config: tuple[str, ...],
    host_speed: str | None,
    no_privatize: bool,
    timeout: float | None,
    quiet: bool,
    program: str,
    arguments: tuple[str, ...],
) -> int:
    """Check, run, report."""
    _check_outputs(json_file, trace)
    request = launch.Request(
        fabric=fabric,
        platform=platform,
        ranks=ranks,
        ppn=ppn,
        program=program,
        arguments=arguments,
        offload=offload,
        fallback=fallback,
        config=config,
        host_speed=host_speed,
        privatize=not no_privatize,
        timeout_s=timeout,
        timeline=trace,
        command=("weft", *sys.argv[1:]),
    )
    record = launch.run(launch.prepare(request))
    if json_file is not None:
        write_record(record, json_file)
    _report(record, quiet=quiet)
    return record.exit_status


def _check_outputs(json_file: Path | None, trace: Path | None) -> None:
    targets = {"--json": json_file, "--trace": trace}
    for option, target in targets.items():
        if target is not None:
            check_writable(option, target)
    check_distinct(targets)


def _report(record: Record, *, quiet: bool) -> None:
    sys.stdout.flush()
    if not quiet:
        print_run(record, console(stderr=True))
    if record.failed and record.outcome.extra.get("signal") != "SIGPIPE":
        click.echo(f"weft: {record.outcome.message}", err=True)
