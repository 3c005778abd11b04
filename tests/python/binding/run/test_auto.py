# SPDX-License-Identifier: LGPL-2.1-only
"""`--offload auto`: each call's last rank ends as early as with the better alternative.

For consecutive calls of one collective, the total time counts: on the hosts, ranks that leave a
Reduce or Bcast early begin the next call. The single timed call follows an identical call, so weft
chooses the alternative that is faster for a sequence.
"""

from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import ROOT
from tests.support.simulated import Run
from weft.base import paths

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
# Sizes of the whole vector, or of all parts together.
SIZES = ("8", "256", "4096", "16384", "524288")
ROW = 10  # consecutive calls in one_call
ONE_CALL = ROOT / "benchmarks" / "one_call.c"
Times = dict[tuple[str, str], tuple[float, float]]
"""Time of a single call and per call in a sequence, by collective and size."""


def one_calls(on: str, ranks: int, offload: str) -> Times:
    one_call = compiled.program(ONE_CALL)
    options = ("-q", "--offload", offload, "--no-privatize")
    result = simulated.run_command(
        simulated.weft_command(one_call, *SIZES, on=on, ranks=ranks, options=options)
    )
    assert result.status == 0, result.stderr
    lines = (line.split() for line in result.lines)
    return {(name, size): (float(single), float(row)) for name, size, single, row in lines}


def check_auto(on: str, ranks: int) -> None:
    both = [one_calls(on, ranks, offload) for offload in ("off", "stream")]
    for call, (single, row) in one_calls(on, ranks, "auto").items():
        singles, rows = zip(*(times[call] for times in both), strict=True)
        chosen = singles[rows.index(min(rows))]
        assert single <= 1.02 * chosen, (call, ranks, single, singles)
        # The first call of a sequence cannot be recognised.
        assert row <= 1.02 * (min(rows) + min(singles) / ROW), (call, ranks, row, rows)


@pytest.mark.parametrize("switch", ["sharp", "ideal"])
@pytest.mark.parametrize(
    ("topology", "ranks"),
    [(TREE, 32), (TREE, 12), *((STAR, ranks) for ranks in (3, 5, 6, 7, 8))],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_auto_takes_the_faster_way(tmp_path: Path, topology: str, ranks: int, switch: str) -> None:
    path = tmp_path / "places.toml"
    path.write_text(FABRIC.format(topology=topology, switch=switch))
    check_auto(str(path), ranks)


@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8])
def test_auto_knows_what_messages_cost_without_an_mpi_table(ranks: int) -> None:
    """Without it, SMPI starts a message once both sides have posted it; predictions must agree."""
    check_auto("hdr100-8", ranks)


@pytest.mark.parametrize("ranks", [12, 24])
def test_auto_counts_the_stage_of_hosts_that_combine(tmp_path: Path, ranks: int) -> None:
    """Two or three ranks share each host, and one of them contributes for all."""
    path = tmp_path / "places.toml"
    nic = 'preset = "connectx-6-dx"'
    text = FABRIC.format(topology=STAR, switch="sharp")
    path.write_text(text.replace(nic, f'{nic}\ncontributions = "per-host"'))
    check_auto(str(path), ranks)


CALLS = 100


@pytest.mark.parametrize(("ranks", "elements"), [(8, 1), (8, 512), (7, 512), (5, 32)])
def test_auto_leaves_reductions_in_a_row_to_hosts_that_overlap_them(
    run: Run, ranks: int, elements: int
) -> None:
    """The hosts finish a single reduction later than the switch, but a sequence earlier."""
    one, many = (
        {
            offload: run(
                *("reduces.c", str(calls), str(elements)),
                on="hdr100-8",
                ranks=ranks,
                options=("--offload", offload),
            )
            for offload in ("off", "stream", "auto")
        }
        for calls in (1, CALLS)
    )
    assert one["stream"].record["simulated_time_s"] < one["off"].record["simulated_time_s"]
    assert one["auto"].row()["path"] == "stream"
    hosts, stream, auto = (
        many[way].record["simulated_time_s"] for way in ("off", "stream", "auto")
    )
    assert hosts < 0.8 * stream
    (first,) = one["stream"].rows()
    assert auto <= hosts * 1.001 + first["max_time_s"]
    calls = {row["path"]: row["calls"] for row in many["auto"].rows()}
    assert calls == {"stream": 1, "fallback": CALLS - 1}


@pytest.mark.parametrize("ranks", [2, 4])
def test_auto_slows_no_transform_down(run: Run, ranks: int) -> None:
    """NAS FT's checksum is a Reduce between two Alltoalls, which overlap it on the hosts.

    With 8 ranks, the switch is faster for an isolated Reduce, and predictions consider isolated
    calls.
    """
    hosts, stream, auto = (
        run(
            str(paths.example("ft.c")),
            *("16", "16", "16", "20"),
            on="hdr100-8",
            ranks=ranks,
            options=("--offload", offload),
        ).record["simulated_time_s"]
        for offload in ("off", "stream", "auto")
    )
    assert auto <= 1.001 * min(hosts, stream)


def test_auto_gives_reductions_between_others_to_the_switch(run: Run) -> None:
    """After a barrier, no reduction overlaps the previous one: the end of the last rank counts."""
    result = run(
        *("reduces.c", str(CALLS), "512", "barrier"),
        on="hdr100-8",
        ranks=8,
        options=("--offload", "auto"),
    )
    assert result.row(collective="reduce")["path"] == "stream"


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
    """On one switch, the NIC's overhead decides; in a tree, offloading leaves other paths idle."""
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
