# SPDX-License-Identifier: LGPL-2.1-only
"""`weft progress-engine`."""

import math
from collections.abc import Sequence
from pathlib import Path

import click

from weft import _core
from weft.base.errors import WeftError
from weft.base.tables import console, new_table, print_table, print_title
from weft.base.units import format_size, parse_counts, parse_size, parse_sizes
from weft.cli.common import output_option
from weft.cli.files import engine_name
from weft.cli.groups import help_group
from weft.study import progress_engine as api
from weft.study.progress_engine import Case, Memory, Throughput

_GROUP = """
Compute throughput and memory of a progress engine: hardware threads of a SmartNIC, or cores of a
host, that process the chunks of the multicast protocol.

ENGINE is a preset (see `weft fabric options`), or a file with a table [progress_engine].
"""

progress_engine = help_group("progress-engine", _GROUP)

_THROUGHPUT = """
Compute the receive throughput of a progress engine by its number of threads.

Sizes are in bytes, or have a unit: B, kB, KiB, MB, MiB, GB, GiB, TB. Several sizes or numbers of
threads are a list (1,4,16) or a doubling range (1:16).

\b
Examples:
  weft progress-engine throughput bluefield-3-dpa --link 200Gbps
  weft progress-engine throughput bluefield-3-dpa --transport uc --chunk 4KiB:64KiB --threads 1,2
  weft progress-engine throughput epyc-7413-core --threads 1 --buffer 8MiB --csv core.csv
"""


@progress_engine.command(help=_THROUGHPUT, short_help="Receive throughput by number of threads.")
@click.argument("engine", type=engine_name)
@click.option(
    "--transport",
    default=",".join(api.TRANSPORTS),
    show_default=True,
    metavar="TRANSPORT,...",
    help="`ud`: datagrams through a staging ring; `uc`: messages of any length.",
)
@click.option(
    "--threads",
    metavar="COUNTS",
    help="Receive threads.  [default: doubling from 1 to all]",
)
@click.option("--chunk", default="4KiB", show_default=True, metavar="SIZES", help="Chunk payload.")
@click.option(
    "--buffer",
    metavar="SIZES",
    help="Receive buffer size, to include the pipeline's start and end.  [default: unlimited]",
)
@click.option(
    "--link",
    metavar="BANDWIDTH",
    help="Payload rate of the link, the upper limit.  [default: none]",
)
@output_option("--csv", "csv_file", help="Write the table as CSV.")
def throughput(
    engine: str,
    transport: str,
    threads: str | None,
    chunk: str,
    buffer: str | None,
    link: str | None,
    csv_file: Path | None,
) -> None:
    """Compute the throughput of an engine, and print and write the table."""
    case = Case(
        engine,
        _parse_transports(transport),
        parse_counts(threads, "--threads") if threads else (),
        parse_sizes(chunk, "--chunk"),
        parse_sizes(buffer, "--buffer") if buffer else (),
        _parse_link(link) if link else math.inf,
    )
    rows = api.throughput(case)
    _print_throughput(rows, f"{engine}: reception" + (f", link of {link}" if link else ""))
    if csv_file is not None:
        api.write_csv(rows, csv_file)


def _parse_transports(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    if not set(names) <= set(api.TRANSPORTS):
        raise click.BadParameter(f"found '{text}'; allowed: ud, uc", param_hint="'--transport'")
    return names


def _parse_link(text: str) -> float:
    bandwidth = _core.parse_bandwidth(text)
    if bandwidth <= 0:
        raise WeftError(f"--link: found '{text}'; allowed: more than zero")
    return bandwidth


def _print_throughput(rows: Sequence[Throughput], title: str) -> None:
    on = console()
    table = new_table(list(_cells(rows[0])), left=("transport",))
    for row in rows:
        table.add_row(*_cells(row).values())
    print_title(title, on)
    print_table(table, on)


def _cells(row: Throughput) -> dict[str, str]:
    buffer = {} if row.buffer_bytes is None else {"buffer": format_size(row.buffer_bytes)}
    return {
        "transport": row.transport,
        "chunk": format_size(row.chunk_bytes),
        **buffer,
        "threads": str(row.threads),
        "Mchunk/s": f"{row.chunks_per_s / 1e6:.2f}",
        "GiB/s": f"{row.bytes_per_s / 2**30:.2f}",
        "Gbit/s": f"{row.bytes_per_s * 8 / 1e9:.1f}",
    }


_MEMORY = """
Compute, for each width of the chunk sequence number, the largest receive buffer, the size of its
bitmap, and the number of communicators with such buffers that fit into the engine's memory.

\b
Examples:
  weft progress-engine memory bluefield-3-dpa
  weft progress-engine memory bluefield-3-dpa --chunk 64KiB --csv memory.csv
"""


@progress_engine.command(
    help=_MEMORY, short_help="Receive buffers and communicators that fit into its memory."
)
@click.argument("engine", type=engine_name)
@click.option("--chunk", default="4KiB", show_default=True, metavar="SIZE", help="Chunk payload.")
@output_option("--csv", "csv_file", help="Write the table as CSV.")
def memory(engine: str, chunk: str, csv_file: Path | None) -> None:
    """Compute the receive buffers that fit an engine's memory, and print and write the table."""
    rows = api.memory(engine, parse_size(chunk, "--chunk"))
    _print_memory(rows)
    if csv_file is not None:
        api.write_csv(rows, csv_file)


def _print_memory(rows: Sequence[Memory]) -> None:
    on = console()
    first = rows[0]
    limited = math.isfinite(first.memory_bytes)
    table = new_table(("bits", "receive buffer", "bitmap", "communicators"))
    for row in rows:
        table.add_row(
            str(row.psn_bits),
            format_size(row.buffer_bytes),
            format_size(row.bitmap_bytes),
            str(row.communicators) if limited else "unlimited",
        )
    print_title(f"{first.engine}: chunks of {format_size(first.chunk_bytes)}", on)
    print_table(table, on)
    if limited:
        on.print(
            f"All of its memory, {format_size(first.memory_bytes)}, holds the bitmap of a receive"
            f" buffer of {format_size(api.addressable_bytes(first))}."
        )
