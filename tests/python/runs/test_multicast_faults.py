# SPDX-License-Identifier: LGPL-2.1-only
"""Faults under the multicast protocol: closed forms on a star, locations of losses, results.

On the idle star of `STAR`, a message arrives 2 x latency + forwarding after its bytes have been
sent. Rank 0 of four broadcasts after the two rounds of the barrier. A rank that misses chunks asks
its left neighbour once the data's time on its cable plus the slack has passed.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.places import TESTS
from weft.runs.record import Record
from weft.runs.record_data import FaultsPart

CLOSE = 1e-9
RATE = 100e9 / 8
LATENCY = 1e-6
FORWARDING = 0.5e-6
WAY = 2 * LATENCY + FORWARDING
ENVELOPE = 16
MTU, HEADERS = 4096, 78
SLACK = 100e-6
SIZE = 1_000_000
CHUNKS = math.ceil(SIZE / MTU)
DATA = SIZE + CHUNKS * HEADERS
CHUNK = MTU + HEADERS
SLOWER = 20
SLOW = RATE / SLOWER
SLOW_CABLE = '[[links]]\nmatch = "host-3"\nbandwidth = "5Gbps"\n'
STAR = f"""
[fabric]
name = "quiet"
[topology]
kind = "star"
hosts = 4
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
TREE = STAR.replace('kind = "star"\nhosts = 4', 'kind = "fat_tree"\ndown = [2, 2]\nup = [1, 2]')
LEAVES = ('kind = "star"\nhosts = 4', 'kind = "fat_tree"\ndown = [2, 3]\nup = [1, 3]')
RECOVERY = '[recovery]\ndetection = "1us"\nconvergence = "2us"\ntimeout = "5us"\nretries = 1000\n'


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "multicast.c"))


@dataclass(frozen=True)
class Call:
    """Bcast or Allgather on four ranks."""

    record: Record
    ends: list[float]
    """End times by rank."""

    @property
    def faults(self) -> FaultsPart:
        assert self.record.faults
        return self.record.faults

    @property
    def multicast(self) -> Any:
        (row,) = self.record.multicast
        return row

    @property
    def drops(self) -> list[int]:
        return [rank.drops for rank in self.multicast.by_rank]


def call(
    program: str,
    folder: Path,
    *tables: str,
    star: str = STAR,
    kind: str = "bcast",
    size: int = SIZE,
) -> Call:
    """Run one call under these faults."""
    (folder / "fabric.toml").write_text(star)
    faults = None
    if tables:
        (folder / "faults.toml").write_text(
            RECOVERY + "".join(f"[[fault]]\n{table}\n" for table in tables)
        )
        faults = str(folder / "faults.toml")
    record = weft.run(
        program,
        [kind, str(SIZE)],
        ranks=4,
        fabric=str(folder / "fabric.toml"),
        offload="multicast",
        faults=faults,
    ).check()
    lines = sorted((int(line.split()[0]), line.split()[1]) for line in record.output.splitlines())
    return Call(record, [float(end) for _, end in lines])


def signal(payload: int = 0, rate: float = RATE) -> float:
    return WAY + (payload + ENVELOPE) / rate


def fetch(lost: int, rate: float = RATE, runs: int = 1) -> float:
    """Return the time to request a block, receive the reply, and read chunks of the block."""
    payload = lost * MTU - (CHUNKS * MTU - SIZE)  # the last chunk is among the lost chunks
    return 2 * signal(4, rate) + signal(16 * runs, rate) + signal(payload, rate)


def fetch_in_turn(lost: int) -> float:
    """Return the time in which three ranks request simultaneously and read chunks in turn."""
    answer = fetch(lost) - signal(4)  # the request has arrived
    # A complete rank also notifies its left neighbour, over the same cable as the reply.
    return fetch(lost) + 2 * (answer + ENVELOPE / RATE)


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.9f}us"


def between(at: float, until: float) -> str:
    return f'at = "{microseconds(at)}"\nuntil = "{microseconds(until)}"'


def down(link: str, at: float, until: float) -> str:
    return f'link = "{link}"\n{between(at, until)}'


