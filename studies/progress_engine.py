# SPDX-License-Identifier: LGPL-2.1-only
"""SmartNIC threads that execute the multicast protocol: docs/progress-engine.md.

The tables are in docs/progress-engine/, the figures in docs/figures/progress_engine_*.png. The
study reproduces figures 7 and 13 to 16 and table I of Khalilov et al., SC '24; "stated" marks
values from their text.
"""

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.study import DOCS, Study
from weft import _core
from weft.base.plots import COLOURS, GREY, MARKERS, SHADES
from weft.base.units import format_size
from weft.study import progress_engine as api
from weft.study.progress_engine import Case, Memory, Throughput

HERE = Path(__file__).parent
TABLES = DOCS / "progress-engine"
DPA, HOST, IDEAL = "bluefield-3-dpa", "epyc-7413-core", "ideal-dpa"
LINK = 200e9 / 8
LINKS = (LINK, 8 * LINK)
TERABIT_CHUNKS = 1600e9 / 8 / 4096
MIB, GIB = 2**20, 2**30
BUFFER = 8 * MIB
TRANSPORTS = {"uc": 0, "ud": 1}
"""Line style numbers."""
STATED: dict[str, Any] = {
    "linestyle": "none",
    "marker": "s",
    "ms": 9,
    "mfc": "none",
    "mec": "black",
}

Row = dict[str, str]
Rows = Sequence[Throughput | Memory]


# ---- Tables


def by_threads() -> list[Throughput]:
    """Return figure 13: one DPA core, actual and ideal, and one host core."""
    case = Case(DPA, threads=range(1, 17), buffers_bytes=[BUFFER], link_bytes_per_s=LINK)
    ideal = api.throughput(replace(case, engine=str(HERE / "ideal-dpa.toml")))
    host = api.throughput(replace(case, engine=HOST, threads=[1]))
    return [*api.throughput(case), *(replace(row, engine=IDEAL) for row in ideal), *host]


def by_buffer() -> list[Throughput]:
    """Return figure 14."""
    sizes = [4096 << k for k in range(12)]
    threads = [1, 2, 4, 8, 16]
    return api.throughput(Case(DPA, threads=threads, buffers_bytes=sizes, link_bytes_per_s=LINK))


def by_chunk() -> list[Throughput]:
    """Return figure 15, also for a link of 1.6 Tbit/s."""
    sizes = [4096 << k for k in range(7)]
    case = Case(DPA, ["uc"], [1, 2, 4, 8, 16], sizes, [BUFFER])
    return [row for link in LINKS for row in api.throughput(replace(case, link_bytes_per_s=link))]


def chunk_rates() -> list[Throughput]:
    """Return figure 16: chunks of 64 B represent the packets of a faster link."""
    return api.throughput(Case(DPA, threads=[1 << k for k in range(8)], chunks_bytes=[64]))


def memory() -> list[Memory]:
    """Return figure 7."""
    return api.memory(DPA, 4096)


COMPUTED: dict[str, Callable[[], Rows]] = {
    "threads": by_threads,
    "buffers": by_buffer,
    "chunks": by_chunk,
    "rates": chunk_rates,
    "memory": memory,
}


def read(name: str, **wanted: str) -> list[Row]:
    """Read the rows of a table that contain these values."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def curve(axes: Axes, rows: Sequence[Row], x: str, y: str, unit: float, **look: Any) -> None:
    """Plot one column against another."""
    axes.plot([float(row[x]) for row in rows], [float(row[y]) / unit for row in rows], **look)


# ---- Figures


def draw_threads() -> Figure:
    """Plot throughput against threads, with the paper's statements."""
    figure, axes = _figure()
    for transport, number in TRANSPORTS.items():
        colour, name = COLOURS[number], transport.upper()
        rows = read("threads", engine=DPA, transport=transport)
        marked: dict[str, Any] = {"color": colour, "marker": MARKERS[number], "ms": 4}
        curve(axes, rows, "threads", "bytes_per_s", GIB, **marked, label=name)
        rows = read("threads", engine=IDEAL, transport=transport)
        look = {"color": colour, "linestyle": "dotted", "linewidth": 1.2}
        curve(axes, rows, "threads", "bytes_per_s", GIB, **look, label=f"{name}, ideal core")
        (host,) = read("threads", engine=HOST, transport=transport)
        rate = float(host["bytes_per_s"]) / GIB
        axes.axhline(rate, color=colour, linestyle="dashed", linewidth=1)
        axes.text(16.2, rate + 0.3, f"one host core, {name}", ha="right", fontsize=8, color=colour)
    axes.plot([1, 1, 4], [11.9, 5.2, LINK / GIB], **STATED, label="stated: table I; UC full with 4")
    axes.axvspan(8, 16, color=COLOURS[1], alpha=0.08, label="stated: UD full from 8 to 16")
    _link(axes, LINK)
    axes.set_xticks([1, 2, 4, 6, 8, 10, 12, 14, 16])
    axes.set_xlabel("DPA threads, all on one core")
    axes.set_ylabel("GiB/s")
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.05))
    return figure


