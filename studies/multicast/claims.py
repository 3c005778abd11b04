# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of the paper compared with weft's results, from the tables of all its studies."""

from collections.abc import Iterator
from functools import partial

from studies.multicast import (
    FULL_BANDWIDTH,
    MULTICAST,
    PAGE,
    TESTBED,
    TESTBED_HOSTS,
    changed_fabric,
    column,
    cores,
    run_recorded,
)
from studies.multicast.ag_rs import JITTER, TOGETHER_RANKS, speed_ups
from studies.multicast.figure_2 import less, with_headers
from studies.multicast.figure_10 import shares
from studies.multicast.figure_12 import saving
from studies.multicast.variability import NOISES, spread
from studies.resume import kept_rows
from studies.study import DOCS, Study, Table, markdown, read_table, write_table

TABLE = DOCS / "multicast" / "claims.csv"
NODES, NODES_BYTES = (2, 16, 64, TESTBED_HOSTS), 64 * 2**10
SUBGROUPS, SUBGROUPS_RANKS, SUBGROUPS_BYTES = (1, 2, 4, 8, 16), 16, 4 * 2**20
ENGINE = '\n[progress_engine]\npreset = "bluefield-3-dpa"\n'
GIB = 2**30


def measure() -> None:
    """Measure claims that have no figure in the paper: Broadcasts by nodes and by subgroups."""
    by_nodes = [
        (f"claims-nodes-{nodes}-{NODES_BYTES}", partial(measure_nodes, nodes)) for nodes in NODES
    ]
    by_trees = [
        (f"claims-trees-{trees}-{SUBGROUPS_BYTES}", partial(measure_trees, trees))
        for trees in SUBGROUPS
    ]
    write_table(TABLE, kept_rows("multicast", [*by_nodes, *by_trees]))


def measure_nodes(nodes: int) -> Table:
    """Run a Broadcast on the testbed."""
    row, _ = run_recorded("bcast", TESTBED, nodes, NODES_BYTES)
    return [_row("nodes", nodes, row.max_us)]


def measure_trees(trees: int) -> Table:
    """Run a Broadcast to the threads of SmartNICs, each of which serves at least one tree."""
    with changed_fabric(FULL_BANDWIDTH, MULTICAST, {"trees": trees}, ENGINE) as fabric:
        row, _ = run_recorded("bcast", fabric, SUBGROUPS_RANKS, SUBGROUPS_BYTES)
    return [_row("subgroups", trees, row.max_us)]


def _row(what: str, number: int, max_us: float) -> dict[str, str]:
    return {"what": what, "number": str(number), "max_us": f"{max_us:.6g}"}


