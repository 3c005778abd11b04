# SPDX-License-Identifier: LGPL-2.1-only
"""`--offload auto` beside both ways: calls of which it took the slower one.

The times are the mean of the ranks, as the table has it. SMPI's `ompi` takes a ring for a large
Reduce_scatter, where another algorithm would be several times as fast; and in the hosts' tree of a
small Reduce most ranks leave at once.
"""

from pathlib import Path

import compiled
import pytest
import simulated
from conftest import Run

FABRIC = """
[fabric]
name = "places"
[topology]
{topology}
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "100Gbps"
latency = "0.94us"
[switch]
preset = "{switch}"
turnaround = "130ns"
"""
TREE = 'kind = "fat_tree"\ndown = [8, 4]\nup = [1, 4]'
STAR = 'kind = "star"\nhosts = 8'
# By the whole vector: 16 KiB a rank in a Reduce_scatter, 4 B in the others.
SIZES = ("4", "524288")
CALLS = [("reduce", "4"), ("bcast", "4"), ("reduce_scatter", "524288"), ("allreduce", "4")]


ONE_CALL = Path(__file__).parents[2] / "benchmarks" / "one_call.c"


@pytest.mark.parametrize("switch", ["sharp", "ideal"])
@pytest.mark.parametrize(("topology", "ranks"), [(TREE, 32), (STAR, 8)], ids=["tree", "star"])
def test_auto_takes_the_faster_way(tmp_path: Path, topology: str, ranks: int, switch: str) -> None:
    one_call = compiled.program(ONE_CALL)
    path = tmp_path / "places.toml"
    path.write_text(FABRIC.format(topology=topology, switch=switch))
    times: dict[str, dict[tuple[str, str], float]] = {}
    for offload in ("off", "stream", "auto"):
        result = simulated.run_command(
            simulated.weft_command(
                one_call, *SIZES, on=str(path), ranks=ranks, options=("-q", "--offload", offload)
            )
        )
        assert result.status == 0, result.stderr
        lines = (line.split() for line in result.lines)
        times[offload] = {(name, size): float(seconds) for name, size, seconds in lines}
    for call in CALLS:
        both = times["off"][call], times["stream"][call]
        assert times["auto"][call] == pytest.approx(min(both), rel=0.02), (call, both)


@pytest.mark.parametrize(
    ("topology", "ranks", "overhead", "path"),
    [
        (STAR, 8, "0us", "stream"),
        (STAR, 8, "20us", "fallback"),
        (TREE, 32, "0us", "fallback"),
    ],
    ids=["star", "slow-nic", "several-ways"],
)
def test_auto_decides_an_alltoall(
    run: Run, tmp_path: Path, topology: str, ranks: int, overhead: str, path: str
) -> None:
    """On one switch it is what the NIC adds that matters; a tree leaves other ways unused."""
    file = tmp_path / "nic.toml"
    nic = 'preset = "connectx-6-dx"'
    text = FABRIC.format(topology=topology, switch="ideal")
    file.write_text(text.replace(nic, f'{nic}\noffload_overhead = "{overhead}"'))
    rows = {
        offload: run(
            *("collectives.c", "alltoall", "1000", "0"),
            on=str(file),
            ranks=ranks,
            options=("--offload", offload),
        ).row()
        for offload in ("off", "stream", "auto")
    }
    assert rows["auto"]["path"] == path
    assert rows["auto"]["reason"] == ("host is faster" if path == "fallback" else "")
    times = {offload: row["total_time_s"] for offload, row in rows.items()}
    assert times["auto"] == min(times.values())