def draw_buffers() -> Figure:
    """Plot throughput against receive buffer size, one panel per transport."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, transport in zip(panels, TRANSPORTS, strict=True):
        _by_size(axes, read("buffers", transport=transport), "buffer_bytes")
        _link(axes, LINK)
        axes.set_title(transport.upper(), loc="left", fontsize=11)
        axes.set_xlabel("receive buffer")
    panels[1].set_ylabel("")
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def draw_chunks() -> Figure:
    """Plot throughput against the UC chunk size."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    for axes, link in zip(figure.subplots(1, 2), LINKS, strict=True):
        rows = [row for row in read("chunks") if float(row["link_bytes_per_s"]) == link]
        _by_size(axes, rows, "chunk_bytes")
        _link(axes, link)
        axes.set_xlabel("UC chunk")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def _by_size(axes: Axes, rows: Sequence[Row], column: str) -> None:
    threads = dict.fromkeys(row["threads"] for row in rows)
    for k, (count, colour) in enumerate(zip(threads, SHADES, strict=True)):
        curve(
            axes,
            [row for row in rows if row["threads"] == count],
            column,
            "bytes_per_s",
            GIB,
            color=colour,
            marker=MARKERS[k],
            ms=4 + 1.5 * k,
            linewidth=1.5 + k,  # coinciding lines stay visible
            zorder=3 - 0.1 * k,
            label=f"{count} thread" + ("" if count == "1" else "s"),
        )
    sizes = sorted({int(row[column]) for row in rows})[::2]
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [format_size(size) for size in sizes], rotation=40, ha="right")
    axes.set_ylabel("GiB/s")


