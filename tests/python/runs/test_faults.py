# SPDX-License-Identifier: LGPL-2.1-only
"""Faults while programs run: closed forms, policies, results, and invalid files."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.faults import (
    POLICIES,
    RECOVERY,
    TREE,
    fault_file,
    survive_random_faults,
)
from tests.support.jobs import job, said
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.base import paths
from weft.runs.record import Record
from weft.runs.record_data import FaultsPart

CLOSE = 1e-9
TIMEOUT = 100e-6
SMALL, LARGE = 4 << 20, 8 << 20


@pytest.fixture(scope="module")
def faults() -> str:
    return str(compiled.program(TESTS / "smpi" / "faults.c"))


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


@pytest.fixture
def tree(tmp_path: Path) -> str:
    path = tmp_path / "tree.toml"
    path.write_text(TREE)
    return str(path)


def timed(program: str, *arguments: str, **options: Any) -> float:
    """Return the first time that a program prints."""
    return float(weft.run(program, arguments, **options).check().output.split()[0])


def part(record: Record) -> FaultsPart:
    """Return the record's part about faults."""
    assert record.faults
    return record.faults


# ---- Messages


def far(jobs: str, tree: str, faults: str | None = None, **options: Any) -> Record:
    """Run a message from the first host to the first host of the last switch."""
    return weft.run_jobs(
        [job("far", jobs, "flow", LARGE, ranks=2, hosts="host-[00,12]")],
        fabric=tree,
        faults=faults,
        **options,
    )


@pytest.fixture(scope="module")
def cut_off() -> str:
    return str(compiled.program(TESTS / "smpi" / "cut_off.c"))


def test_a_message_resumes_on_another_route(jobs: str, tree: str, tmp_path: Path) -> None:
    alone = float(said(far(jobs, tree), "far")[0])
    lost = []
    for at in (200, 300):
        table = f'link = "level1-0--level2-*"\nat = "{at}us"\nuntil = "{at + 390}us"'
        record = far(jobs, tree, fault_file(tmp_path, table))
        assert part(record).cut == part(record).resumed == 1
        # Routing detects the repair 640 us after the fault.
        assert part(record).waited_s == pytest.approx(7 * TIMEOUT, rel=CLOSE)
        lost.append(float(said(record, "far")[0]) - alone)
    assert lost[1] == pytest.approx(lost[0], rel=CLOSE)
    assert 7 * TIMEOUT < lost[0] < 7 * TIMEOUT + 10e-6  # the latency again
    names = ["level1-0--level2-0", "level1-0--level2-1", "level1-0--level2-2", "level1-0--level2-3"]
    one = []
    for name in names:  # the message uses one of them; 300 us are three timeouts
        record = far(jobs, tree, fault_file(tmp_path, f'link = "{name}"\nat = "200us"'))
        one.append(float(said(record, "far")[0]) - alone)
    again = lost[0] - 4 * TIMEOUT
    assert sorted(one) == [pytest.approx(loss, abs=1e-12) for loss in (0, 0, 0, again)]


def test_a_host_that_nothing_reaches_ends_its_job_alone(
    jobs: str, tree: str, tmp_path: Path
) -> None:
    described = [
        job("far", jobs, "flow", LARGE, ranks=2, hosts="host-[00,12]"),
        job("near", jobs, "flow", LARGE, ranks=2, hosts="host-[01,02]"),
    ]
    path = fault_file(tmp_path, 'nic = "host-12"\nat = "200us"')
    record = weft.run_jobs(described, fabric=tree, faults=path)
    assert record.jobs
    by_name = {one.name: one for one in record.jobs}
    assert by_name["near"].outcome.kind == "completed"
    assert by_name["far"].outcome.kind != "completed"
    assert "host-00 cannot reach host-12 at 1ms: 7 retries" in by_name["far"].outcome.message
    assert part(record).given_up == 1


