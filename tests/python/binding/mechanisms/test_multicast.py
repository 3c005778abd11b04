# SPDX-License-Identifier: LGPL-2.1-only
"""Multicast protocol under MPI programs: times, bytes on links, drops and recovery, results.

On the idle star of `fabric`, a message arrives 2 x latency + forwarding after its bytes have been
sent. A Bcast from rank 0 of four takes the two rounds of the barrier, the data and the handshake.
"""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import fabrics, simulated
from tests.support.jobs import job, said
from tests.support.simulated import Program, Run

EXACT = 1e-9
RATE = 100e9 / 8
LATENCY = 1e-6
FORWARDING = 0.5e-6
ENVELOPE = 16
"""Bytes that SMPI adds to each message, and the protocol to each signal."""
MTU, HEADERS = 4096, 78
PLAINEST = ("--cfg", "smpi/coll-selector:default")

Fabric = Callable[..., str]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    """Return a function that writes a fabric with round numbers, a topology and further tables."""
    directory = tmp_path_factory.mktemp("fabrics")

    def make(*tables: str, topology: str = 'kind = "star"\nhosts = 4') -> str:
        path = directory / f"{len(list(directory.iterdir()))}.toml"
        path.write_text(
            f"""
[fabric]
name = "quiet"
[topology]
{topology}
[host]
speed = "1Gf"
cores = 8
loopback_bandwidth = "10GBps"
loopback_latency = "0.1us"
[nic]
offload_overhead = "3us"
message_gap = "1us"
[link]
bandwidth = "100Gbps"
latency = "{LATENCY}s"
[switch]
max_ports = 128
forwarding_latency = "{FORWARDING}s"
"""
            + "\n".join(tables)
        )
        return str(path)

    return make


def multicast(run: Run, on: str, *arguments: str, ranks: int = 4, **more: Any) -> Any:
    return run(
        "multicast.c", *arguments, on=on, ranks=ranks, options=("--offload", "multicast"), **more
    )


def ends(result: Any) -> list[float]:
    lines = (line.split() for line in result.lines)
    return [float(seconds) for _, seconds in sorted(lines, key=lambda line: int(line[0]))]


def only(result: Any) -> dict[str, Any]:
    (row,) = result.record["multicast"]
    return dict(row)


def wire(size: int, packets: int | None = None) -> float:
    return size + HEADERS * (packets or math.ceil(size / MTU))


def signal(payload: int = 0) -> float:
    return 2 * LATENCY + FORWARDING + (payload + ENVELOPE) / RATE


@pytest.mark.parametrize("size", [1, 4096, 4097, 1_000_000])
def test_a_bcast_lasts_as_long_as_the_protocol_says(run: Run, fabric: Fabric, size: int) -> None:
    result = multicast(run, fabric(), "bcast", str(size))
    data = wire(size) / RATE + 2 * LATENCY + FORWARDING
    assert max(ends(result)) == pytest.approx(3 * signal() + data, rel=EXACT)
    row = only(result)
    assert row["barrier_s"] == pytest.approx(2 * signal(), rel=EXACT)
    assert row["drops"] == row["timer_expiries"] == row["recovery_s"] == 0


@pytest.mark.parametrize(("chains", "steps"), [(1, 4), (2, 2), (3, 2), (4, 1)])
def test_an_allgather_is_as_many_steps_as_its_longest_chain(
    run: Run, fabric: Fabric, chains: int, steps: int
) -> None:
    size = 400_000
    result = multicast(run, fabric(f"[multicast]\nchains = {chains}"), "allgather", str(size))
    # Blocks on the busiest cable in each step; the cable belongs to a rank that only receives, if
    # any.
    blocks = {1: [1, 1, 1, 1], 2: [2, 2], 3: [3, 1], 4: [3]}[chains]
    data = sum(count * wire(size) / RATE for count in blocks)
    # Between steps, a signal activates the next root.
    expected = 2 * signal() + data + (steps - 1) * signal() + 2 * LATENCY + FORWARDING + signal()
    assert max(ends(result)) == pytest.approx(expected, rel=EXACT)