def draw_rates() -> Figure:
    """Plot chunks per second against threads, with the packet rates of faster links."""
    figure, axes = _figure()
    for transport, number in TRANSPORTS.items():
        look = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4}
        rows = read("rates", transport=transport)
        curve(axes, rows, "threads", "chunks_per_s", 1e6, **look, label=transport.upper())
    for gbps, place in {200: 24, 400: 1, 800: 1, 1600: 1}.items():
        rate = TERABIT_CHUNKS * gbps / 1600 / 1e6
        axes.axhline(rate, color=GREY, linewidth=0.8)
        text = f"{gbps} Gbit/s of 4 KiB packets"
        axes.text(place, rate * 1.05, text, fontsize=8, color="#555555")
    axes.plot(
        [128],
        [TERABIT_CHUNKS / 1e6],
        **STATED,
        label="stated: 1.6 Tbit/s with 128",
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks([1 << k for k in range(8)], [str(1 << k) for k in range(8)])
    axes.set_yticks([1 << k for k in range(8)], [str(1 << k) for k in range(8)])
    axes.set_xlabel("DPA threads, 16 a core")
    axes.set_ylabel("million chunks of 64 B a second")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def draw_memory() -> Figure:
    """Plot the addressable memory against the bits of a chunk number, with memory capacities."""
    figure, axes = _figure()
    rows = read("memory")
    curve(axes, rows, "psn_bits", "buffer_bytes", 1, color=COLOURS[0], label="receive buffer")
    look = {"color": COLOURS[1], "linestyle": "dashed", "label": "bitmap"}
    curve(axes, rows, "psn_bits", "bitmap_bytes", 1, **look)
    # 80 GB: NVIDIA H100 SXM5, data sheet.
    memories = {"DPA's last-level cache": float(rows[0]["memory_bytes"]), "H100, 80 GB": 80e9}
    for name, size in memories.items():
        axes.axhline(size, color=GREY, linewidth=0.8)
        axes.text(32, size * 1.2, name, ha="right", fontsize=8, color="#555555")
    axes.plot(
        [math.log2(50e9 / 4096)],
        [50e9],
        **STATED,
        label="stated: the cache is enough for 50 GB",
    )
    axes.set_yscale("log", base=2)
    powers = range(10, 45, 5)
    axes.set_yticks([2**k for k in powers], [format_size(2**k) for k in powers])
    axes.set_xlabel("bits of a chunk's number (4 KiB chunks)")
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    return figure, figure.add_subplot()


def _link(axes: Axes, link: float) -> None:
    axes.axhline(link / GIB, color=GREY, linewidth=0.8)
    axes.text(
        0.01,
        1.015 * link / GIB,
        f"{link * 8 / 1e9:.0f} Gbit/s",
        fontsize=8,
        color="#555555",
        transform=axes.get_yaxis_transform(),
    )
    axes.set_ylim(0, 1.12 * link / GIB)


FIGURES: dict[str, Callable[[], Figure]] = {
    "threads": draw_threads,
    "buffers": draw_buffers,
    "chunks": draw_chunks,
    "rates": draw_rates,
    "memory": draw_memory,
}


# ---- The comparison


def comparison() -> str:
    """Return the paper's statements with the tables' values, one per line."""
    lines = ["| stated by the paper | where | here |", "|---|---|---|"]
    lines += [f"| {' | '.join(cells)} |" for cells in _statements()]
    return "\n".join(lines) + "\n"


def _statements() -> list[tuple[str, str, str]]:
    held = _core.load_progress_engine(DPA).communicators(8 * 64 * 1024)
    addressed = api.addressable_bytes(memory()[0])
    return [
        ("UC: 11.9 GiB/s by one thread", "table I", _rate("uc", 1)),
        ("UD: 5.2 GiB/s by one thread", "table I", _rate("ud", 1)),
        ("UC: 200 Gbit/s (23.3 GiB/s) with 4 threads", "VI-C", _rates("uc", 2, 4)),
        ("UD: 200 Gbit/s with 8 to 16 threads", "VI-C", _rates("ud", 4, 8, 16)),
        ("UC: fewer threads with larger chunks", "figure 15", _first_full_chunk()),
        ("48.8 million chunks a second with 128 threads", "VII-a", _chunk_rates(128)),
        ("50 GB addressed by a bitmap of the cache's size", "III-D", f"{addressed / 1e9:.1f} GB"),
        ("more than 16 communicators with 64 KiB of bitmap", "III-D", str(held)),
    ]


def _rate(transport: str, threads: int) -> str:
    (row,) = read("threads", engine=DPA, transport=transport, threads=str(threads))
    return f"{float(row['bytes_per_s']) / GIB:.1f} GiB/s"


def _rates(transport: str, *threads: int) -> str:
    return ", ".join(f"{_rate(transport, count)} with {count}" for count in threads)


def _first_full_chunk() -> str:
    full = (
        int(row["chunk_bytes"])
        for row in read("chunks", threads="1", link_bytes_per_s=f"{LINK:.9g}")
        if float(row["bytes_per_s"]) > 0.99 * LINK
    )
    return f"one fills the link from {format_size(min(full))} on"


def _chunk_rates(threads: int) -> str:
    rates = {
        transport: float(
            read("rates", transport=transport, threads=str(threads))[0]["chunks_per_s"]
        )
        for transport in TRANSPORTS
    }
    return ", ".join(f"{name.upper()} {rate / 1e6:.1f} million" for name, rate in rates.items())


def measure() -> None:
    """Compute the tables."""
    TABLES.mkdir(exist_ok=True)
    for name, compute in COMPUTED.items():
        api.write_csv(compute(), TABLES / f"{name}.csv")


STUDY = Study(
    name="progress-engine",
    about="what the threads of a SmartNIC can take",
    measure=measure,
    figures=lambda: {
        DOCS / "figures" / f"progress_engine_{name}.png": draw() for name, draw in FIGURES.items()
    },
    page=DOCS / "progress-engine.md",
    texts=lambda: {"table: progress-engine": comparison()},
)
