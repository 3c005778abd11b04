"""Figures of Khalilov et al. from runs: `make multicast` writes docs/multicast.md.

    multicast.py [--draw] [NAME ...]

NAME is one of the studies below; without any, all. Each measures, writes docs/multicast/NAME.csv,
and from that draws docs/images/multicast-NAME.png and its table in docs/multicast.md; `--draw` only
does the second half. Times are simulated and the same on every machine.
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from weft import bench_collectives as bench
from weft import launch, paths
from weft.bench_collectives import COLLECTIVES, Row, Study
from weft.calibrate.fabric_file import with_values
from weft.launch import Request
from weft.process import work_directory
from weft.record import Record
from weft.toolchain import compile_c
from weft.units import format_size
from weft.ways import check_as_asked

DOCS = Path(__file__).parent.parent / "docs"
TESTBED, TESTBED_HOSTS = "fdr-188", 188
FULL_BANDWIDTH = "fat-tree-1024-radix-32"
LEAF, POD = 16, 256  # hosts below a switch of the first and of the second level of the latter
MULTICAST = "multicast"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

Table = list[dict[str, str]]
MANY: dict[str, Any] = {"unchecked": True}
"""How thousands of ranks have room for their buffers."""


@dataclass(frozen=True)
class Part:
    """One study: what it runs, and what it shows."""

    measure: Callable[[], Sequence[Row] | Table]
    draw: Callable[[Table, Figure], None]
    table: Callable[[Table], Iterator[str]]
    width: float = 8.0


# ---- Figure 2: bytes over the links, against a cost model --------------------------------------


def tree_ports(ranks: int) -> int:
    """Return the switch ports that one rank's part passes when it crosses each tree link once."""
    groups = [-(-ranks // below) for below in (LEAF, POD)]
    return ranks + sum(2 * count for count in groups if count > 1)


def way_ports(one: int, other: int) -> int:
    """Return the switch ports that a message passes."""
    return 2 + sum(4 for below in (LEAF, POD) if one // below != other // below)


def multicast_ports(ranks: int) -> int:
    """Return the parts that pass a port in a multicast Allgather."""
    return ranks * tree_ports(ranks)


def ring_ports(ranks: int) -> int:
    """Return the same of a ring."""
    return (ranks - 1) * sum(way_ports(rank, (rank + 1) % ranks) for rank in range(ranks))


def doubling_ports(ranks: int) -> int:
    """Return the same of recursive doubling, of a power of two of ranks."""
    steps = [1 << k for k in range(ranks.bit_length() - 1)]
    return ranks * sum(step * way_ports(0, step) for step in steps)


MODELS: dict[str, Callable[[int], int]] = {
    "ring": ring_ports,
    "recursive doubling": doubling_ports,
}
MEASURED_AS = {"ring": "ring", "rdb": "recursive doubling", MULTICAST: MULTICAST}
COST_BYTES = 4096
COST_RANKS = (16, 64, 256, 1024)


def measure_cost() -> list[Row]:
    """Run an Allgather in each way and size of the fabric."""
    modes = (MULTICAST, "ring", "rdb")
    return [
        row
        for ranks in COST_RANKS
        for row in run("allgather", FULL_BANDWIDTH, ranks, (COST_BYTES,), modes, **MANY)
    ]


def draw_cost(rows: Table, figure: Figure) -> None:
    """Draw how much more than the multicast the others move: the model, and the runs."""
    axes = figure.subplots()
    ranks = [1 << k for k in range(1, 11)]
    moved = {(row["mode"], int(row["ranks"])): float(row["port_bytes"]) for row in rows}
    for k, (name, ports) in enumerate(MODELS.items()):
        model = [ports(count) / multicast_ports(count) for count in ranks]
        axes.plot(ranks, model, color=COLOURS[k], label=f"{name}, model")
        of_mode = [mode for mode, model_name in MEASURED_AS.items() if model_name == name]
        points = {
            count: moved[mode, count] / moved[MULTICAST, count]
            for mode, count in moved
            if mode in of_mode
        }
        if points:
            axes.plot(
                list(points), list(points.values()), "o", color=COLOURS[k], label=f"{name}, run"
            )
    axes.axhline(2, color="#888888", linewidth=0.8, linestyle="dotted")
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [str(count) for count in ranks])
    axes.set_xlabel("nodes")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("bytes over switch ports, of the multicast's")
    axes.set_title("Allgather on a fat tree of 1,024 nodes, switches of 32 ports", loc="left")
    axes.legend(frameon=False)


def cost_table(rows: Table) -> Iterator[str]:
    """Yield bytes of the model and of the run."""
    yield "| nodes | mode | model, parts x ports | run, bytes / part | difference |"
    yield "|---:|---|---:|---:|---:|"
    models = {**MODELS, MULTICAST: multicast_ports}
    for row in rows:
        model = models[MEASURED_AS[row["mode"]]](int(row["ranks"]))
        found = float(row["port_bytes"]) / int(row["bytes"])
        yield (
            f"| {row['ranks']} | {row['mode']} | {model:,} | {found:,.0f} "
            f"| {found / model - 1:+.2%} |"
        )


# ---- Figure 10: the protocol's phases ----------------------------------------------------------

PHASES = ("barrier", "multicast", "recovery", "handshake")
PHASE_RANKS = (2, 4, 8, 16, 32, 64, 128, TESTBED_HOSTS)
PHASE_BYTES = (4 * 2**10, 64 * 2**10, 256 * 2**10)


def measure_phases() -> Table:
    """Run Allgathers by the protocol; keep how long a rank is in each phase, in the mean."""
    rows: Table = []
    with work_directory() as work:
        program = work / "collective_times"
        compile_c(paths.example("collective_times.c"), program)
        for ranks in PHASE_RANKS:
            study = Study(
                COLLECTIVES["allgather"], TESTBED, ranks, PHASE_BYTES, [MULTICAST], **MANY
            )
            for size in PHASE_BYTES:
                (part,) = bench.measure(study, program, MULTICAST, size)[1].multicast
                seconds = {phase: getattr(part, f"{phase}_s") for phase in PHASES}
                rows.append(
                    {"ranks": str(ranks), "bytes": str(size)}
                    | {f"{phase}_us": f"{time * 1e6:.6g}" for phase, time in seconds.items()}
                )
    return rows


def shares(row: dict[str, str]) -> dict[str, float]:
    """Return by phase its share of the time."""
    times = {phase: float(row[f"{phase}_us"]) for phase in PHASES}
    return {phase: time / sum(times.values()) for phase, time in times.items()}


def draw_phases(rows: Table, figure: Figure) -> None:
    """Draw the shares of the phases, a bar for each number of nodes."""
    for axes, size in zip(
        figure.subplots(1, len(PHASE_BYTES), sharey=True), PHASE_BYTES, strict=True
    ):
        of_size = [row for row in rows if row["bytes"] == str(size)]
        below = [0.0] * len(of_size)
        for k, phase in enumerate(PHASES):
            heights = [100 * shares(row)[phase] for row in of_size]
            nodes = [row["ranks"] for row in of_size]
            axes.bar(nodes, heights, bottom=below, color=COLOURS[k], label=phase)
            below = [low + height for low, height in zip(below, heights, strict=True)]
        axes.set_xlabel("nodes")
        axes.set_title(f"{format_size(size)} a rank", loc="left")
    figure.axes[0].set_ylabel("of a rank's time in an Allgather, %")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False
    )


def phases_table(rows: Table) -> Iterator[str]:
    """Yield the time and the share of the phases."""
    yield "| nodes | bytes | Allgather | barrier | multicast | recovery | handshake |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        whole = sum(float(row[f"{phase}_us"]) for phase in PHASES)
        cells = " | ".join(f"{share:.2%}" for share in shares(row).values())
        size = format_size(int(row["bytes"]))
        yield f"| {row['ranks']} | {size} | {whole:,.1f} us | {cells} |"


# ---- Figure 11: throughput on the testbed ------------------------------------------------------

THROUGHPUT_SIZES = tuple(1 << k for k in range(12, 19))  # 4 KiB to 256 KiB
THROUGHPUT_MODES = {
    "bcast": (MULTICAST, "knomial", "sag-knomial", "binary-tree", "binomial_tree"),
    "allgather": (MULTICAST, "ring", "bruck"),
}


def measure_throughput() -> list[Row]:
    """Run both collectives in all modes by size."""
    return [
        row
        for collective, modes in THROUGHPUT_MODES.items()
        for row in run(collective, TESTBED, TESTBED_HOSTS, THROUGHPUT_SIZES, modes, **MANY)
    ]


def draw_throughput(rows: Table, figure: Figure) -> None:
    """Draw what a process receives a second."""
    for axes, (collective, modes) in zip(
        figure.subplots(1, 2), THROUGHPUT_MODES.items(), strict=True
    ):
        for k, mode in enumerate(modes):
            points = column(rows, collective, mode, "receive_Bps")
            axes.plot(
                list(points),
                [rate / 2**30 for rate in points.values()],
                marker="o",
                color=COLOURS[k],
                label=mode,
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(THROUGHPUT_SIZES, list(map(format_size, THROUGHPUT_SIZES)), rotation=40)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("send buffer")
        axes.set_ylabel("received by a process, GiB/s")
        axes.set_title(f"{COLLECTIVES[collective].title}, {TESTBED_HOSTS} hosts", loc="left")
        axes.legend(frameon=False)


def throughput_table(rows: Table) -> Iterator[str]:
    """Yield throughputs, and the multicast's by each of the others'."""
    yield "| | bytes | " + "multicast, GiB/s | against | GiB/s | multicast is ahead by |"
    yield "|---|---:|---:|---|---:|---:|"
    for collective, modes in THROUGHPUT_MODES.items():
        ours = column(rows, collective, MULTICAST, "receive_Bps")
        for mode in modes[1:]:
            for size, rate in column(rows, collective, mode, "receive_Bps").items():
                yield (
                    f"| {collective} | {format_size(size)} | {ours[size] / 2**30:.2f} | {mode} "
                    f"| {rate / 2**30:.2f} | {ours[size] / rate:.2f} |"
                )


# ---- Figure 12: bytes over the testbed's switch ports ------------------------------------------

TRAFFIC_BYTES, TRAFFIC_ITERATIONS = 65536, 10


def measure_traffic() -> list[Row]:
    """Run ten iterations of 64 KiB."""
    return [
        row
        for collective, modes in THROUGHPUT_MODES.items()
        for row in run(
            collective,
            TESTBED,
            TESTBED_HOSTS,
            (TRAFFIC_BYTES,),
            modes,
            iterations=TRAFFIC_ITERATIONS,
            **MANY,
        )
    ]


def draw_traffic(rows: Table, figure: Figure) -> None:
    """Draw a bar for each mode."""
    for axes, (collective, modes) in zip(
        figure.subplots(1, 2), THROUGHPUT_MODES.items(), strict=True
    ):
        bytes_of = {
            mode: column(rows, collective, mode, "port_bytes")[TRAFFIC_BYTES] for mode in modes
        }
        bars = axes.bar(
            list(bytes_of),
            [moved / 1e9 for moved in bytes_of.values()],
            color=COLOURS[: len(modes)],
        )
        labels = [f"{moved / bytes_of[MULTICAST]:.2f}x" for moved in bytes_of.values()]
        axes.bar_label(bars, labels)
        axes.set_ylabel("received and sent by all switch ports, GB")
        axes.tick_params(axis="x", rotation=20)
        axes.margins(y=0.1)
        axes.set_title(f"{COLLECTIVES[collective].title}: 10 x 64 KiB, {TESTBED_HOSTS} hosts")


def traffic_table(rows: Table) -> Iterator[str]:
    """Yield the bytes."""
    yield "| | mode | all switch ports, MB | of the multicast's |"
    yield "|---|---|---:|---:|"
    for collective, modes in THROUGHPUT_MODES.items():
        ours = column(rows, collective, MULTICAST, "port_bytes")[TRAFFIC_BYTES]
        for mode in modes:
            moved = column(rows, collective, mode, "port_bytes")[TRAFFIC_BYTES]
            yield f"| {collective} | {mode} | {moved / 1e6:,.1f} | {moved / ours:.2f} |"


# ---- Section II and appendix B: Allgather and Reduce-Scatter at once ----------------------------

TOGETHER_BYTES = 8 * 2**20
TOGETHER_RANKS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
CHAINS, CHAINS_RANKS = (1, 2, 4, 8, 16, 32, 64), 64


@contextmanager
def with_chains(chains: int) -> Iterator[str]:
    """Give FULL_BANDWIDTH, as a file, with so many roots of an Allgather at the same time."""
    text = (paths.installed("fabrics", f"{FULL_BANDWIDTH}.toml")).read_text(encoding="utf-8")
    with work_directory() as work:
        file = work / f"{FULL_BANDWIDTH}.toml"
        file.write_text(with_values(text, "multicast", {"chains": str(chains)}), encoding="utf-8")
        yield str(file)


def together(ranks: int, chains: int, modes: Sequence[str]) -> list[Row]:
    """Run both in some modes."""
    with with_chains(chains) as fabric:
        return run("ag+rs", fabric, ranks, (TOGETHER_BYTES,), modes, **MANY)


def measure_together() -> list[Row]:
    """Run both in the network and around rings, with all roots at the same time."""
    return [row for ranks in TOGETHER_RANKS for row in together(ranks, ranks, (MULTICAST, "ring"))]


def speed_ups(rows: Table) -> dict[int, float]:
    """Return by ranks how much faster than rings."""
    ends = {(int(row["ranks"]), row["mode"]): float(row["max_us"]) for row in rows}
    return {ranks: ends[ranks, "ring"] / ends[ranks, MULTICAST] for ranks in TOGETHER_RANKS}


def draw_together(rows: Table, figure: Figure) -> None:
    """Draw the speed-up beside appendix B's."""
    axes = figure.subplots()
    found = speed_ups(rows)
    axes.plot(list(found), [2 - 2 / ranks for ranks in found], color="#888888", label="2 - 2/P")
    axes.plot(list(found), list(found.values()), "o", color=COLOURS[0], label="run")
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(found), [str(ranks) for ranks in found])
    axes.set_ylim(1, 2.1)
    axes.set_xlabel("ranks P")
    axes.set_ylabel("speed-up over ring with ring")
    axes.set_title("{AG, RS} of 8 MiB a rank", loc="left")
    axes.legend(frameon=False, loc="lower right")


def together_table(rows: Table) -> Iterator[str]:
    """Yield the speed-ups beside appendix B's."""
    yield "| ranks | speed-up | 2 - 2/P | difference |"
    yield "|---:|---:|---:|---:|"
    for ranks, speed_up in speed_ups(rows).items():
        bound = 2 - 2 / ranks
        yield f"| {ranks:,} | {speed_up:.4f} | {bound:.4f} | {speed_up / bound - 1:+.2%} |"


def measure_chains() -> Table:
    """Run both in the network with some roots at a time, and around rings."""
    (ring,) = together(CHAINS_RANKS, 1, ["ring"])
    return [
        {"chains": str(chains), "network_us": f"{row.max_us:.6g}", "ring_us": f"{ring.max_us:.6g}"}
        for chains in CHAINS
        for row in together(CHAINS_RANKS, chains, [MULTICAST])
    ]


def chains_bound(chains: int) -> float:
    """Return what to expect when roots and the Reduce-Scatter halve a NIC's way out."""
    return (2 - 2 / CHAINS_RANKS) / (1 + 1 / chains)


def draw_chains(rows: Table, figure: Figure) -> None:
    """Draw the speed-up by chains."""
    axes = figure.subplots()
    chains = [int(row["chains"]) for row in rows]
    found = [float(row["ring_us"]) / float(row["network_us"]) for row in rows]
    axes.plot(chains, found, "o", color=COLOURS[0], label="run")
    expected = list(map(chains_bound, chains))
    axes.plot(chains, expected, color="#888888", label="(2 - 2/P) / (1 + 1/M)")
    axes.set_xscale("log", base=2)
    axes.set_xticks(chains, list(map(str, chains)))
    axes.set_ylim(0, 2.1)
    axes.set_xlabel("chains M: roots that multicast at the same time")
    axes.set_ylabel("speed-up over ring with ring")
    axes.set_title(f"{{AG, RS}} of 8 MiB a rank, {CHAINS_RANKS} ranks", loc="left")
    axes.legend(frameon=False, loc="lower right")


def chains_table(rows: Table) -> Iterator[str]:
    """Yield the speed-ups by chains."""
    yield "| chains | both in the network | ring, ring | speed-up | (2 - 2/P) / (1 + 1/M) |"
    yield "|---:|---:|---:|---:|---:|"
    for row in rows:
        ours, ring = float(row["network_us"]), float(row["ring_us"])
        yield (
            f"| {row['chains']} | {ours / 1e3:.2f} ms | {ring / 1e3:.2f} ms | {ring / ours:.3f} "
            f"| {chains_bound(int(row['chains'])):.3f} |"
        )


# ---- An FSDP training step ---------------------------------------------------------------------

FSDP_RANKS, FSDP_LAYERS, FSDP_BYTES = 16, 8, 4 * 2**20
FSDP_COMPUTE_US = (25, 50, 75, 100, 150, 200, 300, 400)
FSDP_SHOWN_US = 100
JOINED_US = 0.05
"""Calls of MPI between two things that a rank does take as long at most."""
FSDP_MODES = {MULTICAST: "mpi", "ring": "ring", "smpi": "mpi"}


def measure_fsdp() -> Table:
    """Run a step by computation and mode; of one computation keep the timeline of rank 0."""
    rows: Table = []
    with work_directory() as work, with_chains(FSDP_RANKS) as fabric:
        program = work / "fsdp_step"
        compile_c(paths.example("fsdp_step.c"), program)
        for compute_us in FSDP_COMPUTE_US:
            for mode in FSDP_MODES:
                rows += fsdp_step(fabric, program, mode, compute_us, work / "timeline.json")
    return rows


def fsdp_step(fabric: str, program: Path, mode: str, compute_us: int, timeline: Path) -> Table:
    """Run one step; return its time and, where it is to be shown, what rank 0 did when."""
    shown = compute_us == FSDP_SHOWN_US
    offload: Any = MULTICAST if mode == MULTICAST else "off"
    lines: list[str] = []
    arguments = (str(FSDP_LAYERS), str(FSDP_BYTES), str(compute_us), FSDP_MODES[mode])
    request = Request(
        fabric,
        FSDP_RANKS,
        str(program),
        arguments,
        offload=offload,
        privatize=False,
        config=("smpi/test:0",),
        timeline=timeline if shown else None,
    )
    record = completed(launch.run(launch.prepare(request), lines.append))
    step_us = next(line for line in lines if line.startswith("step")).split()[1]
    row = {"mode": mode, "compute_us": str(compute_us), "what": "step", "start_us": "0"}
    rows = [{**row, "end_us": step_us}]
    return rows + ([{**row, **span} for span in spans(timeline, record)] if shown else [])


def spans(timeline: Path, record: Record) -> Iterator[dict[str, str]]:
    """Yield what rank 0 computed and waited for, and what the network's switches did."""
    what = {"computing": "compute", "MPI_Wait": "wait", "MPI_Waitany": "wait"}
    events = json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
    of_rank = [one for one in events if one["ph"] == "X" and (one["pid"], one["tid"]) == (1, 0)]
    doing = [
        (what[one["name"]], one["ts"], one["ts"] + one["dur"])
        for one in of_rank
        if one["name"] in what
    ]
    yield from (span(*one) for one in joined(doing) if one[2] > one[1])
    whole = {(one.collective, one.start_s, one.end_s) for one in record.events}
    for collective, start_s, end_s in sorted(whole, key=lambda one: one[1]):
        if collective != "barrier":
            yield span(collective, start_s * 1e6, end_s * 1e6)


def joined(doing: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Return spans of which those that follow each other at once are one."""
    whole: list[tuple[str, float, float]] = []
    for what, start, end in doing:
        if whole and whole[-1][0] == what and start - whole[-1][2] < JOINED_US:
            whole[-1] = (what, whole[-1][1], end)
        else:
            whole.append((what, start, end))
    return whole


def span(what: str, start_us: float, end_us: float) -> dict[str, str]:
    """Return the cells of one thing that lasted."""
    return {"what": what, "start_us": f"{start_us:.6g}", "end_us": f"{end_us:.6g}"}


def draw_fsdp(rows: Table, figure: Figure) -> None:
    """Draw two timelines and the step's time by computation."""
    axes_of = figure.subplot_mosaic([[MULTICAST, "times"], ["ring", "times"]])
    titles = {MULTICAST: "multicast Allgather, in-network Reduce-Scatter", "ring": "ring, ring"}
    lanes = {"compute": 3, "wait": 2, "iallgather": 1, "ireduce_scatter": 0}
    longest = max(float(row["end_us"]) for row in rows if row["what"] in lanes)
    for mode, title in titles.items():
        axes = axes_of[mode]
        for k, (what, lane) in enumerate(lanes.items()):
            bars = [
                (float(row["start_us"]), float(row["end_us"]) - float(row["start_us"]))
                for row in rows
                if (row["mode"], row["what"]) == (mode, what)
            ]
            axes.broken_barh(bars, (lane - 0.4, 0.8), color=COLOURS[k], linewidth=0)
        axes.set_yticks(list(lanes.values()), ["computes", "waits", "Allgather", "Reduce-Scatter"])
        axes.set_ylim(-0.5 if mode == MULTICAST else 1.5, 3.5)
        axes.set_xlim(0, longest)
        axes.set_title(f"{title}: rank 0", loc="left")
        axes.set_xlabel("time, us")
    draw_fsdp_times(rows, axes_of["times"])


def draw_fsdp_times(rows: Table, axes: Any) -> None:
    """Draw the step's time by the time of a layer's forward pass."""
    for k, (mode, points) in enumerate(step_times(rows).items()):
        axes.plot(list(points), list(points.values()), marker="o", color=COLOURS[k], label=mode)
    alone = [3 * FSDP_LAYERS * compute for compute in FSDP_COMPUTE_US]
    axes.plot(FSDP_COMPUTE_US, alone, color="#888888", linestyle="dotted", label="computation")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("forward pass of a layer, us")
    axes.set_ylabel("training step, us")
    axes.set_title(f"{FSDP_LAYERS} layers of {format_size(FSDP_BYTES)}, {FSDP_RANKS} ranks")
    axes.legend(frameon=False)


def step_times(rows: Table) -> dict[str, dict[int, float]]:
    """Return the step's time by mode and computation."""
    return {
        mode: {
            int(row["compute_us"]): float(row["end_us"])
            for row in rows
            if (row["mode"], row["what"]) == (mode, "step")
        }
        for mode in FSDP_MODES
    }


def fsdp_table(rows: Table) -> Iterator[str]:
    """Yield the step's times."""
    times = step_times(rows)
    yield "| forward pass | computation alone | multicast | ring | SMPI | ring / multicast |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for compute in FSDP_COMPUTE_US:
        ours, ring, smpi = (times[mode][compute] for mode in FSDP_MODES)
        yield (
            f"| {compute} us | {3 * FSDP_LAYERS * compute} us | {ours:.0f} us | {ring:.0f} us "
            f"| {smpi:.0f} us | {ring / ours:.2f} |"
        )


# ---- All of them -------------------------------------------------------------------------------

PARTS = {
    "figure-2": Part(measure_cost, draw_cost, cost_table),
    "figure-10": Part(measure_phases, draw_phases, phases_table, 13),
    "figure-11": Part(measure_throughput, draw_throughput, throughput_table, 13),
    "figure-12": Part(measure_traffic, draw_traffic, traffic_table, 13),
    "ag-rs": Part(measure_together, draw_together, together_table),
    "chains": Part(measure_chains, draw_chains, chains_table),
    "fsdp": Part(measure_fsdp, draw_fsdp, fsdp_table, 14),
}


def main() -> None:
    """Measure, write, draw."""
    parser = argparse.ArgumentParser(description="Figures of Khalilov et al. (SC '24) from runs.")
    parser.add_argument("--draw", action="store_true", help="from the tables there are")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PARTS]
    if unknown:
        parser.error(f"found '{unknown[0]}'; allowed are {', '.join(PARTS)}")
    for name in options.names or PARTS:
        if not options.draw:
            write(name, PARTS[name].measure())
        show(name, PARTS[name])


def run(
    collective: str,
    fabric: str,
    ranks: int,
    sizes: Sequence[int],
    modes: Sequence[str],
    **options: Any,
) -> list[Row]:
    """Run a bench, saying what is done."""
    study = Study(COLLECTIVES[collective], fabric, ranks, sizes, modes, **options)
    rows = bench.run(
        study, lambda mode, size: print(f"{collective} {ranks} {mode} {size}", flush=True)
    )
    check_as_asked(rows, "multicast")  # the tables' labels are fixed
    return rows


def completed(record: Record) -> Record:
    """Return the record of a run that went well."""
    if record.failed:
        raise SystemExit(f"multicast: {record.outcome.message}")
    return record


def column(rows: Table, collective: str, mode: str, name: str) -> dict[int, float]:
    """Return a column by size."""
    return {
        int(row["bytes"]): float(row[name])
        for row in rows
        if (row["collective"], row["mode"]) == (collective, mode)
    }


def data_file(name: str) -> Path:
    """Return where a study's rows are."""
    return DOCS / "multicast" / f"{name}.csv"


def write(name: str, rows: Sequence[Row] | Table) -> None:
    """Write a study's rows."""
    data_file(name).parent.mkdir(exist_ok=True)
    of_bench = [row for row in rows if isinstance(row, Row)]
    if of_bench:
        bench.write_csv(of_bench, data_file(name))
        return
    with data_file(name).open("w", encoding="utf-8", newline="") as file:
        tables = [row for row in rows if isinstance(row, dict)]
        writer = csv.DictWriter(file, list(tables[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(tables)


def show(name: str, part: Part) -> None:
    """Draw a study's figure and put its table into the document."""
    with data_file(name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure = Figure(figsize=(part.width, 4.6), layout="constrained")
    part.draw(rows, figure)
    target = DOCS / "images" / f"multicast-{name}.png"
    figure.savefig(target, dpi=110, metadata={"Software": None})
    begin, end = f"<!-- table: {name} -->\n", "<!-- end -->\n"
    document = DOCS / "multicast.md"
    before, found, rest = document.read_text(encoding="utf-8").partition(begin)
    if found:
        text = "\n".join(part.table(rows)) + "\n"
        document.write_text(before + begin + text + end + rest.partition(end)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