def test_each_job_names_its_own_message(jobs: str, tree: str, tmp_path: Path) -> None:
    described = [
        job("first", jobs, "flow", LARGE, ranks=2, hosts="host-[00,12]"),
        job("second", jobs, "flow", LARGE, ranks=2, hosts="host-[01,13]"),
    ]
    path = fault_file(tmp_path, *(f'nic = "host-{host}"\nat = "200us"' for host in (12, 13)))
    record = weft.run_jobs(described, fabric=tree, faults=path)
    assert record.jobs
    by_name = {one.name: one.outcome.message for one in record.jobs}
    assert "host-00 cannot reach host-12 at" in by_name["first"]
    assert "host-01 cannot reach host-13 at" in by_name["second"]


ON_STAR = """
[fabric]
name = "star"
[topology]
kind = "star"
hosts = 8
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "8Gbps"
latency = "1us"
[switch]
preset = "ideal"
max_ports = 64
[storage]
hosts = ["host-7"]
read_bandwidth = "2GBps"
write_bandwidth = "2GBps"
"""
GIVES_UP = 'timeout = "10us"\nretries = 1\n'


@pytest.mark.parametrize(
    "form",
    ["partitions", "write", "iwrite", "shared", "all", "iall", "split", "ordered"],
)
@pytest.mark.usefixtures("own_directory")
def test_a_failure_outside_a_rank_ends_one_job(
    cut_off: str, jobs: str, tmp_path: Path, form: str
) -> None:
    star = tmp_path / "star.toml"
    star.write_text(ON_STAR)
    described = [
        job("hit", cut_off, form, ranks=2, hosts="host-[0-1]"),
        job("other", jobs, "flow", SMALL, ranks=2, hosts="host-[2-3]"),
    ]
    whole = weft.run_jobs(described, fabric=star)
    whole.check()
    path = fault_file(tmp_path, 'link = "host-1"\nat = "1ms"', recovery=GIVES_UP)
    record = weft.run_jobs(described, fabric=star, faults=path)
    assert record.jobs
    by_name = {one.name: one for one in record.jobs}
    assert by_name["other"].outcome.kind == "completed"
    assert said(record, "other") == said(whole, "other")
    assert by_name["hit"].outcome.kind == "network-failure"
    end_s = by_name["hit"].end_s
    assert isinstance(end_s, float)
    assert end_s < 1.1e-3
    text = record.outcome.message
    assert text.startswith("job hit: ")
    assert re.search(r"host-[017] cannot reach host-[017] at .* \(link host-1", text)


def test_other_messages_of_a_call_may_arrive_after_it_has_failed(
    cut_off: str, jobs: str, tmp_path: Path
) -> None:
    """host-1's message is given up at 1.02 ms; host-2's message arrives 1.5 ms later."""
    star = tmp_path / "star.toml"
    star.write_text(ON_STAR)
    described = [
        job("hit", cut_off, "igather", ranks=3, hosts="host-[0-2]"),
        job("other", jobs, "flow", 8_000_000, ranks=2, hosts="host-[3-4]"),
    ]
    path = fault_file(tmp_path, 'link = "host-1"\nat = "1ms"', recovery=GIVES_UP)
    record = weft.run_jobs(described, fabric=star, faults=path, offload="off")
    assert record.jobs
    by_name = {one.name: one for one in record.jobs}
    assert by_name["other"].outcome.kind == "completed"
    assert by_name["hit"].outcome.kind == "network-failure"


def test_a_slow_link_has_that_part_of_its_bandwidth(jobs: str, tree: str, tmp_path: Path) -> None:
    alone = float(said(far(jobs, tree), "far")[0])
    table = 'link = "host-12"\nkind = "slow"\nbandwidth = "25%"\nat = "100us"\nuntil = "200us"'
    record = far(jobs, tree, fault_file(tmp_path, table))
    assert float(said(record, "far")[0]) == pytest.approx(alone + 75e-6, rel=CLOSE)
    assert [event.what for event in part(record).events] == [
        "link host-12 has 0.25 of its bandwidth",
        "link host-12 has its bandwidth again",
    ]


# ---- Collectives in the network


def allreduce(program: str, tree: str, **options: Any) -> Record:
    """Run an Allreduce of 4 MiB on 16 ranks."""
    record = weft.run(
        program,
        ["allreduce", str(4 << 20)],
        fabric=tree,
        **{"ranks": 16, "offload": "stream", **options},
    )
    return record.check()


