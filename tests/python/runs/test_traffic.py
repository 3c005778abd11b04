# SPDX-License-Identifier: LGPL-2.1-only
"""Background traffic: closed forms, distributions, ends of runs, and invalid files."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import weft
from tests.support import compiled
from tests.support.jobs import job, said
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record
from weft.runs.record_data import TrafficPart

CLOSE = 1e-9
ENVELOPE = 16
"""Bytes that SMPI adds to a message."""
SMALL, LARGE = 4 << 20, 8 << 20


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


def traffic_file(folder: Path, *tables: str) -> str:
    """Write a traffic file with tables of these keys."""
    path = folder / "traffic.toml"
    path.write_text("\n".join(f"[[traffic]]\n{table}" for table in tables))
    return str(path)


def goal_file(folder: Path, *ranks: str) -> str:
    """Write a schedule with these operations, and return the keys of its table."""
    blocks = [f"rank {number} {{\n{rank}\n}}" for number, rank in enumerate(ranks)]
    text = "\n".join([f"num_ranks {len(ranks)}", *blocks])
    (folder / "schedule.goal").write_text(f"{text}\n")
    return 'pattern = "goal"\nfile = "schedule.goal"\n'


def flow(program: str, size: int, traffic: str | None = None, **more: Any) -> Record:
    """Run a message from host-0 to host-1."""
    record = weft.run(
        program, ["flow", str(size)], ranks=2, fabric="tofino-4", traffic=traffic, **more
    )
    record.check()
    return record


def only(record: Record) -> TrafficPart:
    """Return the only row of background traffic."""
    assert record.traffic
    (row,) = record.traffic
    return row


def rate_of(record: Record) -> float:
    """Return the rate offered by each host."""
    rate = only(record).rate_per_host_Bps
    assert rate is not None
    return rate


def time_of(record: Record) -> float:
    """Return the time of the program's message."""
    return float(record.output.split()[0])


# ---- Closed forms


def test_a_message_halves_a_link_with_a_background_message(jobs: str, tmp_path: Path) -> None:
    alone = [time_of(flow(jobs, size)) for size in (SMALL, LARGE)]
    rate = (LARGE - SMALL) / (alone[1] - alone[0])
    sends = goal_file(tmp_path, "a: send 1000000000b to 1", "a: recv 1000000000b from 0")
    hosts = 'hosts = "host-[2,1]"\n'  # both hosts share the link to host-1
    shared = flow(jobs, SMALL, traffic_file(tmp_path, sends + hosts))
    assert time_of(shared) == pytest.approx(alone[0] + (SMALL + ENVELOPE) / rate, rel=CLOSE)
    elsewhere = flow(jobs, SMALL, traffic_file(tmp_path, sends + 'hosts = "host-[2,3]"\n'))
    assert time_of(elsewhere) == pytest.approx(alone[0], rel=CLOSE)
    # The program ends the run, although the background message is still in flight.
    assert shared.simulated_time_s == pytest.approx(time_of(shared), rel=0.1)
    assert elsewhere.simulated_time_s == flow(jobs, SMALL).simulated_time_s


def test_a_background_message_gives_its_share_back(jobs: str, tmp_path: Path) -> None:
    alone = [time_of(flow(jobs, size)) for size in (SMALL, LARGE)]
    rate = (LARGE - SMALL) / (alone[1] - alone[0])
    sends = goal_file(tmp_path, f"a: send {SMALL}b to 1", f"a: recv {SMALL}b from 0")
    table = sends + 'hosts = "host-[2,1]"\nstart = "50us"\n'
    record = flow(jobs, LARGE, traffic_file(tmp_path, table))
    assert time_of(record) == pytest.approx(alone[1] + SMALL / rate, rel=CLOSE)
    row = only(record)
    assert (row.messages, row.bytes, row.rounds) == (1, SMALL, 1)


