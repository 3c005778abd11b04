# SPDX-License-Identifier: LGPL-2.1-only
"""The paper's figure 2: bytes of an Allgather over the links, compared with a cost model."""

from collections.abc import Callable, Iterator

from matplotlib.figure import Figure

from studies.multicast import FULL_BANDWIDTH, MANY, MULTICAST, headers, make_study, run
from studies.study import Table
from weft.base.plots import COLOURS, DASHES, GREY, MARKERS

LEAF, POD = 16, 256  # hosts below a first- and a second-level switch of FULL_BANDWIDTH


def tree_ports(ranks: int) -> int:
    """Return the switch ports crossed if a rank's block crosses each tree link once."""
    groups = [-(-ranks // below) for below in (LEAF, POD)]
    return ranks + sum(2 * count for count in groups if count > 1)


def way_ports(one: int, other: int) -> int:
    """Return the switch ports crossed by a message."""
    return 2 + sum(4 for below in (LEAF, POD) if one // below != other // below)


def multicast_ports(ranks: int) -> int:
    """Return the traffic of a multicast Allgather over all switch ports, in blocks of one rank."""
    return ranks * tree_ports(ranks)


def ring_ports(ranks: int) -> int:
    """Return the traffic of a ring, in blocks of one rank."""
    return (ranks - 1) * sum(way_ports(rank, (rank + 1) % ranks) for rank in range(ranks))


def doubling_ports(ranks: int) -> int:
    """Return the traffic of recursive doubling for 2^k ranks, in blocks of one rank."""
    steps = [1 << k for k in range(ranks.bit_length() - 1)]
    return ranks * sum(step * way_ports(0, step) for step in steps)


MODELS: dict[str, Callable[[int], int]] = {
    "ring": ring_ports,
    "recursive doubling": doubling_ports,
}
DOUBLING = "smpi:rdb"
MEASURED_AS = {"ring": "ring", DOUBLING: "recursive doubling", MULTICAST: MULTICAST}
COST_BYTES = 4096
COST_RANKS = (16, 64, 256, 1024)


def measure() -> Table:
    """Run an Allgather in each mode and fabric size."""
    modes = (MULTICAST, "ring", DOUBLING)
    return [
        row
        for ranks in COST_RANKS
        for row in run("allgather", FULL_BANDWIDTH, ranks, (COST_BYTES,), modes, **MANY)
    ]


def draw(rows: Table, figure: Figure) -> None:
    """Plot the traffic of other algorithms relative to the multicast, for model and runs."""
    axes = figure.subplots()
    ranks = [1 << k for k in range(1, 11)]
    moved = {(row["mode"], int(row["ranks"])): float(row["port_bytes"]) for row in rows}
    for k, (name, ports) in enumerate(MODELS.items()):
        model = [ports(count) / multicast_ports(count) for count in ranks]
        axes.plot(ranks, model, color=COLOURS[k], linestyle=DASHES[k], label=f"{name}, model")
        of_mode = [mode for mode, model_name in MEASURED_AS.items() if model_name == name]
        points = {
            count: moved[mode, count] / moved[MULTICAST, count]
            for mode, count in moved
            if mode in of_mode
        }
        if points:
            axes.plot(
                list(points),
                list(points.values()),
                linestyle="none",
                marker=MARKERS[k],
                color=COLOURS[k],
                label=f"{name}, run",
            )
    axes.axhline(2, color=GREY, linewidth=0.8, linestyle="dotted")
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [str(count) for count in ranks])
    axes.set_xlabel("nodes")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("bytes over switch ports, of the multicast's")
    axes.set_title("Allgather on a fat tree of 1,024 nodes, switches of 32 ports", loc="left")
    axes.legend(frameon=False)


def with_headers(row: dict[str, str]) -> float:
    """Return the bytes over switch ports if all packets had InfiniBand's headers."""
    port_bytes, part = float(row["port_bytes"]), int(row["bytes"])
    if row["mode"] == MULTICAST:
        return headers.multicast(port_bytes, multicast_ports(int(row["ranks"])) * part)
    return headers.messages(port_bytes)


def less(rows: Table, ranks: int, counted: Callable[[dict[str, str]], float]) -> float:
    """Return the ratio of the ring's traffic to the multicast's."""
    found = {row["mode"]: counted(row) for row in rows if row["ranks"] == str(ranks)}
    return found["ring"] / found[MULTICAST]


def table(rows: Table) -> Iterator[str]:
    """Yield the bytes in the model and in the runs."""
    yield (
        "| nodes | mode | model, parts x ports | run, bytes / part | difference "
        "| of the multicast's | with headers |"
    )
    yield "|---:|---|---:|---:|---:|---:|---:|"
    models = {**MODELS, MULTICAST: multicast_ports}
    ours = {row["ranks"]: row for row in rows if row["mode"] == MULTICAST}
    for row in rows:
        model = models[MEASURED_AS[row["mode"]]](int(row["ranks"]))
        found = float(row["port_bytes"]) / int(row["bytes"])
        base = ours[row["ranks"]]
        bare = float(row["port_bytes"]) / float(base["port_bytes"])
        yield (
            f"| {row['ranks']} | {row['mode']} | {model:,} | {found:,.0f} "
            f"| {found / model - 1:+.2%} | {bare:.3f} "
            f"| {with_headers(row) / with_headers(base):.3f} |"
        )


STUDY = make_study("figure-2", "bytes over the links, against a cost model", measure, draw, table)