BEGIN = 2 * signal()
"""Time at which the root starts."""
TIMER = BEGIN + CHUNKS * CHUNK / RATE + SLACK


# ---- One branch, all of them, none


@pytest.mark.parametrize("after", [0.1e-6, 20e-6, 40e-6, 75e-6])
def test_a_cable_that_fails_loses_the_rest_for_its_host(
    program: str, tmp_path: Path, after: float
) -> None:
    quiet = call(program, tmp_path)
    hit = call(program, tmp_path, down("host-2.down", BEGIN + after, BEGIN + after + 10e-6))
    came = int(after * RATE / DATA * CHUNKS)
    lost = CHUNKS - came
    assert hit.drops == [0, 0, lost, 0]
    assert (hit.faults.cut_branches, hit.faults.lost_chunks) == (1, lost)
    assert hit.multicast.fetched_chunks == lost
    # Rank 1 waits for rank 2, which reads from it.
    assert hit.ends[1] == pytest.approx(TIMER + fetch(lost) + signal(), rel=CLOSE)
    assert hit.ends[0] == pytest.approx(quiet.ends[0], rel=CLOSE)
    assert hit.ends[3] == pytest.approx(quiet.ends[3], rel=CLOSE)


def test_a_fault_after_the_data_costs_nothing(program: str, tmp_path: Path) -> None:
    quiet = call(program, tmp_path)
    over = BEGIN + DATA / RATE + 1e-9
    hit = call(program, tmp_path, down("host-2.down", over, over + 10e-6))
    assert hit.drops == [0, 0, 0, 0]
    assert hit.faults.cut_branches == hit.faults.lost_chunks == 0
    assert hit.ends[0] == pytest.approx(quiet.ends[0], rel=CLOSE)


def test_a_root_sends_on_into_a_dead_cable(program: str, tmp_path: Path) -> None:
    after = 40e-6
    hit = call(program, tmp_path, down("host-0.up", BEGIN + after, BEGIN + after + 10e-6))
    lost = CHUNKS - int(after * RATE / DATA * CHUNKS)
    assert hit.drops == [0, lost, lost, lost]
    assert max(hit.ends) == pytest.approx(TIMER + fetch_in_turn(lost) + signal(), rel=CLOSE)


def test_a_switch_that_fails_loses_the_rest_for_all(program: str, tmp_path: Path) -> None:
    after = 40e-6
    table = f'switch = "*"\n{between(BEGIN + after, BEGIN + after + 10e-6)}'
    hit = call(program, tmp_path, table)
    lost = CHUNKS - int(after * RATE / DATA * CHUNKS)
    assert hit.drops == [0, lost, lost, lost]
    assert max(hit.ends) == pytest.approx(TIMER + fetch_in_turn(lost) + signal(), rel=CLOSE)


def test_a_block_that_starts_while_a_cable_is_down_is_lost_behind_it(
    program: str, tmp_path: Path
) -> None:
    # The first root's block is hit after 40 us, the second root's block from its start.
    after = 40e-6
    table = down("host-3.down", BEGIN + after, BEGIN + DATA / RATE + 20e-6)
    hit = call(program, tmp_path, table, kind="allgather")
    came = int(after * RATE / DATA * CHUNKS)
    assert hit.drops == [0, 0, 0, 2 * CHUNKS - came]
    assert hit.faults.lost_chunks == 2 * CHUNKS - came
    assert hit.faults.cut_branches == 2


@pytest.mark.parametrize("trees", [1, 2])
def test_a_link_between_switches_loses_the_rest_below_it(
    program: str, tmp_path: Path, trees: int
) -> None:
    star = TREE + f"[multicast]\ntrees = {trees}\n"
    after = 40e-6
    begin = call(program, tmp_path, star=star).multicast.barrier_s
    # All links from the root's leaf to both spines; 10 us later, signals use them again.
    table = down("level1-0--level2-*", begin + after, begin + after + 10e-6)
    hit = call(program, tmp_path, table, star=star)
    lost = hit.drops[2]
    assert hit.drops == [0, 0, lost, lost]
    assert lost == pytest.approx(CHUNKS * (1 - after * RATE / DATA), abs=trees + 1)
    assert hit.faults.lost_chunks == 2 * lost
    assert hit.multicast.fetched_chunks == 2 * lost


