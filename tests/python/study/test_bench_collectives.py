# SPDX-License-Identifier: LGPL-2.1-only
"""Broadcast, Allgather and Reduce-Scatter by mode, and the training step."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support import compiled
from weft import _core
from weft.base.errors import WeftError
from weft.cli.root import weft
from weft.runs import launch
from weft.runs.record_data import LinkPart
from weft.runs.request import Request
from weft.study.bench import collectives as bench_collectives
from weft.study.bench.collectives import COLLECTIVES, CollectivesBench, CollectiveTime
from weft.study.bench.modes import Way

FULL_BANDWIDTH = "fat-tree-1024-radix-32"
WRITTEN_OUT = [(name, mode) for name, one in COLLECTIVES.items() for mode in one.written_out]


def study(
    collective: str, ranks: int, size: int, *modes: str, on: str = FULL_BANDWIDTH
) -> CollectivesBench:
    return CollectivesBench(COLLECTIVES[collective], on, ranks, [size], modes)


@pytest.fixture(scope="module")
def times() -> Path:
    return compiled.example("collective_times")


@pytest.fixture(scope="module")
def fsdp() -> Path:
    return compiled.example("fsdp_step")


def run(program: Path, ranks: int, *arguments: str, **options: object) -> tuple[int, list[str]]:
    lines: list[str] = []
    request = Request.of(
        fabric=FULL_BANDWIDTH,
        ranks=ranks,
        program=str(program),
        arguments=arguments,
        privatize=False,
    )
    record = launch.run(launch.prepare(request.changed(**options)), lines.append)
    return record.exit_status, lines


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 22])
@pytest.mark.parametrize(("collective", "algorithm"), WRITTEN_OUT)
@pytest.mark.slow
def test_what_the_program_writes_out_has_right_results(
    times: Path, ranks: int, collective: str, algorithm: str
) -> None:
    status, lines = run(times, ranks, collective, algorithm, "404", "2", offload="off")
    assert status == 0
    assert sorted(int(line.split()[0]) for line in lines) == list(range(ranks))


@pytest.mark.parametrize("mode", ["multicast", "ring"])
def test_memory_that_is_shared_changes_no_time(mode: str) -> None:
    asked = replace(study("allgather", 5, 4096, mode), iterations=3)
    own, shared = (
        bench_collectives.run(replace(asked, unchecked=unchecked))[0] for unchecked in (False, True)
    )
    assert len(set(own.times_us)) > 1  # each rank has its own time
    assert shared.times_us == own.times_us


def test_the_program_sees_wrong_results(times: Path) -> None:
    shared = ("smpi/auto-shared-malloc-thresh:1", "smpi/shared-malloc:local")
    status, _ = run(times, 4, "allgather", "ring", "4096", offload="off", config=shared)
    assert status == 1


@pytest.mark.parametrize(
    "arguments", ["", "bcast ring 4", "bcast mpi 6", "bcast mpi 4 0", "bcast mpi 4 1 checked"]
)
def test_the_program_refuses_what_it_does_not_understand(times: Path, arguments: str) -> None:
    assert run(times, 2, *arguments.split())[0] == 2


def test_a_broadcast_takes_what_its_way_takes(times: Path) -> None:
    (row,) = bench_collectives.run(study("bcast", 4, 1 << 20, "knomial"))
    # One host sends three messages simultaneously over two links of 200 Gb/s and 25 ns.
    assert row.latency_us == pytest.approx(3 * ((1 << 20) + 16) / 25e3 + 0.05, abs=0.02)
    assert row.receive_Bps == pytest.approx((1 << 20) / row.latency_us * 1e6)


def test_two_binary_trees_beat_one_message_after_the_other() -> None:
    trees, flat = bench_collectives.run(study("bcast", 64, 1 << 20, "binary-tree", "basic_linear"))
    assert trees.latency_us < flat.latency_us / 4


# Switch ports per link: one for a host, two between switches; 32 ranks are on two leaves.
def test_a_multicast_crosses_each_link_of_its_tree_once() -> None:
    size = 4096
    (row,) = bench_collectives.run(study("allgather", 32, size, "stream"))
    assert row.port_bytes == 32 * (32 + 2 * 2) * size


def test_a_ring_moves_everything_through_every_host_twice() -> None:
    size = 4096
    (row,) = bench_collectives.run(study("allgather", 32, size, "ring"))
    ways = 30 * 2 + 2 * (2 + 2 * 2)
    assert row.port_bytes == 31 * ways * (size + 16)


@pytest.mark.parametrize("ranks", [4, 16])
def test_both_in_the_network_are_faster_than_rings_by_appendix_b(ranks: int) -> None:
    inside, rings = bench_collectives.run(study("ag+rs", ranks, 1 << 18, "stream", "ring"))
    assert rings.max_us / inside.max_us == pytest.approx(2 - 2 / ranks, rel=0.03)


NOISES = ((), ('noise.link=[{jitter="10ns", distribution="exponential"}]',))


@pytest.mark.parametrize("ranks", range(4, 65))
@pytest.mark.parametrize("noise", NOISES, ids=["quiet", "jitter"])
def test_both_are_as_fast_with_all_roots_at_once_whenever_each_starts(
    times: Path, ranks: int, noise: tuple[str, ...]
) -> None:
    """Ranks leave the barrier at different times, with jitter or if not a power of two."""
    size = 8 << 20
    asked = study("ag+rs", ranks, size, "multicast")
    asked = replace(asked, unchecked=True, changes=(f"multicast.chains={ranks}", *noise))
    row, _ = bench_collectives.measure(asked, times, "multicast", size)
    # Two concurrent rings: in both, each rank sends and receives all parts except its own.
    rings_us = 2 * (ranks - 1) * size / 25e3
    assert rings_us / row.max_us == pytest.approx(2 - 2 / ranks, rel=0.02)


def test_memory_that_is_shared_costs_no_memory(times: Path) -> None:
    shared = replace(study("ag+rs", 8, 64 << 20, "ring"), unchecked=True)
    row, record = bench_collectives.measure(shared, times, "ring", 64 << 20)
    assert row.latency_us > 2 * 7 * (64 << 20) / 25e3
    assert record.peak_memory_bytes < 256 << 20


def test_the_testbed_is_that_of_the_paper() -> None:
    fabric = _core.load_fabric("fdr-188")
    assert (len(fabric.hosts), len(fabric.switches)) == (188, 18)
    assert {switch["max_ports"] for switch in fabric.switches} == {36}


@pytest.mark.slow
def test_a_multicast_saves_half_of_the_traffic_on_the_testbed() -> None:
    multicast, ring = bench_collectives.run(
        study("allgather", 188, 65536, "stream", "ring", on="fdr-188")
    )
    assert 1.5 < ring.port_bytes / multicast.port_bytes < 2


def test_links_of_hosts_have_one_port_of_a_switch() -> None:
    names = ["host-000.up", "host-187.down", "level1-00--level2-0#2.up"]
    links = [LinkPart(name=name, bandwidth_Bps=1, bytes=10, utilisation=0) for name in names]
    assert bench_collectives.port_bytes(_core.load_fabric("fdr-188"), links) == 10 + 10 + 20


def test_the_csv_is_long(tmp_path: Path) -> None:
    row = CollectiveTime("bcast", "ring", 4, 1, 4, 7.5, 8.0, 1e9, 12.0, [7.5], "f", Way("messages"))
    bench_collectives.write_csv([row], tmp_path / "bench.csv")
    with (tmp_path / "bench.csv").open() as file:
        assert list(csv.reader(file)) == [
            list(bench_collectives.COLUMNS),
            ["f", "bcast", "ring", "messages", "", "4", "1", "4", "7.5", "8", "1e+09", "12"],
        ]


@pytest.mark.parametrize(
    ("collective", "mode", "hint"),
    [("bcast", "knomail", "knomial"), ("allgather", "rings", "ring"), ("ag+rs", "rings", "ring")],
)
def test_an_unknown_mode_is_named(collective: str, mode: str, hint: str) -> None:
    message = f'found "{mode}", .*; of the other modes did you mean {hint}'
    with pytest.raises(WeftError, match=message):
        bench_collectives.run(study(collective, 4, 64, mode))


def test_sizes_are_of_whole_numbers() -> None:
    with pytest.raises(WeftError, match=r"^sizes: found 6 bytes"):
        bench_collectives.run(study("bcast", 4, 6, "knomial"))


def test_the_command_prints_writes_and_draws(tmp_path: Path) -> None:
    table, plot = tmp_path / "a.csv", tmp_path / "a.png"
    command = (
        f"bench ag+rs --fabric {FULL_BANDWIDTH} -n 4 --sizes 64KiB --csv {table} --plot {plot}"
    )
    result = CliRunner().invoke(weft, command.split(), catch_exceptions=False)
    assert "MPI_Ireduce_scatter_block" in result.output
    assert [line.split(",")[2] for line in table.read_text().splitlines()[1:]] == [
        *COLLECTIVES["ag+rs"].default_modes
    ]
    assert plot.stat().st_size > 1000


# ---- A training step ---------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize(("offload", "mode"), [("stream", "mpi"), ("off", "mpi"), ("off", "ring")])
@pytest.mark.slow
def test_a_training_step_has_right_parameters_and_gradients(
    fsdp: Path, ranks: int, layers: int, offload: str, mode: str
) -> None:
    arguments = (str(layers), str(ranks * 40), "1", mode)
    status, lines = run(fsdp, ranks, *arguments, offload=offload, config=("smpi/test:0",))
    assert status == 0
    assert len(lines) == 1


LAYER = 1 << 20


def step_us(fsdp: Path, compute_us: int, offload: str, mode: str) -> float:
    arguments = ("4", str(LAYER), str(compute_us), mode)
    _, lines = run(fsdp, 8, *arguments, offload=offload, config=("smpi/test:0",))
    return float(lines[0].split()[1])


def test_a_training_step_hides_its_communication_behind_long_computation(fsdp: Path) -> None:
    gather = 7 / 8 * LAYER / 25e3
    for offload, mode in (("stream", "mpi"), ("off", "ring")):
        # Exposed are the first Allgather of each pass, and the last Reduce-Scatter.
        assert step_us(fsdp, 500, offload, mode) == pytest.approx(12 * 500 + 3 * gather, rel=0.01)


def test_a_training_step_without_computation_is_faster_in_the_network(fsdp: Path) -> None:
    inside, rings = step_us(fsdp, 1, "stream", "mpi"), step_us(fsdp, 1, "off", "ring")
    assert 1.2 < rings / inside < 2


@pytest.mark.parametrize("arguments", ["", "4 41 1", "0 40 1", "4 40 1 rings", "4 40 1 ring x"])
def test_the_training_step_refuses_what_it_does_not_understand(fsdp: Path, arguments: str) -> None:
    assert run(fsdp, 2, *arguments.split())[0] == 2