def test_schedules_follow_their_dependencies(jobs: str, tmp_path: Path) -> None:
    """A ping-pong of ten rounds takes ten times as long as one round with its computation."""
    first = "a: send 1000000b to 1\nb: recv 1000000b from 1\nb requires a"
    second = (
        "a: recv 1000000b from 0\nc: calc 5000\nb: send 1000000b to 0\nc requires a\nb requires c"
    )
    one = goal_file(tmp_path, first, second) + 'hosts = "host-[2,3]"\n'
    traffic = traffic_file(tmp_path, one + "repeat = true\n")
    record = flow(jobs, 256 << 20, traffic)
    row = only(record)
    assert row.rounds
    rounds = row.rounds + (row.messages % 2) / 2
    assert record.simulated_time_s == pytest.approx(rounds * (2 * row.mean_s + 5e-6), rel=0.02)


# ---- Patterns


@pytest.mark.parametrize(
    ("pattern", "more", "senders"),
    [
        ("uniform", "", 14),
        ("permutation", 'part = "50%"', 7),
        ("incast", 'targets = "host-15"', 13),
        ("hot-spot", 'targets = "host-15"', 14),
    ],
)
def test_hosts_offer_their_load(
    jobs: str, tmp_path: Path, pattern: str, more: str, senders: int
) -> None:
    table = f'pattern = "{pattern}"\nload = "2%"\nbytes = "4KiB"\n{more}\n'
    record = weft.run(
        jobs,
        ["flow", str(64 << 20)],
        ranks=2,
        fabric="tofino-16",
        traffic=traffic_file(tmp_path, table),
    )
    record.check()
    row = only(record)
    assert (row.name, row.pattern, row.hosts) == (pattern, pattern, senders)
    expected = record.simulated_time_s * rate_of(record) * senders / 4096
    assert row.messages == pytest.approx(expected, abs=4 * expected**0.5 + senders)


def test_load_slows_a_program_down_more_and_more(jobs: str, tmp_path: Path) -> None:
    def taken(load: int) -> float:
        table = f'pattern = "uniform"\nload = "{load}%"\nhosts = "all"\n'
        return time_of(flow(jobs, LARGE, traffic_file(tmp_path, table)))

    times = [time_of(flow(jobs, LARGE)), *map(taken, (10, 40, 80))]
    assert times == sorted(times)
    assert times[-1] > 1.5 * times[0]


def test_the_seed_decides(jobs: str, tmp_path: Path) -> None:
    def record(seed: int) -> Any:
        table = f'pattern = "uniform"\nload = "40%"\nhosts = "all"\nseed = {seed}\n'
        made = flow(jobs, LARGE, traffic_file(tmp_path, table)).to_json()
        for field in ("wall_time_s", "cpu_time_s", "peak_memory_bytes", "command"):
            made.pop(field, None)
        return made

    assert record(1) == record(1)
    assert record(1)["traffic"] != record(2)["traffic"]


def test_offloaded_collectives_share_links_with_traffic(jobs: str, tmp_path: Path) -> None:
    table = 'pattern = "incast"\nload = "100%"\ntargets = "host-01"\nhosts = "all"\nwindow = 16\n'
    runs = [
        weft.run(jobs, ["sum", "20"], ranks=8, fabric="tofino-16", traffic=traffic)
        for traffic in (None, traffic_file(tmp_path, table))
    ]
    assert [run.output for run in runs] == ["right\n"] * 2
    assert runs[1].simulated_time_s > runs[0].simulated_time_s


# ---- Ends


def test_jobs_run_beside_traffic(jobs: str, tmp_path: Path) -> None:
    table = 'pattern = "uniform"\nload = "50%"\n'
    record = weft.run_jobs(
        [
            job("a", jobs, "sum", 3, ranks=4),
            job("late", jobs, "flow", LARGE, ranks=2, start="300us"),
            job("broken", jobs, "abort", ranks=3),
        ],
        fabric="tofino-16",
        traffic=traffic_file(tmp_path, table),
    )
    assert said(record, "a") == ["right"]
    assert float(said(record, "late")[0]) > 0
    assert only(record).hosts == 16 - 4 - 2 - 3


def test_a_deadlock_is_found_beside_traffic(jobs: str, tmp_path: Path) -> None:
    table = 'pattern = "uniform"\nload = "50%"\nhosts = "all"\n'
    record = weft.run(
        jobs, ["hang"], ranks=4, fabric="tofino-4", traffic=traffic_file(tmp_path, table)
    )
    assert record.outcome.kind == "deadlock"


