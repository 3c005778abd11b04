# SPDX-License-Identifier: LGPL-2.1-only
"""Faults that overlap, that meet a latency or a window, and hosts that are down when a job starts:
closed forms."""

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.faults import fault_file
from tests.support.jobs import job, outcome, part, said
from tests.support.places import TESTS
from weft.runs.record import Record

CLOSE = 1e-9
US = 1e-6
AT_ONCE = 'detection = "0us"\nconvergence = "0us"\n'
SLOW = AT_ONCE + 'timeout = "100us"\nretries = 50\n'

COMMON = """
[host]
speed = "1Gf"
cores = 64
loopback_bandwidth = "10GBps"
loopback_latency = "0us"

[nic]
offload_overhead = "2us"
message_gap = "0us"
"""
STAR = (
    '[fabric]\nname = "star"\n\n[topology]\nkind = "star"\nhosts = 8\n'
    + COMMON
    + """
[link]
bandwidth = "1GBps"
latency = "{latency}us"

[switch]
max_ports = 64
forwarding_latency = "0ns"
"""
)
# A window of 64 KiB takes 65.536 us.
WINDOWS = (
    '[fabric]\nname = "tree"\n\n[topology]\nkind = "fat_tree"\ndown = [2, 2]\nup = [1, 2]\n'
    + COMMON
    + """
[link]
bandwidth = "1GBps"
latency = "1us"

[switch]
max_ports = 64
forwarding_latency = "500ns"
processing_latency = "3us"
turnaround = "0us"
channels = 4
slots = 64
payload = "1KiB"
packet_overhead = "0B"

[[switch.offload]]
collectives = ["allreduce"]
datatypes = ["MPI_INT"]
operations = ["MPI_SUM"]
"""
)
WINDOW = 65.536e-6


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


