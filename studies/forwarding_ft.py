# SPDX-License-Identifier: LGPL-2.1-only
"""FT on the torus and the Dragonfly, for two settings that Hirasawa et al. do not state.

The paper says that FT is more than twice as fast on the Dragonfly. Its simulator, SimGrid 3.12,
sends all blocks of an Alltoall simultaneously if they are smaller than 3,000 B
(`smpi_coll_tuned_alltoall_ompi2` in src/smpi/smpi_coll.c, tag v3_12), and the hosts of its torus
have no cables (src/surf/surf_routing_cluster_torus.cpp). The study replays FT with each setting.
Tables and texts of docs/forwarding-experiment.md, section "Which machine gains more".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from studies import forwarding
from studies.forwarding import RESULTS, Run, Variant, fabric_text, programs, record_trace, sweep
from studies.resume import digest, weft_digest
from studies.study import DOCS, Study, markdown, read_table, write_table

TABLE = DOCS / "forwarding" / "ft.csv"
RANKS = (64, 128, 256)
CASES = {"torus-4x4x4x4": "simgrid", "dragonfly-16x16": "cables"}
"""Case of studies/forwarding.py for each machine: SimGrid's defaults, 16 cables."""
_GBPS = 1600
_FREE_CABLES = '\n[[links]]\nmatch = "host-*"\nbandwidth = "1000Tbps"\n'
"""Host cables that never limit a message, as if hosts were part of their switch."""
_ALL_AT_ONCE = "basic_linear"
"""With 256 ranks, 65,280 messages share the cables simultaneously, which takes an hour to simulate
on the torus.
"""


@dataclass(frozen=True)
class Setting:
    """Algorithm and machine of one pair of replays."""

    ranks: int
    alltoall: str
    host_cables: bool


def settings() -> Iterator[Setting]:
    """Yield all settings; simultaneous blocks only where they are cheap to simulate."""
    for ranks in RANKS:
        for host_cables in (True, False):
            yield Setting(ranks, "pair", host_cables)
    yield Setting(64, _ALL_AT_ONCE, host_cables=True)
    for ranks in (64, 128):
        yield Setting(ranks, _ALL_AT_ONCE, host_cables=False)


def replay(setting: Setting, fabric: str) -> Run:
    """Return the replay of FT on a machine."""
    (recorded,) = (one for one in programs(setting.ranks) if one.name == "FT")
    program = replace(recorded, algorithms=(f"smpi/alltoall:{setting.alltoall}",))
    trace = record_trace(recorded, RESULTS)
    variant = Variant(CASES[fabric], fabric, _GBPS, "cache")
    text = fabric_text(variant) + ("" if setting.host_cables else _FREE_CABLES)
    name = digest(weft_digest(), text, trace.name, *program.algorithms)
    return Run(program, trace, variant, text, RESULTS / "records" / f"ft-{fabric}-{name}.json")


def measure() -> None:
    """Replay FT on both machines for each setting."""
    (RESULTS / "records").mkdir(parents=True, exist_ok=True)
    wanted = list(settings())
    runs = [replay(setting, fabric) for setting in wanted for fabric in forwarding.FABRICS]
    seconds = iter(row.seconds for row in sweep(runs))
    rows = [
        {
            "ranks": setting.ranks,
            "alltoall": setting.alltoall,
            "host_cables": "yes" if setting.host_cables else "no",
            "torus_us": f"{1e6 * next(seconds):.3f}",
            "dragonfly_us": f"{1e6 * next(seconds):.3f}",
        }
        for setting in wanted
    ]
    write_table(TABLE, rows)


def ft_table() -> str:
    """Return the settings, with the ratio of the times on both machines."""
    names = {"pair": "pairwise", _ALL_AT_ONCE: "all at once"}
    rows = [
        [
            row["ranks"],
            names[row["alltoall"]],
            "of their own" if row["host_cables"] == "yes" else "none",
            f"{float(row['torus_us']):.1f}",
            f"{float(row['dragonfly_us']):.1f}",
            f"{float(row['torus_us']) / float(row['dragonfly_us']):.2f}x",
        ]
        for row in read_table(TABLE)
    ]
    heads = ("ranks", "Alltoall", "cables of hosts", "torus (us)", "Dragonfly (us)", "ratio")
    return markdown(heads, rows, left=3)


STUDY = Study(
    name="forwarding-ft",
    about="why FT may be twice as fast on the Dragonfly",
    measure=measure,
    page=DOCS / "forwarding-experiment.md",
    texts=lambda: {"table: ft": ft_table()},
)