# ---- A slow branch


PAUSE = SLOW_CABLE + '[multicast]\nslow_branch = "pause"\n'
SLOW_BEGIN = signal() + signal(rate=SLOW)
"""Time at which the root starts with a slow cable, over which rank 2 gets its first signal."""
SHARED = ENVELOPE * (1 / SLOW - 1 / RATE) / SLOWER
"""Delay of rank 1's data, which shares its cable with the slow rank's last signal of the barrier.
"""


def test_a_slow_branch_pauses_the_root(program: str, tmp_path: Path) -> None:
    paused = call(program, tmp_path, star=STAR + PAUSE)
    expected = SLOW_BEGIN + DATA / SLOW + WAY + signal()
    assert paused.ends[0] == pytest.approx(expected, rel=CLOSE)
    stored = call(program, tmp_path, star=STAR + SLOW_CABLE)
    assert stored.ends[0] == pytest.approx(
        SLOW_BEGIN + DATA / RATE + SHARED + WAY + signal(), rel=CLOSE
    )


def test_a_slow_branch_that_dies_pauses_nobody_any_more(program: str, tmp_path: Path) -> None:
    after = 500e-6
    table = down("host-3.down", SLOW_BEGIN + after, SLOW_BEGIN + after + 10e-6)
    hit = call(program, tmp_path, table, star=STAR + PAUSE)
    rest = DATA - after * SLOW
    expected = SLOW_BEGIN + after + rest / RATE + WAY + signal()
    assert hit.ends[0] == pytest.approx(expected, rel=CLOSE)
    lost = CHUNKS - int(after * SLOW / DATA * CHUNKS)
    assert hit.drops == [0, 0, 0, lost]
    # Rank 3 knows its own cable, and waits as long as the data would have taken on this cable.
    timer = SLOW_BEGIN + CHUNKS * CHUNK / SLOW + SLACK
    assert max(hit.ends) == pytest.approx(timer + fetch(lost, SLOW) + signal(rate=SLOW), rel=CLOSE)


def test_another_branch_that_dies_leaves_the_pause(program: str, tmp_path: Path) -> None:
    after = 500e-6
    table = down("host-1.down", SLOW_BEGIN + after, SLOW_BEGIN + after + 10e-6)
    hit = call(program, tmp_path, table, star=STAR + PAUSE)
    lost = CHUNKS - int(after * SLOW / DATA * CHUNKS)  # as far as the slow rank had received them
    assert hit.drops == [0, lost, 0, 0]
    assert hit.ends[3] == pytest.approx(SLOW_BEGIN + DATA / SLOW + signal(rate=SLOW), rel=CLOSE)


@pytest.mark.parametrize("pauses", [True, False])
def test_a_branch_that_becomes_slow_pauses_the_root_or_nobody(
    program: str, tmp_path: Path, pauses: bool
) -> None:
    after = 40e-6
    slow = 'link = "host-3.down"\nkind = "slow"\nbandwidth = "5%"'
    table = f"{slow}\n{between(BEGIN + after, 1)}"
    star = STAR + ('[multicast]\nslow_branch = "pause"\n' if pauses else "")
    hit = call(program, tmp_path, table, star=star)
    rest = DATA - after * RATE
    expected = after + rest / SLOW if pauses else DATA / RATE
    assert hit.ends[0] == pytest.approx(BEGIN + expected + WAY + signal(), rel=CLOSE)
    assert hit.drops == [0, 0, 0, 0]
    # The root's completion report shares the slow cable with data that is still in flight.
    report = 0 if pauses else ENVELOPE / SLOW
    end = BEGIN + after + rest / SLOW + report + WAY + signal()
    assert hit.ends[2] == pytest.approx(end, rel=CLOSE)


# ---- Ports without room


ROOM = 50
"""Chunks."""
PORTS = SLOW_CABLE + f'[multicast]\nport_buffer = "{ROOM * CHUNK}B"\n'