def took(record: Record) -> float:
    """Return the time printed by the program."""
    return float(record.output.split()[0])


@pytest.mark.parametrize("policy", POLICIES)
def test_an_allreduce_goes_on(faults: str, tree: str, tmp_path: Path, policy: str) -> None:
    whole = took(allreduce(faults, tree))
    on_hosts = took(allreduce(faults, tree, offload="off"))
    # A spine of the tree fails in the middle of the stream, and recovers.
    recovery = f'{RECOVERY}collectives = "{policy}"\n'
    hit: dict[str, Record] = {}
    for spine in range(4):
        table = f'switch = "level2-{spine}"\nat = "300us"\nuntil = "890us"'
        record = allreduce(faults, tree, faults=fault_file(tmp_path, table, recovery=recovery))
        if part(record).broken_calls:
            hit[f"level2-{spine}"] = record
        else:
            assert took(record) == pytest.approx(whole, rel=CLOSE)
    ((_, record),) = hit.items()
    counts = part(record)
    assert (counts.resent_calls, counts.rebuilt_calls, counts.calls_on_hosts) == tuple(
        int(policy == one) for one in POLICIES
    )
    begin = record.simulated_time_s - took(
        record
    )  # the program measures from this time, except for its end
    if policy == "resend":
        assert whole + 600e-6 < took(record) < whole + 600e-6 + 50e-6
    elif policy == "rebuild":  # routing converges after 250 us, before the third timeout
        assert took(record) == pytest.approx(300e-6 + 300e-6 + whole - begin, abs=20e-6)
    else:
        assert took(record) == pytest.approx(300e-6 + 100e-6 + on_hosts - begin, abs=30e-6)


@pytest.mark.parametrize("ppn", [1, 2])
def test_the_fastest_algorithm_repeats_in_place_of_smpis(
    faults: str, tree: str, tmp_path: Path, ppn: int
) -> None:
    recovery = f'{RECOVERY}collectives = "hosts"\n'
    table = 'switch = "level2-*"\nat = "300us"\nuntil = "890us"'
    options: Any = {"ranks": 16 * ppn, "ppn": ppn}
    times = []
    for fallback in ("best", "smpi:ompi", "smpi:default"):
        path = fault_file(tmp_path, table, recovery=recovery)
        record = allreduce(faults, tree, faults=path, fallback=fallback, **options)
        assert part(record).calls_on_hosts >= 1
        times.append(took(record))
    # The calls before and after it use the library's algorithms.
    assert times[1:] == pytest.approx(times[:1] * 2, rel=0.01)


@pytest.mark.parametrize("policy", ["rebuild", "hosts"])
def test_what_is_repeated_ends_as_much_later_as_it_was_hit(
    faults: str, tree: str, tmp_path: Path, policy: str
) -> None:
    recovery = f'{RECOVERY}collectives = "{policy}"\n'
    times = []
    for at in (300, 310):
        table = f'switch = "level2-*"\nat = "{at}us"\nuntil = "{at + 90}us"'
        record = allreduce(faults, tree, faults=fault_file(tmp_path, table, recovery=recovery))
        assert part(record).broken_calls == 1
        times.append(took(record))
    assert times[1] - times[0] == pytest.approx(10e-6, rel=CLOSE)


def test_a_switch_without_state_goes_on(faults: str, tree: str, tmp_path: Path) -> None:
    whole = took(allreduce(faults, tree))
    table = 'switch = "level2-*"\nkind = "state"\nat = "300us"'
    recovery = f'{RECOVERY}collectives = "resend"\n'
    record = allreduce(faults, tree, faults=fault_file(tmp_path, table, recovery=recovery))
    assert part(record).resent_calls == 1
    assert whole + TIMEOUT < took(record) < whole + TIMEOUT + 50e-6


def test_an_aborted_allreduce_ends_the_run(faults: str, tree: str, tmp_path: Path) -> None:
    recovery = f'{RECOVERY}collectives = "abort"\n'
    path = fault_file(tmp_path, 'switch = "level2-*"\nat = "300us"', recovery=recovery)
    record = weft.run(
        faults, ["allreduce", str(4 << 20)], ranks=16, fabric=tree, offload="stream", faults=path
    )
    assert record.outcome.kind != "completed"
    assert "is down" in record.outcome.message