def star(ranks: int) -> str:
    return f'kind = "star"\nhosts = {ranks}'


def later(rank: int, seconds: float) -> str:
    """Return a link table with a longer cable, which delays one rank's messages and multicast."""
    return f'[[links]]\nmatch = "host-{rank}"\nlatency = "{LATENCY + seconds!r}s"'


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 24])
def test_roots_that_start_one_after_the_other_fill_the_receivers_cables(
    run: Run, fabric: Fabric, ranks: int
) -> None:
    size = 1_000_000
    for more in ("", later(ranks - 1, 10e-9)):
        on = fabric(f"[multicast]\nchains = {ranks}", more, topology=star(ranks))
        took = max(ends(multicast(run, on, "allgather", str(size), ranks=ranks)))
        data = (ranks - 1) * wire(size) / RATE
        steps = (ranks - 1).bit_length() + 2  # the barrier, and a message before and after
        assert data < took < data * 1.001 + (steps + 2) * signal(), more


MOST = 64
SHARED = ("--cfg", "smpi/auto-shared-malloc-thresh:1", "--cfg", "smpi/shared-malloc:local")


def all_numbers_of_ranks(
    run: Run, on: str, size: int, least: int = 2
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the end of an Allgather by number of ranks, on hosts 0 to 63 and on 64 to 127."""
    lines = run(
        *("multicast_of_first.c", str(size), "2500", str(least)),
        on=on,
        ranks=2 * MOST,
        options=("--offload", "multicast", *SHARED),
    ).lines
    halves: tuple[dict[int, float], dict[int, float]] = ({}, {})
    for half, ranks, last in (line.split() for line in lines):
        halves[int(half)][int(ranks)] = float(last)
    return halves


def most_change(ranks: int, chains: int, offset: float) -> float:
    """Return a bound on the effect of a cable whose latency is longer by `offset`.

    The barrier, a multicast, its activations and the handshake cross the cable. If m blocks share
    the receivers, a block that starts d before the other blocks has the cables to itself for d,
    which gives it a lead of (m - 1) d; each step of the chains may multiply the lead in this way.
    Chains that have drifted apart fill the gaps between their steps (an activation and the latency
    of the first data), which bounds the change.
    """
    steps = -(-ranks // chains)
    lead = sum(float(max(1, chains - 1)) ** step for step in range(steps)) if chains > 1 else 1
    crossing = (2 * (ranks - 1).bit_length() + 8) * offset
    between = (steps - 1) * (signal() + 2 * LATENCY + FORWARDING)
    return min(crossing * lead, crossing + between) + 1e-9


@pytest.mark.parametrize("chains", range(1, MOST + 1))
def test_times_change_as_little_as_a_root_is_later(run: Run, fabric: Fabric, chains: int) -> None:
    """For each number of chains: all numbers of ranks up to 64, with a random rank and offset."""
    drawn = random.Random(chains)
    late, offset = drawn.randrange(MOST), 10 ** drawn.uniform(-9, -5)
    longer = f'[[links]]\nmatch = "host-{MOST + late:03d}"\nlatency = "{LATENCY + offset!r}s"'
    on = fabric(f"[multicast]\nchains = {chains}", longer, topology=star(2 * MOST))
    quiet, later_ends = all_numbers_of_ranks(run, on, 200_000, max(2, chains))
    assert sorted(quiet) == sorted(later_ends) == list(range(max(2, chains), MOST + 1))
    for ranks, end in quiet.items():
        change = abs(later_ends[ranks] - end)
        assert change <= most_change(ranks, chains, offset), (ranks, late, offset)
        assert late < ranks or change < 1e-12, (ranks, late)


TREE = 'kind = "fat_tree"\ndown = [4, 4]\nup = [1, 2]'


@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize("chains", ["chains = 1", "chains = 5", 'chain_map = "racks"'])
def test_an_allgather_moves_every_block_over_every_link_once(
    run: Run, fabric: Fabric, trees: int, chains: str
) -> None:
    size, ranks = 20_000, 16
    on = fabric(f"[multicast]\ntrees = {trees}\n{chains}", topology=TREE)
    result = multicast(run, on, "allgather", str(size), ranks=ranks)
    carried = {link["name"]: link["multicast_bytes"] for link in result.record["links"]}
    for name, payload in carried.items():
        if name.startswith("host"):
            assert payload == (size if name.endswith(".up") else (ranks - 1) * size)
    leaves = [payload for name, payload in carried.items() if not name.startswith("host")]
    # Four leaves: four blocks go up and twelve come down at each, summed over all trees.
    assert sum(leaves) == 4 * (4 * size + 12 * size)
    assert len([payload for payload in leaves if payload > 0]) == 8 * trees
    row = only(result)
    assert row["payload_bytes"] == ranks * size
    assert row["header_bytes"] == ranks * HEADERS * math.ceil(size / MTU)


def test_exactly_the_listed_chunks_get_lost_and_are_fetched(run: Run, fabric: Fabric) -> None:
    drops = "[[multicast.drops]]\nroot = 0\nreceiver = 2\nchunks = [1, 3, 99]"
    result = multicast(run, fabric(drops), "bcast", str(5 * MTU))
    row = only(result)
    # When the timer of data time plus slack expires, the last chunk arrived less than the slack
    # ago.
    assert (row["drops"], row["fetch_requests"], row["timer_expiries"]) == (2, 1, 2)
    assert (row["fetched_chunks"], row["fetched_bytes"]) == (2, 2 * MTU)
    # A slack of silence, the request, the reply, the read of two runs, the data, the handshake.
    timer = 2 * signal() + wire(5 * MTU) / RATE + 2 * LATENCY + FORWARDING + 100e-6
    fetch = signal(4) + signal(4) + signal(2 * 16) + signal(2 * MTU)
    assert max(ends(result)) == pytest.approx(timer + fetch + signal(), rel=EXACT)


def test_nobody_asks_for_blocks_whose_turn_has_not_come(run: Run, fabric: Fabric) -> None:
    """Activating 16 steps takes longer than the slack; then one rank loses the second half."""
    slack = 'cutoff_slack = "5us"'
    lossless = fabric(f"[multicast]\n{slack}", topology=TREE)
    row = only(multicast(run, lossless, "allgather", "100", ranks=16))
    assert row["timer_expiries"] > 0
    assert row["fetch_requests"] == row["recovery_s"] == 0
    losses = "".join(f"[[multicast.drops]]\nroot = {root}\nreceiver = 3\n" for root in range(8, 16))
    lossy = fabric(f"[multicast]\n{slack}\n{losses}", topology=TREE)
    row = only(multicast(run, lossy, "allgather", "100", ranks=16))
    assert row["drops"] == row["fetched_chunks"] == 8


def test_what_a_link_loses_is_lost_for_all_behind_it(run: Run, fabric: Fabric) -> None:
    on = fabric('[[multicast.drops]]\nlink = "host-00.up"', topology=TREE)
    row = only(multicast(run, on, "bcast", str(3 * MTU), ranks=16))
    assert row["drops"] == row["fetched_chunks"] == 3 * 15
    assert row["fetch_requests"] == 15


def test_drops_follow_their_seed(run: Run, fabric: Fabric) -> None:
    def record(seed: int) -> dict[str, Any]:
        tables = f"[multicast]\ndrop_seed = {seed}\n[[multicast.drops]]\nprobability = 0.1"
        result = multicast(run, fabric(tables), "allgather", "400000")
        return {**only(result), "time": max(ends(result))}

    assert record(1) == record(1)
    assert record(1) != record(2)
    # 4 x 3 x 98 chunks, within four standard deviations
    assert record(1)["drops"] == pytest.approx(117.6, abs=4 * math.sqrt(1176 * 0.1 * 0.9))


@pytest.mark.parametrize("drop", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize(
    "options", ["chains = 1", "chains = 3\ntrees = 2", 'chain_map = "racks"\nmtu = "64B"']
)
@pytest.mark.parametrize("workers", [0, 1, 16])
@pytest.mark.slow
def test_random_calls_have_the_right_results_whatever_is_dropped(
    run: Run, tmp_path: Path, drop: float, options: str, workers: int
) -> None:
    """Random collectives, communicators, counts and types, whose results the program checks."""
    tables = [
        f"[multicast]\n{options}\ndrop_seed = {workers}",
        f"[[multicast.drops]]\nprobability = {drop}",
    ]
    if workers:
        tables.append(
            f'[progress_engine]\npreset = "bluefield-3-dpa"\nreceive_workers = {workers}\n'
        )
    # The switches support all other collectives, because SMPI executes some of them incorrectly.
    on = fabrics.make(tmp_path, "fat_tree", {"down": ["2,2"], "up": ["1,2"]}, "ideal")
    on.write_text("\n".join([on.read_text(encoding="utf-8"), *tables]), encoding="utf-8")
    seed = 10 + workers
    arguments = ("--offloaded", str(seed), "0", "249")
    result = run(
        "random_calls",
        *arguments,
        on=str(on),
        ranks=8,
        options=("--offload", "multicast", *PLAINEST),
    )
    # At least a quarter of the program's calls are Bcasts and Allgathers between hosts.
    assert sum(row["calls"] for row in result.record["multicast"]) >= 60
    # With chunks of 64 B one worker's staging ring overflows.
    dropped = sum(row["drops"] - row["staging_drops"] for row in result.record["multicast"])
    assert (dropped > 0) == (drop > 0)


def test_a_slow_progress_engine_bounds_what_ends_at_it(run: Run, fabric: Fabric) -> None:
    size = 4_096_000
    slow = '[progress_engine]\npreset = "bluefield-3-dpa"\nreceive_workers = 1'
    ud = max(ends(multicast(run, fabric(slow), "bcast", str(size))))
    # A thread handles 5.2 GiB/s of UD chunks (table I of the protocol's paper).
    assert size / (ud - 3 * signal() - 2 * LATENCY - FORWARDING) == pytest.approx(
        5.2 * 2**30, rel=0.02
    )
    assert max(ends(multicast(run, fabric(), "bcast", str(size)))) < ud / 2


SLOW_CABLE = '[[links]]\nmatch = "host-3"\nbandwidth = "5Gbps"'


def test_nobody_waits_for_the_branch_of_another(run: Run, fabric: Fabric) -> None:
    size = 1_000_000
    data = wire(size) / RATE + 2 * LATENCY + FORWARDING
    result = multicast(run, fabric(SLOW_CABLE), "bcast", str(size))
    row = only(result)
    assert row["drops"] == row["fetch_requests"] == 0
    slow = ends(result)[3]
    assert slow > 19 * data
    # In the handshake, a rank leaves once its right neighbour is complete: the root waits for rank
    # 1, and only rank 2 waits for the slow rank 3.
    assert ends(result)[1] == pytest.approx(3 * signal() + data, rel=0.01)


def test_a_root_behind_a_slow_cable_does_not_keep_the_next_one(run: Run, fabric: Fabric) -> None:
    """The slow cable delays only its own host's block."""
    size = 400_000
    quick = ends(multicast(run, fabric(), "allgather", str(size)))
    slow = ends(multicast(run, fabric(SLOW_CABLE), "allgather", str(size)))
    block = 20 * wire(size) / RATE
    # Rank 3's own block takes 20 times as long for all ranks; meanwhile, rank 3 receives three
    # other blocks.
    assert slow[0] < max(quick) + block * 1.1
    assert slow[3] == pytest.approx(3 * block + slow[0] - max(quick), rel=0.5)


def engine(workers: int, *more: str) -> str:
    return "\n".join(
        ('[progress_engine]\npreset = "bluefield-3-dpa"', f"receive_workers = {workers}", *more)
    )


FAST = '[[links]]\nmatch = "*"\nbandwidth = "200Gbps"'
GIB = 2.0**30


def test_workers_serve_subgroups(run: Run, fabric: Fabric) -> None:
    """With 16 workers, one worker per tree is busy (section IV-C and figure 14 of the paper)."""
    size = 4_096_000
    rates = []
    for trees in (1, 2, 4, 16):
        on = fabric(engine(16), FAST, f"[multicast]\ntrees = {trees}")
        result = multicast(run, on, "bcast", str(size))
        taken = max(ends(result)) - 3 * signal() - 2 * LATENCY - FORWARDING
        rates.append(size / taken / GIB)
    assert rates[0] == pytest.approx(5.2, rel=0.02)
    assert rates[1] == pytest.approx(9.9, rel=0.02)
    assert rates[2] == pytest.approx(17.3, rel=0.05)
    assert rates[3] == pytest.approx(200e9 / 8 / GIB, rel=0.05)


def test_communicators_have_threads_of_their_own(run: Run, fabric: Fabric) -> None:
    size = 1_024_000
    on = fabric(engine(1), FAST)
    rates = {}
    for communicators in (1, 2, 4):
        result = multicast(run, on, "bcast", str(size), str(communicators))
        rates[communicators] = communicators * size / max(ends(result)) / GIB
    assert rates[1] == pytest.approx(5.2, rel=0.1)
    assert rates[2] == pytest.approx(9.9, rel=0.1)
    assert rates[4] == pytest.approx(17.3, rel=0.15)


def test_a_full_staging_ring_drops_what_comes(run: Run, fabric: Fabric) -> None:
    """One receiver's thread handles 5.2 of 11.6 GiB/s, with a ring for 64 of its 1,000 chunks."""
    size, room = 1000 * MTU, 64
    slow = f'[[progress_engines]]\nmatch = "host-2"\nreceive_workers = 1\nstaging = "{room * 4}KiB"'
    on = fabric(engine(16), slow, "[multicast]\ntrees = 16")
    row = only(multicast(run, on, "bcast", str(size)))
    part = 1 - 5.2 * GIB / RATE * (wire(MTU) / MTU)
    assert row["staging_drops"] == pytest.approx((1000 - room / part) * part, rel=0.02)
    assert row["drops"] == row["staging_drops"] == row["fetched_chunks"]
    assert row["fetch_requests"] == 1
    # With space for all chunks, chunks are only delayed, and none is dropped.
    unlimited = slow.replace(f"{room * 4}KiB", "64MiB")
    late = only(
        multicast(run, fabric(engine(16), unlimited, "[multicast]\ntrees = 16"), "bcast", str(size))
    )
    assert late["drops"] == 0


def test_the_first_chunk_wakes_the_threads(run: Run, fabric: Fabric) -> None:
    """Threads are woken once per call; until then, chunks wait in the ring or overflow it."""
    size, late = 1000 * MTU, 100e-6

    def result(*more: str) -> Any:
        return multicast(
            run, fabric(engine(16, *more), "[multicast]\ntrees = 16"), "bcast", str(size)
        )

    awake, asleep = result(), result(f'activation = "{late}s"')
    # Threads twice as fast as the cable have caught up when the last chunk arrives.
    assert max(ends(awake)) == pytest.approx(max(ends(asleep)), abs=1e-6)
    assert only(asleep)["drops"] == 0
    # Threads as fast as the cable never catch up.
    fast = fabric(engine(16, f'activation = "{late}s"'), FAST, "[multicast]\ntrees = 16")
    full = fabric(engine(16), FAST, "[multicast]\ntrees = 16")
    took = [max(ends(multicast(run, on, "bcast", str(size)))) for on in (fast, full)]
    assert took[0] - took[1] == pytest.approx(late, rel=0.1)
    # Activation outlasts the cutoff timer: chunks in the ring do not count as received yet.
    slow = only(multicast(run, fabric(engine(16, 'activation = "1ms"')), "bcast", str(MTU)))
    assert (slow["timer_expiries"], slow["drops"]) == (3, 0)
    assert slow["fetched_chunks"] == 3
    room = 64
    row = only(result(f'activation = "{late}s"', f'staging = "{4 * room}KiB"'))
    assert row["staging_drops"] == pytest.approx(3 * (late * RATE / wire(MTU) - room), rel=0.02)


@pytest.mark.parametrize("seed", range(24))
def test_fetched_chunks_were_dropped_or_come_twice(run: Run, fabric: Fabric, seed: int) -> None:
    """The count includes chunks that are still in a staging ring when the call ends."""
    choose = random.Random(seed)
    tables = [
        f"[multicast]\nchains = {choose.choice([1, 2, 7])}\ntrees = {choose.choice([1, 3])}",
        f'cutoff_slack = "{choose.choice([1, 10, 100])}us"\ndrop_seed = {seed}',
        f"[[multicast.drops]]\nprobability = {choose.choice([0, 0.01, 0.3])}",
        engine(choose.choice([1, 4]), f'staging = "{choose.choice([64, 256, 4096])}KiB"', ""),
        f'[[progress_engines]]\nmatch = "host-2"\nactivation = "{choose.choice([0, 200, 900])}us"',
    ]
    on = fabric(*tables, topology=star(7))
    kind = choose.choice(["bcast", "allgather"])
    size = choose.choice([3 * MTU + 5, 100 * MTU, 400 * MTU])
    row = only(multicast(run, on, kind, str(size), ranks=7))
    for one in (row, *row["by_rank"]):
        assert one["fetched_chunks"] == one["drops"] + one["duplicates"]


@pytest.mark.parametrize(("chains", "more"), [(1, 0), (4, 2)])
def test_switches_that_are_not_lossless_lose_what_many_roots_send_at_once(
    run: Run, fabric: Fabric, chains: int, more: int
) -> None:
    """Three roots send to a receiver's port at three times its cable's rate."""
    size, room = 100 * MTU, 50
    buffer = f'[multicast]\nchains = {chains}\nport_buffer = "{room * wire(MTU):.0f}B"'
    result = multicast(run, fabric(buffer), "allgather", str(size))
    row = only(result)
    expected = 4 * max(0, more * 100 - room)
    assert row["port_drops"] == pytest.approx(expected, abs=8)
    assert row["drops"] == row["port_drops"] == row["fetched_chunks"]


PHASES = ("barrier", "multicast", "recovery", "handshake")


def test_record_and_timeline_say_what_each_rank_missed_and_when(
    run: Run, fabric: Fabric, tmp_path: Path
) -> None:
    drops = "[[multicast.drops]]\nroot = 0\nreceiver = 2\nchunks = [1, 3]"
    options = ("--offload", "multicast", "--trace", str(tmp_path / "timeline.json"))
    program = ("multicast.c", "bcast", str(5 * MTU))
    result = run(*program, on=fabric(drops), ranks=4, options=options)
    row = only(result)
    of = {one["rank"]: one for one in row["by_rank"]}
    assert {rank: one["drops"] for rank, one in of.items()} == {0: 0, 1: 0, 2: 2, 3: 0}
    assert of[2]["fetched_chunks"] == 2
    for phase in PHASES:
        sum_s = sum(one[f"{phase}_s"] for one in of.values())
        assert row[f"{phase}_s"] == pytest.approx(sum_s / 4, rel=EXACT)
    calls = {call["rank"]: call for call in result.record["multicast_calls"]}
    lasted = sum(calls[2][f"{phase}_s"] for phase in PHASES)
    assert calls[2]["start_s"] + lasted == pytest.approx(ends(result)[2], rel=EXACT)
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    shown = [event for event in events if event["ph"] == "X" and event["pid"] == 3]
    assert [event["name"] for event in shown if event["tid"] == 2] == list(PHASES[:3])
    (missed,) = (e["args"] for e in shown if (e["tid"], e["name"]) == (2, "multicast"))
    assert (missed["drops"], missed["timer_expiries"]) == (2, 2)
    (recovery,) = (event for event in shown if event["name"] == "recovery")
    assert recovery["dur"] == pytest.approx(of[2]["recovery_s"] * 1e6, abs=2e-3)
    assert recovery["args"]["fetched_chunks"] == 2


def test_the_nic_has_memory_for_so_many_communicators(run: Run, fabric: Fabric) -> None:
    def reason(memory: str, size: int) -> str:
        on = fabric(engine(1, f'memory = "{memory}"'))
        row = multicast(run, on, "bcast", str(size)).row(collective="bcast")
        return str(row["reason"] or row["path"])

    assert reason("1B", 100_000) == "no NIC memory"
    # 16 KiB of context, and one bit for each of 16,384 chunks
    assert reason("16KiB", 4096) == "no NIC memory"
    assert reason("18431B", 64 << 20) == "no NIC memory"
    assert reason("18432B", 64 << 20) == "multicast"


def test_it_is_an_algorithm_of_smpi_as_well(run: Run, fabric: Fabric) -> None:
    options = ("--offload", "off", "--cfg", "smpi/bcast:multicast")
    result = run("multicast.c", "bcast", "100000", on=fabric(), options=options)
    assert result.row(collective="bcast")["path"] == "multicast"
    same = multicast(run, fabric(), "bcast", "100000")
    assert ends(result) == ends(same)


def test_a_policy_can_ask_for_it(run: Run, fabric: Fabric) -> None:
    row = '[[policy]]\ncollectives = ["bcast"]\nat_least = "1KiB"\noffload = "multicast"'
    options = ("--offload", "auto")
    for size, path in (("1000", "fallback"), ("2000", "multicast")):
        result = run("multicast.c", "bcast", size, on=fabric(row), options=options)
        assert result.row(collective="bcast")["path"] == path


def refusal(program: Program, *options: str) -> str:
    """Return the error message of `weft run` for these options."""
    command = [*simulated.WEFT, "run", *options, "--offload", "multicast", "-n", "4"]
    result = simulated.run_command([*command, str(program("multicast.c")), "bcast", "100"])
    assert result.status == 2
    assert not result.stdout
    (message,) = result.messages
    return message


def test_more_chains_than_ranks_are_as_many_as_ranks(run: Run, fabric: Fabric) -> None:
    many, four = (
        multicast(run, fabric(f"[multicast]\nchains = {chains}"), "allgather", "100000")
        for chains in (16, 4)
    )
    assert ends(many) == ends(four)


@pytest.mark.parametrize(("key", "number"), [("root", 77), ("receiver", 4)])
def test_drops_of_ranks_that_are_not_there_are_refused(
    program: Program, fabric: Fabric, key: str, number: int
) -> None:
    on = fabric(f"[[multicast.drops]]\n{key} = {number}")
    assert refusal(program, "--fabric", on) == (
        f"weft: {on}: [multicast.drops] {key}: found {number}, so it loses nothing; allowed with 4"
        " ranks: 0 to 3"
    )


SECONDS = 0.001
"""Time of a phase of `noisy` on an exclusive core of 1 Gf/s."""


def phase(run: Run, on: str, ranks: int, *options: str) -> float:
    """Return the time in which all ranks compute, without the time of the barrier."""
    result = run("noisy.c", str(SECONDS * 1e9), "1", on=on, ranks=ranks, options=options)
    (seconds,) = result.lines
    return float(seconds)


@pytest.mark.parametrize("taken", [1, 7])
def test_an_engine_on_the_host_takes_cores_from_ranks(run: Run, fabric: Fabric, taken: int) -> None:
    """n ranks on c cores, of which k are taken, compute n / (c - k) times as long if n > c - k."""
    free = 8 - taken
    on = fabric(engine(1, f"host_cores = {taken}"))
    for ppn in {free, 8}:
        options = ("--ppn", str(ppn), "--offload")
        alone = phase(run, on, 4 * ppn, *options, "off")
        assert alone == pytest.approx(SECONDS, rel=0.1)  # the barrier
        shared = phase(run, on, 4 * ppn, *options, "multicast")
        longer = SECONDS * max(0, ppn / free - 1)
        assert shared - alone == pytest.approx(longer, abs=1e-9)


def test_cores_are_taken_where_the_multicast_may_be_used(run: Run, fabric: Fabric) -> None:
    policy = '[[policy]]\ncollectives = ["bcast"]\noffload = "multicast"'
    one = engine(1, "host_cores = 4")
    slow = {
        (table, options): phase(run, fabric(one, table), 32, "--ppn", "8", *options) > 1.5 * SECONDS
        for table in ("", policy)
        for options in (
            ("--offload", "multicast"),
            ("--offload", "auto"),
            ("--offload", "stream"),
            ("--offload", "off"),
            ("--offload", "off", "--cfg", "smpi/bcast:multicast"),
        )
    }
    assert {key for key, is_slow in slow.items() if is_slow} == {
        ("", ("--offload", "multicast")),
        ("", ("--offload", "off", "--cfg", "smpi/bcast:multicast")),
        (policy, ("--offload", "multicast")),
        (policy, ("--offload", "auto")),
        (policy, ("--offload", "off", "--cfg", "smpi/bcast:multicast")),
    }


def test_cores_are_taken_on_the_hosts_that_match(run: Run, fabric: Fabric) -> None:
    """A barrier waits for the slowest host."""
    one = engine(1) + '\n[[progress_engines]]\nmatch = "host-3"\nhost_cores = 6'
    options = ("--offload", "multicast", "--ppn", "8")
    assert phase(run, fabric(one), 24, *options) == pytest.approx(SECONDS, rel=0.1)
    assert phase(run, fabric(one), 32, *options) == pytest.approx(4 * SECONDS, rel=0.1)


def test_jobs_lose_cores_by_their_own_mode(program: Program, fabric: Fabric) -> None:
    noisy = str(program("noisy.c"))
    work = (str(SECONDS * 1e9), "1")
    record = weft.run_jobs(
        [
            job("hosts", noisy, *work, ranks=16, ppn=8, offload="off"),
            job("multicast", noisy, *work, ranks=16, ppn=8),
        ],
        fabric=fabric(engine(1, "host_cores = 4")),
        offload="multicast",
    )
    times = {name: float(said(record, name)[0]) for name in ("hosts", "multicast")}
    assert times["hosts"] == pytest.approx(SECONDS, rel=0.1)
    assert times["multicast"] == pytest.approx(2 * SECONDS, rel=0.1)


def test_a_comparison_sets_cores_against_the_hosts(run: Run, fabric: Fabric) -> None:
    result = run(
        "noisy.c",
        str(SECONDS * 1e9),
        "1",
        on=fabric(engine(1)),
        ranks=32,
        options=("--offload", "multicast", "--compare", "--set", "progress_engine.host_cores=4"),
    )
    (outside,) = (line for line in result.stderr.splitlines() if line.startswith("outside MPI"))
    offloaded_us, hosts_us = map(float, outside.split()[2:4])
    assert offloaded_us == pytest.approx(2 * hosts_us, rel=1e-3)


def test_a_ring_too_small_for_its_workers_is_refused(program: Program, fabric: Fabric) -> None:
    small = engine(16, 'staging = "16KiB"')
    assert "[progress_engine] staging: found" in refusal(program, "--fabric", fabric(small))


def test_platforms_of_simgrid_are_refused(program: Program) -> None:
    message = refusal(program, "--platform", str(simulated.STAR))
    assert "is a SimGrid platform" in message


@pytest.mark.slow
def test_fabrics_of_all_topologies_have_trees(run: Run, tmp_path: Path) -> None:
    for kind in fabrics.SMALL:
        on = str(fabrics.make(tmp_path, kind))
        result = multicast(run, on, "allgather", "5000", ranks=16)
        assert result.row(collective="allgather")["path"] == "multicast", kind