def claims() -> str:
    """Return the table."""
    heads = ("the paper", "where", "weft", "by", "why it differs")
    return markdown(heads, list(rows()), len(heads))


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the rows."""
    yield from _network()
    yield from _testbed()
    yield from _hosts()


def _table(name: str) -> Table:
    return read_table(DOCS / "multicast" / f"{name}.csv")


def _figures(name: str) -> str:
    return f'`make multicast FIGURES="{name}"`'


def _network() -> Iterator[tuple[str, str, str, str, str]]:
    rows = _table("figure-2")
    bare = less(rows, 1024, lambda row: float(row["port_bytes"]))
    yield (
        "2 times less traffic on 1,024 nodes",
        "II-A, figure 2",
        f"{bare:.2f} times less than a ring, as the paper counts, payload alone;"
        f" {less(rows, 1024, with_headers):.2f} with headers",
        _figures("figure-2"),
        "",
    )
    most = TOGETHER_RANKS[-1]
    speed_up, jittered = (speed_ups(_table("ag-rs"), jitter)[most] for jitter in ("", JITTER))
    yield (
        "Allgather beside Reduce-Scatter: 2 - 2/P times as fast",
        "II-A, appendix B",
        f"{speed_up:.4f} of {2 - 2 / most:.4f} with {most:,} ranks, {jittered:.4f} with jitter",
        _figures("ag-rs"),
        "as many chains as ranks; [fewer](#how-many-chains) gain less",
    )
    times = {row["number"]: float(row["max_us"]) for row in _measured("nodes")}
    yield (
        "Broadcast in constant time",
        "III",
        "64 KiB: " + ", ".join(f"{times[str(n)]:.1f} us on {n} nodes" for n in NODES),
        _figures("claims"),
        "the barrier before it has log P steps",
    )


def _measured(what: str) -> Table:
    return [row for row in read_table(TABLE) if row["what"] == what]


def _testbed() -> Iterator[tuple[str, str, str, str, str]]:
    moving = {
        row["bytes"]: shares(row)["multicast"]
        for row in _table("figure-10")
        if row["ranks"] == "16"
    }
    yield (
        "99 % of the time is data movement from 16 nodes on",
        "VI-B, figure 10",
        f"{moving['262144']:.1%} with 256 KiB, {moving['65536']:.1%} with 64 KiB a rank",
        _figures("figure-10"),
        "the paper does not say of which size",
    )
    rows = _table("figure-11")
    ours = column(rows, "bcast", MULTICAST, "receive_Bps")
    for mode, name, stated in (
        ("sag-knomial", "k-nomial", "1.3"),
        ("binary-tree", "binary tree", "4.75"),
    ):
        its = column(rows, "bcast", mode, "receive_Bps")
        ahead = [ours[size] / its[size] for size in its]
        yield (
            f"Broadcast up to {stated} times as fast as {name}",
            "VI-B, figure 11",
            f"{min(ahead):.2f} to {max(ahead):.2f} times `{mode}`",
            _figures("figure-11"),
            "no size is named, nor which k-nomial;"
            " [below 64 KiB](#differences-from-the-paper) it fits"
            if mode == "sag-knomial"
            else "it is not pipelined here; no size is named",
        )
    mine, ring = (column(rows, "allgather", mode, "receive_Bps") for mode in (MULTICAST, "ring"))
    yield (
        "Allgather of 128 and 256 KiB as fast as the ring",
        "VI-B, figure 11",
        " and ".join(f"{mine[size] / ring[size]:.2f} times" for size in (2**17, 2**18)),
        _figures("figure-11"),
        "",
    )
    moved = _table("figure-12")
    bcast = saving(moved, "bcast", "knomial")
    gather = saving(moved, "allgather", "ring")
    yield (
        "1.5 times less traffic for Broadcast, 2 times for Allgather",
        "VI-B, figure 12; IX",
        f"{bcast:.2f} and {gather:.2f} times, with all headers",
        _figures("figure-12"),
        "no placement of ranks makes it [less than 1.68](#differences-from-the-paper)"
        " for Broadcast",
    )


def _hosts() -> Iterator[tuple[str, str, str, str, str]]:
    rates = [SUBGROUPS_BYTES / float(row["max_us"]) * 1e6 / GIB for row in _measured("subgroups")]
    yield (
        "a worker polls one or more subgroups, so that throughput grows with them",
        "IV-C",
        ", ".join(f"{rate:.1f}" for rate in rates)
        + f" GiB/s in a run with {', '.join(map(str, SUBGROUPS))} trees",
        _figures("claims"),
        "a Broadcast of 4 MiB with its barrier and handshake; of more, a full ring loses some",
    )
    yield (
        "one thread takes 11.9 (UC) or 5.2 GiB/s (UD); 4 or 8 to 16 fill 200 Gbit/s,"
        " 128 take 1.6 Tbit/s",
        "VI-C, table I, figures 13 to 16",
        "[the same](progress-engine.md#comparison-with-the-paper); 3 of UC suffice",
        "`make bench-progress-engine`",
        "rates of one thread, and of UD the 128, are fitted",
    )
    rows = _table("cores")
    dpa, one, two = (cores.step_times(rows, count)[400] for count in (0, 1, 2))
    short = cores.step_times(rows, 1)[25] / cores.step_times(rows, 0)[25]
    yield (
        "progress on the host costs cores, 1 per 100 Gbit/s; a SmartNIC leaves them to computation",
        "II, VII-d",
        f"a training step of [24 cores](#cores-of-the-host), two of which feed 200 Gbit/s, takes"
        f" {two / dpa - 1:.1%} longer than with the DPA; with one, {one / dpa - 1:.1%} to"
        f" {short - 1:.1%}",
        _figures("cores"),
        "the paper has no figures of ranks that compute",
    )
    yield (
        "receivers that are too slow drop chunks, which are fetched in a ring",
        "III-C",
        "[a slow host](multicast-mode.md) among eight",
        "`weft run --fabric slow.toml -n 8 --offload multicast`",
        "the paper has no figures",
    )
    yield (
        "incast where all roots start at once",
        "IV-A",
        "[lost chunks and time](#many-roots-at-once) by roots and room in switches",
        _figures("incast"),
        "the paper has no figures; lossless links lose nothing",
    )
    yield _variability()


def _variability() -> tuple[str, str, str, str, str]:
    spreads = {
        (row["collective"], row["mode"]): spread(row, "", "Bps")
        for row in _table("variability")
        if (row["noise"], row["bytes"]) == (NOISES[0].name, str(256 * 2**10))
    }
    return (
        "throughput of large messages varies less than that of point-to-point algorithms",
        "VI-B, figure 11",
        "[with jitter on each link](#variability), of a process and 256 KiB: Broadcast by"
        f" {spreads['bcast', MULTICAST]:.1%}, k-nomial by {spreads['bcast', 'knomial']:.1%}, binary"
        f" tree by {spreads['bcast', 'binary-tree']:.1%}; Allgather by"
        f" {spreads['allgather', MULTICAST]:.1%}, a ring by {spreads['allgather', 'ring']:.1%}",
        _figures("variability"),
        "the testbed's noise is not known; here neither bandwidth nor other traffic varies",
    )


STUDY = Study(
    name="multicast-claims",
    about="what the paper claims and weft gives",
    measure=measure,
    page=PAGE,
    texts=lambda: {"table: claims": claims()},
)