def dropped(offered: int) -> list[int]:
    """Return the arriving chunks that the port of the slow cable drops."""
    per_second = CHUNKS * RATE / DATA
    full = ROOM / (per_second * (1 - 1 / SLOWER))
    kept, lost = 0.0, []
    for chunk in range(math.floor(full * per_second + 0.5), offered):
        kept += 1 / SLOWER
        if kept >= 1:
            kept -= 1
        else:
            lost.append(chunk)
    return lost


def test_a_port_without_room_drops_and_its_death_loses_only_the_rest(
    program: str, tmp_path: Path
) -> None:
    alone = call(program, tmp_path, star=STAR + PORTS)
    assert alone.drops == [0, 0, 0, len(dropped(CHUNKS))]
    after = 60e-6
    table = down("host-3.down", SLOW_BEGIN + after, SLOW_BEGIN + after + 10e-6)
    hit = call(program, tmp_path, table, star=STAR + PORTS)
    by_port = dropped(int(after * RATE / DATA * CHUNKS))
    came = int(after * SLOW / DATA * CHUNKS)  # from the front of the full buffer
    assert hit.multicast.port_drops == len(by_port)
    assert hit.drops == [0, 0, 0, CHUNKS - came]
    assert hit.faults.lost_chunks == CHUNKS - came - len(by_port)
    # No other rank is affected.
    expected = SLOW_BEGIN + DATA / RATE + SHARED + WAY + signal()
    assert hit.ends[0] == alone.ends[0] == pytest.approx(expected, rel=CLOSE)
    timer = SLOW_BEGIN + CHUNKS * CHUNK / SLOW + SLACK
    assert max(hit.ends) == pytest.approx(
        timer + fetch(CHUNKS - came, SLOW) + signal(rate=SLOW), rel=CLOSE
    )


def test_a_port_that_has_sent_all_loses_nothing_more(program: str, tmp_path: Path) -> None:
    alone = call(program, tmp_path, star=STAR + PORTS)
    after = (DATA / RATE) + ROOM * CHUNK / SLOW + 20e-6
    table = down("host-3.down", SLOW_BEGIN + after, SLOW_BEGIN + after + 10e-6)
    hit = call(program, tmp_path, table, star=STAR + PORTS)
    assert hit.drops == alone.drops
    assert hit.faults.lost_chunks == 0


# ---- Links that lose packets


def test_a_lossy_cable_drops_chunks_that_are_fetched(program: str, tmp_path: Path) -> None:
    lossy = 'link = "host-3.down"\nkind = "lossy"\nloss = "10%"\nat = 0'
    record = call(program, tmp_path, lossy).record
    rows = record.to_json()["multicast"]
    dropped = sum(row["drops"] for row in rows)
    assert dropped == pytest.approx(0.1 * CHUNKS, abs=4 * math.sqrt(CHUNKS * 0.1 * 0.9))
    assert sum(row["fetched_chunks"] for row in rows) == dropped
    other = lossy.replace("host-3.down", "host-0.down")  # the root's, which carries no chunk
    assert all(
        row["drops"] == 0 for row in call(program, tmp_path, other).record.to_json()["multicast"]
    )


# ---- Later calls


@pytest.mark.parametrize("cables", [1, 2, 3])
def test_later_calls_use_what_is_up_or_the_hosts(tmp_path: Path, cables: int) -> None:
    """Each of three leaves loses its cable to a different one of three spines."""
    faults = str(compiled.program(TESTS / "smpi" / "faults.c"))
    (tmp_path / "fabric.toml").write_text(STAR.replace(*LEAVES))
    tables = [
        f'[[fault]]\nlink = "level1-{number}--level2-{number}"\nat = 0\n'
        for number in range(cables)
    ]
    (tmp_path / "faults.toml").write_text(RECOVERY + "".join(tables))
    record = weft.run(
        faults,
        ["mixed", "4096", "1"],
        ranks=6,
        fabric=str(tmp_path / "fabric.toml"),
        offload="multicast",
        faults=str(tmp_path / "faults.toml"),
    ).check()
    paths = {
        row.path
        for row in record.collectives
        if row.collective == "bcast" and row.communicator_size == 6
    }
    # Messages pass as long as each pair of leaves shares a spine; a tree needs one spine for all
    # leaves.
    assert ("multicast" in paths) == (cables < 3)