@pytest.mark.parametrize("policy", POLICIES)
def test_an_allreduce_of_messages_goes_on(
    faults: str, tree: str, tmp_path: Path, policy: str
) -> None:
    whole = took(allreduce(faults, tree, offload="message"))
    on_hosts = took(allreduce(faults, tree, offload="off"))
    recovery = f'{RECOVERY}collectives = "{policy}"\n'
    hit: list[Record] = []
    for spine in range(4):
        table = f'switch = "level2-{spine}"\nat = "500us"\nuntil = "1090us"'
        path = fault_file(tmp_path, table, recovery=recovery)
        record = allreduce(faults, tree, offload="message", faults=path)
        if part(record).broken_calls:
            hit.append(record)
        else:
            assert took(record) == pytest.approx(whole, rel=CLOSE)
    (record,) = hit
    counts = part(record)
    assert (counts.resent_calls, counts.rebuilt_calls, counts.calls_on_hosts) == tuple(
        int(policy == one) for one in POLICIES
    )
    # The program measures from this time, except for its end.
    begin = record.simulated_time_s - took(record)
    timeouts = {"resend": 6, "rebuild": 3, "hosts": 1}[policy]
    repeated = on_hosts if policy == "hosts" else whole
    expected = 500e-6 + timeouts * TIMEOUT + repeated - begin
    assert took(record) == pytest.approx(expected, abs=30e-6)


def test_a_message_to_a_switch_takes_another_way(faults: str, tree: str, tmp_path: Path) -> None:
    path = fault_file(tmp_path, 'link = "level1-0--level2-*"\nat = "500us"\nuntil = "690us"')
    record = allreduce(faults, tree, offload="message", faults=path)
    assert part(record).broken_calls == 0
    assert part(record).cut == part(record).resumed > 0


def test_faults_after_the_end_change_nothing(faults: str, tree: str, tmp_path: Path) -> None:
    path = fault_file(tmp_path, 'switch = "*"\nat = "10s"')

    def without_times(record: Record) -> Any:
        values = record.check().to_json()
        for field in ("wall_time_s", "cpu_time_s", "peak_memory_bytes", "faults", "run"):
            values.pop(field, None)
        return values

    for offload in ("off", "stream", "message", "multicast"):
        options: dict[str, Any] = {"ranks": 8, "ppn": 2, "fabric": tree, "offload": offload}
        arguments = ["mixed", "65536", "2"]
        late = weft.run(faults, arguments, faults=path, **options)
        assert without_times(late) == without_times(weft.run(faults, arguments, **options))
        assert part(late).left_events > 0


# ---- Hosts and NICs


def test_a_host_that_dies_ends_its_job(jobs: str, tree: str, tmp_path: Path) -> None:
    described = [
        job("far", jobs, "flow", LARGE, ranks=2, hosts="host-[00,12]"),
        job("near", jobs, "flow", LARGE, ranks=2, hosts="host-[01,02]"),
    ]
    path = fault_file(tmp_path, 'host = "host-12"\nat = "200us"')
    record = weft.run_jobs(described, fabric=tree, faults=path)
    assert record.jobs
    by_name = {one.name: one for one in record.jobs}
    assert by_name["near"].outcome.kind == "completed"
    assert by_name["far"].outcome.kind == "host-failure"
    message = "host host-12 failed at 200us, and with it rank 1"
    assert by_name["far"].outcome.message == message
    assert by_name["far"].end_s == pytest.approx(200e-6, rel=CLOSE)


def test_the_ranks_of_a_host_that_dies_are_named(faults: str, tree: str, tmp_path: Path) -> None:
    path = fault_file(tmp_path, 'host = "host-01"\nat = "5us"')
    record = weft.run(faults, ["mixed", "65536", "2"], ranks=8, ppn=2, fabric=tree, faults=path)
    assert record.outcome.kind == "host-failure"
    assert record.outcome.message == "host host-01 failed at 5us, and with it ranks 2, 3"