def test_traffic_ends_when_told(jobs: str, tmp_path: Path) -> None:
    table = 'pattern = "uniform"\nload = "50%"\nhosts = "all"\nend = "200us"\nbytes = "16KiB"\n'
    record = flow(jobs, 64 << 20, traffic_file(tmp_path, table))
    expected = 200e-6 * 4 * rate_of(record) / 16384
    assert only(record).messages == pytest.approx(expected, rel=0.5)


# ---- Bad input


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('load = "5%"', "number 1: pattern: is missing, but required"),
        ('pattern = "storm"', "number 1: pattern: found 'storm'; allowed are uniform, permutation"),
        ('pattern = "uniform"', "load: is missing, but required"),
        ('pattern = "uniform"\nload = 0.3', "load: found 0.3; write a part of up to 100 per cent"),
        ('pattern = "uniform"\nload = "120%"', "load: found '120%'; write a part of up to 100"),
        (
            'pattern = "uniform"\nload = "5%"\nbytes = "4"',
            "bytes: found '4'; write a text with one of the units",
        ),
        ('pattern = "uniform"\nload = "5%"\nhot = "4%"', 'hot: is not a key of the pattern "uni'),
        ('pattern = "incast"\nload = "5%"\nrepeat = true', "repeat: is not a key of the pattern"),
        (
            'pattern = "uniform"\nload = "5%"\nhosts = "host-9"',
            "hosts: found 'host-9', which is no",
        ),
        (
            'pattern = "uniform"\nload = "5%"\nhosts = "host-[1"',
            "hosts: found 'host-[1'; write nam",
        ),
        (
            'pattern = "uniform"\nload = "5%"\nhosts = "host-[1,1]"',
            "hosts: found host-1 twice",
        ),
        (
            'name = "n"\npattern = "uniform"\nload = "5%"\nhosts = "host-1"',
            '[[traffic]] name = "n": hosts: the named hosts leave 1 to send, and traffic needs at',
        ),
        ('pattern = "uniform"\nload = "5%"\nstart = "2us"\nend = "1us"', "end: found '1us', which"),
        ('pattern = "uniform"\nload = "5%"\nlod = 1', "lod: no such key; did you mean load"),
        ('pattern = "goal"', "file: is missing, but required"),
        ('pattern = "goal"\nfile = "no.goal"', "file: "),
    ],
)
def test_wrong_tables_are_refused(jobs: str, tmp_path: Path, table: str, message: str) -> None:
    path = traffic_file(tmp_path, table)
    result = weft_says(
        "run", "--fabric", "tofino-4", "-n", "2", "--traffic", path, jobs, "flow", "1"
    )
    assert result.returncode == 2
    assert message in result.stderr
    assert path in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("", "it is empty; a schedule begins with num_ranks"),
        ("rank 0 {", "line 1: found 'rank 0 {'; a schedule begins with num_ranks"),
        ("num_ranks 1\nrank 1 {\n}", "line 2: found rank 1 of 1 ranks"),
        ("num_ranks 1\nrank 0 {\na: calc 5", "line 3: the last rank has no closing brace"),
        ("num_ranks 1\nrank 0 {\n}", "line 3: it has no operations"),
        ("num_ranks 1\nrank 0 {\na: wait 5\n}", "line 3: found 'a: wait 5'; allowed are LABEL:"),
        ("num_ranks 1\nrank 0 {\na: send 5b to 1\n}", "line 3: found rank 1 of 1 ranks"),
        ("num_ranks 1\nrank 0 {\na: calc 5\na: calc 5\n}", "line 4: found the label a twice"),
        ("num_ranks 1\nrank 0 {\na: calc 5\nb requires a\n}", "line 4: found the label b, which"),
        (
            "num_ranks 9\nrank 0 {\na: calc 5 // long\n/* 1\n2 */ b: calc 1 cpu 2\n}",
            "the schedule has 9 ranks, and the hosts without ranks are 2",
        ),
    ],
)
def test_wrong_schedules_are_refused(
    jobs: str, tmp_path: Path, schedule: str, message: str
) -> None:
    (tmp_path / "wrong.goal").write_text(schedule)
    path = traffic_file(tmp_path, 'pattern = "goal"\nfile = "wrong.goal"')
    result = weft_says(
        "run", "--fabric", "tofino-4", "-n", "2", "--traffic", path, jobs, "flow", "1"
    )
    assert result.returncode == 2
    assert message in result.stderr