@pytest.fixture(scope="module")
def summing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a program that begins with an Allreduce, and prints its end."""
    source = tmp_path_factory.mktemp("summing") / "summing.c"
    source.write_text(
        """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv)
{
  int rank, count = atoi(argv[1]) / (int)sizeof(int);
  int* numbers = calloc(count, sizeof(int));
  int* sums = calloc(count, sizeof(int));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(numbers, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.17g\\n", MPI_Wtime());
  MPI_Finalize();
  return 0;
}
"""
    )
    return str(compiled.program(source))


def written(folder: Path, text: str) -> str:
    path = folder / "fabric.toml"
    path.write_text(text)
    return str(path)


def sent(jobs: str, folder: Path, size: int, latency: int, *tables: str, **recovery: str) -> Record:
    """Send a message from the first host to the second host over two cables."""
    path = fault_file(folder, *tables, recovery=recovery.get("recovery", SLOW)) if tables else None
    return weft.run_jobs(
        [job("one", jobs, "flow", size, ranks=2, hosts="host-[0,1]")],
        fabric=written(folder, STAR.format(latency=latency)),
        faults=path,
    )


def time(record: Record) -> float:
    return float(said(record, "one")[0])


# ---- Overlaps

CABLE = 'link = "host-0"\nat = "100us"\nuntil = "850us"'


@pytest.mark.parametrize(
    "other",
    [
        'nic = "host-0"\nat = "150us"\nuntil = "250us"',
        'link = "host-0"\nat = "150us"\nuntil = "250us"',
        'link = "host-0.up"\nat = "150us"\nuntil = "250us"',
        'link = "host-*"\nat = "150us"\nuntil = "250us"',
        'switch = "*"\nat = "150us"\nuntil = "250us"',
        'nic = "host-[01]"\nmtbf = "20us"\nrepair = "5us"\nstart = "110us"\nend = "800us"\n',
        'nic = "host-0"\nat = "60us"\nuntil = "150us"',
    ],
)
def test_a_part_is_down_until_its_last_fault_is_over(jobs: str, tmp_path: Path, other: str) -> None:
    alone = time(sent(jobs, tmp_path, 1_000_000, 1))
    record = sent(jobs, tmp_path, 1_000_000, 1, CABLE, other)
    # The message waits for the eighth timeout, then pays the latency again.
    expected = alone + 802 * US
    assert time(record) == pytest.approx(expected, rel=CLOSE)
    assert record.faults
    assert record.faults.cut == 1


def test_the_slowest_fault_counts(jobs: str, tmp_path: Path) -> None:
    alone = time(sent(jobs, tmp_path, 1_000_000, 1))
    slow = 'kind = "slow"\nbandwidth = "{}%"\nat = "{}us"\n'
    tables = [
        'link = "host-0"\n' + slow.format(10, 102),
        'nic = "host-0"\n' + slow.format(50, 202) + 'until = "302us"\n',
    ]
    record = sent(jobs, tmp_path, 1_000_000, 1, *tables)
    assert time(record) == pytest.approx(102 * US + 10 * (alone - 102 * US), rel=CLOSE)
    tables = [tables[0] + 'until = "202us"\n', 'link = "host-0"\n' + slow.format(50, 152)]
    record = sent(jobs, tmp_path, 1_000_000, 1, *tables)
    assert time(record) == pytest.approx(202 * US + 2 * (alone - 112 * US), rel=CLOSE)
    assert record.faults
    assert [event.what for event in record.faults.events] == [
        "link host-0 has 0.1 of its bandwidth",
        "link host-0 still has 0.1 of its bandwidth",
        "link host-0 has 0.5 of its bandwidth",
    ]


def test_losses_of_two_faults_are_independent(jobs: str, tmp_path: Path) -> None:
    alone = time(sent(jobs, tmp_path, 1_000_000, 1))
    lossy = 'kind = "lossy"\nloss = "50%"\nat = "102us"\nuntil = "{}us"\n'
    tables = ['link = "host-0"\n' + lossy.format(202), 'nic = "host-0"\n' + lossy.format(302)]
    record = sent(jobs, tmp_path, 1_000_000, 1, *tables)
    assert time(record) == pytest.approx(alone + 75 * US + 50 * US, rel=CLOSE)


def test_the_record_marks_events_that_change_nothing(jobs: str, tmp_path: Path) -> None:
    again = 'link = "host-0"\nat = "150us"\nuntil = "250us"'
    nic = 'nic = "host-0"\nat = "260us"\nuntil = "270us"'
    record = sent(jobs, tmp_path, 1_000_000, 1, CABLE, again, nic)
    assert record.faults
    assert [(event.what, event.hidden is True) for event in record.faults.events] == [
        ("link host-0 down", False),
        ("link host-0 still down", True),
        ("link host-0 still down", True),
        ("nic host-0 down", True),
        ("nic host-0 up", True),
        ("link host-0 up", False),
    ]


# ---- Latencies


def test_timeouts_count_from_a_fault_in_the_latency(jobs: str, tmp_path: Path) -> None:
    again = 20 * US + (100_000 + 16) / 1e9  # a latency, and the bytes with their header
    for at in (1, 7, 19):
        table = f'link = "host-0"\nat = "{at}us"\nuntil = "{at + 1.5}us"'
        record = sent(
            jobs, tmp_path, 100_000, 10, table, recovery=AT_ONCE + 'timeout = "2us"\nretries = 0\n'
        )
        assert time(record) == pytest.approx((at + 2) * US + again, rel=CLOSE)


def allreduce(program: str, folder: Path, size: int, policy: str, *tables: str) -> float:
    recovery = SLOW + f'collectives = "{policy}"\n'
    record = weft.run(
        program,
        [str(size)],
        ranks=4,
        fabric=written(folder, WINDOWS),
        offload="stream",
        faults=fault_file(folder, *tables, recovery=recovery) if tables else None,
    ).check()
    return float(record.output.split()[0])


@pytest.mark.parametrize("policy", ["resend", "rebuild"])
def test_a_call_in_its_latency_waits_from_the_fault(
    summing: str, tmp_path: Path, policy: str
) -> None:
    whole = allreduce(summing, tmp_path, 163840, policy)
    for at in (0, 3, 10):
        table = f'link = "host-0"\nat = "{at}us"\nuntil = "{at + 50}us"'
        took = allreduce(summing, tmp_path, 163840, policy, table)
        assert took == pytest.approx(whole + (at + 100) * US, rel=CLOSE)


# ---- Windows


@pytest.mark.parametrize(
    ("size", "done", "kept"),
    [
        (163840, 1.5, 1),  # of 2.5 windows
        (163840, 2.25, 2),
        (163840, 0.5, 0),
        (262144, 2, 2),  # of 4, at the end of the second
        (262144, 2.5, 2),
        (32768, 0.25, 0),  # of half a window
    ],
)
@pytest.mark.parametrize("hit", ["switch", "link", "state"])
def test_a_call_goes_on_from_its_last_complete_window(
    summing: str, tmp_path: Path, hit: str, size: int, done: float, kept: int
) -> None:
    whole = allreduce(summing, tmp_path, size, "resend")
    latency = whole - size / 1e9
    at = latency + done * WINDOW
    times = f'at = "{at * 1e6:.6f}us"\nuntil = "{at * 1e6 + 50:.6f}us"'
    table = {
        "switch": f'switch = "level1-*"\n{times}',
        "link": f'link = "host-0.up"\n{times}',
        "state": f'switch = "level1-0"\nkind = "state"\nat = "{at * 1e6:.6f}us"',
    }[hit]
    took = allreduce(summing, tmp_path, size, "resend", table)
    assert took == pytest.approx(at + 100 * US + whole - kept * WINDOW, rel=1e-6)


# ---- Jobs on hosts that are down


def started(jobs: str, folder: Path, hosts: str, *tables: str, **more: Any) -> Record:
    """Run a job that starts at 50 us, together with a job on other hosts."""
    described = [
        job("late", jobs, "sum", ranks=4, hosts=hosts, start="50us", **more),
        job("other", jobs, "sum", ranks=2, hosts="host-[6,7]"),
    ]
    return weft.run_jobs(
        described,
        fabric=written(folder, STAR.format(latency=1)),
        faults=fault_file(folder, *tables),
    )


def test_a_job_that_starts_on_a_dead_host_fails(jobs: str, tmp_path: Path) -> None:
    def message(hosts: str, *tables: str, **more: Any) -> str:
        record = started(jobs, tmp_path, hosts, *tables, **more)
        assert outcome(record, "other") == ("completed", 0)
        assert outcome(record, "late") == ("host-failure", 1)
        late = part(record, "late")
        assert late.start_s == late.end_s == pytest.approx(50 * US, rel=CLOSE)
        text: str = late.outcome.message
        return text

    dead = 'host = "host-0"\nat = "10us"'
    all_ranks = "host host-0 failed at 10us, and with it ranks 0, 1, 2, 3"
    assert message("host-0", dead, ppn=4) == all_ranks
    assert message("host-0", dead + '\nuntil = "50.1us"', ppn=4) == all_ranks
    overlapping = 'host = "host-*"\nat = "20us"\nuntil = "30us"'
    assert "ranks 0, 1, 2, 3" in message("host-0", dead, overlapping.replace("*", "0"), ppn=4)
    assert message("host-[0-3]", dead) == "host host-0 failed at 10us, and with it rank 0"
    assert message("host-[1,0]", dead, 'host = "host-1"\nat = "50us"', ppn=2).count("failed") == 2
    chance = 'host = "host-[012]"\nmtbf = "4us"\nrepair = "36us"\nend = "40us"\nseed = {}'
    found = [started(jobs, tmp_path, "host-[0-3]", chance.format(seed)) for seed in range(3)]
    assert "host-failure" in {outcome(record, "late")[0] for record in found}


def test_a_job_starts_on_a_host_that_is_back(jobs: str, tmp_path: Path) -> None:
    for table in (
        'host = "host-0"\nat = "10us"\nuntil = "40us"',
        'host = "host-0"\nat = "10us"\nuntil = "50us"',
        'nic = "host-0"\nat = "10us"\nuntil = "60us"',
        'host = "host-5"\nat = "10us"',
    ):
        record = started(jobs, tmp_path, "host-0", table, ppn=4)
        assert outcome(record, "late") == ("completed", 0)