# ---- Links that lose packets

LOSSES = 'packet = "4KiB"\ngo_back = "12KiB"\nseed = {}\n'


def test_a_message_sends_lost_packets_again(jobs: str, tree: str, tmp_path: Path) -> None:
    def with_fault(table: str, seed: int = 1) -> tuple[float, int]:
        path = fault_file(tmp_path, table, recovery=RECOVERY + LOSSES.format(seed))
        record = far(jobs, tree, path)
        return float(said(record, "far")[0]), part(record).lost

    alone = float(said(far(jobs, tree), "far")[0])
    half, _ = with_fault('link = "host-12"\nkind = "slow"\nbandwidth = "50%"\nat = 0')
    lossy = 'link = "host-12.down"\nkind = "lossy"\nloss = "10%"\nat = 0'
    times: dict[int, float] = {}
    for seed in range(20):
        time, lost = with_fault(lossy, seed)
        times[lost] = time
    effort = (1 + 3 * 0.1) / 0.9
    assert times[0] == pytest.approx(alone + (half - alone) * (effort - 1), rel=CLOSE)
    assert times[1] - times[0] == pytest.approx(TIMEOUT, abs=10e-6)  # and a packet


def test_lost_packets_stall_the_slots_of_an_allreduce(faults: str, tmp_path: Path) -> None:
    def took_with(timeout_us: int) -> float:
        """Return the time of a run in which no packet of the last window is lost."""
        times = []
        for seed in range(8):
            recovery = f'timeout = "{timeout_us}us"\n' + LOSSES.format(seed)
            table = 'link = "host-0.up"\nkind = "lossy"\nloss = "0.1%"\nat = 0'
            path = fault_file(tmp_path, table, recovery=recovery)
            times.append(took(allreduce(faults, "tofino-4", ranks=4, faults=path)))
        assert max(times) - min(times) >= timeout_us * 1e-6
        return min(times)

    switch = tomllib.loads(paths.installed("presets", "switch", "tofino.toml").read_text())
    windows = ((4 << 20) // 256 - 1) // switch["slots"]
    stall = 1000e-6 * 0.001 / 0.999
    first, second, third = map(took_with, (1000, 2000, 3000))
    assert second - first == pytest.approx(windows * stall, rel=CLOSE)
    assert third - second == pytest.approx(windows * stall, rel=CLOSE)


def test_later_calls_avoid_what_is_down(faults: str, tree: str, tmp_path: Path) -> None:
    whole = took(allreduce(faults, tree))
    for spine in range(4):
        path = fault_file(tmp_path, f'switch = "level2-{spine}"\nat = 0')
        record = weft.run(
            faults,
            ["allreduce", str(4 << 20), "5"],
            ranks=16,
            fabric=tree,
            offload="stream",
            faults=path,
        ).check()
        assert took(record) < 7 * whole + 1e-3
        paths = {one.path for one in record.collectives if one.collective == "allreduce"}
        assert paths == {"stream"}  # over another spine


# ---- Results


# tests/python/stress draws more faults, with other programs and options.
@pytest.mark.parametrize("seed", range(10))
def test_results_are_those_without_faults(faults: str, tmp_path: Path, seed: int) -> None:
    survive_random_faults(seed, faults, tmp_path)


def test_same_seed_same_record(faults: str, tree: str, tmp_path: Path) -> None:
    def made(seed: int) -> Any:
        table = f'link = "level1-*"\nmtbf = "1ms"\nrepair = "90us"\nend = "3ms"\nseed = {seed}'
        path = fault_file(tmp_path, table)
        record = weft.run(faults, ["mixed", "4096", "3"], ranks=16, fabric=tree, faults=path)
        values = record.check().to_json()
        for field in ("wall_time_s", "cpu_time_s", "peak_memory_bytes"):
            values.pop(field, None)
        return values

    assert made(1) == made(1)
    assert made(1)["faults"] != made(2)["faults"]


# ---- Wrong files


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('link = "host-0"', "at: is missing, but required"),
        ('at = "1us"', "number 1: link: write one of link, switch, nic, host; found none"),
        ('link = "a"\nhost = "b"\nat = 0', "host: write one of link, switch, nic, host; found"),
        ('link = "no"\nat = 0', "link: found 'no', which is no link of fabric tofino-4"),
        ('switch = "swich"\nat = 0', "switch: found 'swich', which is no switch of fabric"),
        ('link = "host-0"\nat = "2us"\nuntil = "1us"', "until: found '1us', which is not after"),
        ('link = "host-0"\nat = "-2us"', "at: found '-2us'"),
        ('link = "host-0"\nat = 0\nkind = "gone"', "kind: found 'gone'; allowed are down, slow"),
        ('nic = "host-9"\nat = 0', "nic: found 'host-9', which is no host of fabric tofino-4"),
        ('switch = "*"\nat = 0\nkind = "lossy"\nloss = "1%"', "that is for links and NICs"),
        ('link = "host-0"\nat = 0\nkind = "lossy"', 'loss: belongs to kind = "lossy", which'),
        ('link = "host-0"\nat = 0\nkind = "lossy"\nloss = "0%"', "loss: found '0%'; write a part"),
        ('link = "host-0"\nat = 0\nkind = "slow"', 'bandwidth: belongs to kind = "slow", which'),
        ('link = "host-0"\nat = 0\nbandwidth = "5%"', 'bandwidth: belongs to kind = "slow"; leave'),
        (
            'link = "host-0"\nat = 0\nkind = "slow"\nbandwidth = "150%"',
            "bandwidth: found '150%'; write a part below 100 per cent",
        ),
        ('host = "host-0"\nat = 0\nkind = "state"', 'kind: found "state"; that is for switches'),
        ('link = "host-0"\nat = 0\nmtbf = "1s"', "at: found together with mtbf"),
        ('link = "host-0"\nmtbf = "1s"\nend = "2s"', "repair: is missing, but required"),
        ('link = "host-0"\nmtbf = "1s"\nrepair = "1s"', "end: is missing, but required"),
        ('link = "host-0"\nat = 0\nseed = 3', "seed: is a key of faults at random; write mtbf"),
        ('link = "host-0"\nat = 0\nuntill = "1s"', "untill: no such key; did you mean until"),
        (
            'link = "*"\nmtbf = "1us"\nrepair = "99us"\nend = "1s"',
            "mtbf: found '1us' with repair = '99us': each would be down 99.0% of the time",
        ),
        ('link = "*"\nmtbf = "1ns"\nrepair = "1ns"\nend = "1s"', "mtbf: the file has more than"),
    ],
)
def test_wrong_tables_are_refused(faults: str, tmp_path: Path, table: str, message: str) -> None:
    path = fault_file(tmp_path, table)
    options = ("--fabric", "tofino-4", "-n", "2", "--faults", path)
    result = weft_says("run", *options, faults, "allreduce", "4")
    assert result.returncode == 2
    assert message in result.stderr
    assert path in result.stderr
    assert result.stderr.count("\n") == 1


def test_contradictions_and_wrong_recovery_are_refused(faults: str, tmp_path: Path) -> None:
    def says(path: str, *more: str) -> str:
        options = ("--fabric", "tofino-4", "-n", "2", "--faults", path, *more)
        result = weft_says("run", *options, faults, "allreduce", "4")
        assert result.returncode == 2
        return result.stderr

    tables = ('link = "host-0"\nat = "1us"\nuntil = "2us"', 'host = "host-0"\nat = "2us"')
    assert "another table contradicts: " in says(fault_file(tmp_path, *tables))
    down = 'link = "host-0"\nat = 0'
    assert "timeout: found '0s'" in says(fault_file(tmp_path, down, recovery='timeout = "0s"\n'))
    wrong = fault_file(tmp_path, down, recovery='collectives = "retry"\n')
    assert "collectives: found 'retry'; allowed are resend, rebuild" in says(wrong)
    assert "faults do not reach SMPI's messages; run with --messages weft" in says(
        fault_file(tmp_path, down), "--messages", "smpi"
    )
    assert "faults need weft's own network" in says(
        fault_file(tmp_path, down), "--cfg", "network/weight-S:20537"
    )