def test_names_and_networks_are_checked(jobs: str, tmp_path: Path) -> None:
    uniform = 'pattern = "uniform"\nload = "5%"\n'
    twice = traffic_file(tmp_path, uniform, uniform)
    options = ("-n", "2", "--traffic", twice, jobs, "flow", "1")
    result = weft_says("run", "--fabric", "tofino-4", *options)
    assert (result.returncode, "found 'uniform' twice" in result.stderr) == (2, True)
    one = traffic_file(tmp_path, uniform)
    result = weft_says(
        "run",
        "--fabric",
        "tofino-4",
        "--cfg",
        "network/weight-S:20537",
        *options[:3],
        one,
        *options[4:],
    )
    assert (result.returncode, "weft's own network" in result.stderr) == (2, True)
    (tmp_path / "empty.toml").write_text("")
    result = weft_says(
        "run", "--fabric", "tofino-4", *options[:3], str(tmp_path / "empty.toml"), *options[4:]
    )
    assert (result.returncode, "[traffic]: is missing" in result.stderr) == (2, True)


# ---- Messages that are given up


def faults_of_nic(folder: Path, host: str) -> str:
    """Write a fault file with a NIC that fails permanently; a message is given up after 2 us."""
    path = folder / "faults.toml"
    path.write_text(
        f'[recovery]\ntimeout = "2us"\nretries = 0\n[[fault]]\nnic = "{host}"\nat = "20us"\n'
    )
    return str(path)


@pytest.mark.parametrize("window", [1, 3, 4])
@pytest.mark.parametrize("pattern", ["uniform", "permutation", "incast", "hot-spot"])
def test_messages_that_are_given_up_leave_the_window(
    jobs: str, tmp_path: Path, pattern: str, window: int
) -> None:
    more = 'targets = "host-3"\n' if pattern in ("incast", "hot-spot") else ""
    table = (
        f'pattern = "{pattern}"\nload = "20%"\nhosts = "all"\nbytes = "4KiB"\n'
        f"window = {window}\n{more}"
    )
    path = traffic_file(tmp_path, table)
    quiet = only(flow(jobs, LARGE, path))
    hit = only(flow(jobs, LARGE, path, faults=faults_of_nic(tmp_path, "host-3")))
    assert quiet.given_up_messages is UNSET
    assert hit.given_up_messages
    assert hit.mean_s < 5 * quiet.mean_s  # for messages that have arrived
    if pattern == "uniform":  # two thirds of three hosts' messages still arrive
        assert hit.messages > 0.3 * quiet.messages


def test_a_schedule_ends_with_a_message_that_is_given_up(jobs: str, tmp_path: Path) -> None:
    schedule = goal_file(
        tmp_path,
        "l1: calc 100000\nl2: send 1000b to 1 tag 1\nl2 requires l1",
        "l1: recv 1000b from 0 tag 1",
    )
    path = traffic_file(tmp_path, f'{schedule}hosts = "host-[2-3]"\nrepeat = true')
    record = flow(jobs, LARGE, path, faults=faults_of_nic(tmp_path, "host-3"))
    row = only(record)
    assert (row.messages, row.given_up_messages, row.rounds) == (0, 1, 0)
    assert row.outcome == "network-failure"
    assert str(row.message).startswith("host-2 cannot reach host-3 at ")
    assert f"traffic {row.name} ended early: {row.message}" in str(record)


def test_other_transports_are_refused(jobs: str, tmp_path: Path) -> None:
    path = traffic_file(tmp_path, 'pattern = "uniform"\nload = "20%"\nhosts = "all"\n')
    with pytest.raises(weft.WeftError, match="messages: found smpi together with traffic"):
        flow(jobs, SMALL, path, messages="smpi")
