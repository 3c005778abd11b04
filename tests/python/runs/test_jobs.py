# SPDX-License-Identifier: LGPL-2.1-only
"""Several jobs in one run: their results, times, failures and records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import FAILURES, job, outcome, part, results, said
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record

TIMES = ("wall_time_s", "cpu_time_s", "peak_memory_bytes", "command", "jobs")
"""Fields of records that differ between equal runs, or between runs with and without a jobs file.
"""
CLOSE = 1e-9
ENVELOPE = 16
"""Bytes that SMPI adds to a message."""


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


# ---- Alone


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_a_job_alone_gives_the_record_of_a_run(jobs: str, offload: str) -> None:
    options: Any = {"fabric": "tofino-16", "offload": offload}
    run = weft.run(jobs, ["sum", "3"], ranks=8, **options)
    alone = weft.run_jobs([job("only", jobs, "sum", 3, ranks=8)], **options)
    assert [line.removeprefix("only: ") for line in alone.output.splitlines()] == ["right"]
    first, second = run.to_json(), alone.to_json()
    for name in TIMES:
        first.pop(name, None)
        second.pop(name, None)
    assert first == second
    only = part(alone, "only").to_json()
    assert only["collectives"] == first["collectives"]
    assert only["profile"] == first["profile"]


def test_jobs_have_their_own_arguments_variables_and_environment(jobs: str) -> None:
    record = weft.run_jobs(
        [
            job("a", jobs, "words", 1, "x", ranks=2, environment={"JOB": "first"}),
            job("b", jobs, "words", ranks=3, environment={"JOB": "second"}, start="1ms"),
        ],
        fabric="tofino-16",
    )
    assert sorted(said(record, "a")) == [
        f"rank {rank} of 2: 3 arguments, JOB=first, counter {rank}" for rank in range(2)
    ]
    assert sorted(said(record, "b")) == [
        f"rank {rank} of 3: 1 arguments, JOB=second, counter {rank}" for rank in range(3)
    ]
    assert part(record, "b").start_s == 0.001
    assert part(record, "b").end_s > 0.001
    assert part(record, "a").end_s < 0.001


def test_a_trace_runs_beside_a_program(jobs: str, tmp_path: Path) -> None:
    weft.record_trace(jobs, tmp_path / "trace", arguments=["sum", "2"], ranks=4, fabric="tofino-16")
    alone = weft.replay(tmp_path / "trace", fabric="tofino-16")
    record = weft.run_jobs(
        [
            {"name": "t", "trace": str(tmp_path / "trace")},
            job("p", jobs, "sum", 2),
            {"name": "u", "trace": str(tmp_path / "trace")},
        ],
        fabric="tofino-16",
    )
    assert said(record, "p") == ["right"]
    for name in ("t", "u"):
        assert part(record, name).end_s == pytest.approx(alone.simulated_time_s, rel=CLOSE)
        assert part(record, name).replayed == str(tmp_path / "trace")


@pytest.mark.parametrize("form", ["waitany", "waitsome", "testall", "testany", "testsome"])
def test_completions_take_the_same_time_in_a_trace_and_beside_a_job_that_polls(
    tmp_path: Path, form: str
) -> None:
    """SMPI's polling option costs nothing in a call that completes some of its requests."""
    program, fabric = str(compiled.program(TESTS / "smpi" / "recorded.c")), "tofino-16"
    trace, run = tmp_path / "trace", tmp_path / "run.json"
    options = ("--fabric", fabric, "--offload", "off", "-n", "4", "--record", str(trace))
    assert weft_says("run", "-q", *options, "--json", str(run), program, form).returncode == 0
    ran_s = weft.read_record(run).simulated_time_s
    assert 0 < ran_s < 3e-4  # SMPI's unsuccessful tests take 100 us, 200 us, …
    assert weft.replay(trace, fabric=fabric, offload="off").simulated_time_s == pytest.approx(ran_s)
    record = weft.run_jobs(
        [
            job("program", program, form),
            {"name": "trace", "trace": str(trace)},
            job("polls", program, "testall"),
        ],
        fabric=fabric,
        offload="off",
    )
    for name in ("program", "trace"):
        assert part(record, name).end_s == pytest.approx(ran_s, rel=CLOSE)


def test_output_goes_to_a_file(jobs: str, tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    record = weft.run_jobs(
        [job("a", jobs, "sum", output=str(file)), job("b", jobs, "sum")], fabric="tofino-16"
    )
    assert file.read_text() == "right\n"
    assert record.output == "b: right\n"


# ---- Sharing


def flows(jobs: str, *sizes: int) -> list[float]:
    """Return the times of messages of these sizes between the same two hosts."""
    tables = [
        job(f"f{number}", jobs, "flow", size, ranks=2, hosts="host-[0,1]")
        for number, size in enumerate(sizes)
    ]
    record = weft.run_jobs(tables, shared_hosts=True, fabric="tofino-4")
    record.check()
    return [float(said(record, table["name"])[0]) for table in tables]


def test_jobs_share_a_link_and_give_their_share_back(jobs: str) -> None:
    small, large = 4 << 20, 8 << 20
    (of_small,), (of_large,) = flows(jobs, small), flows(jobs, large)
    rate = (large - small) / (of_large - of_small)  # of an isolated message
    more = (small + ENVELOPE) / rate
    assert flows(jobs, small, small) == pytest.approx([of_small + more] * 2, rel=CLOSE)
    # Each message gets half of the link until the small one ends; then the large one gets all of
    # it.
    expected = [of_small + more, of_large + more]
    assert flows(jobs, small, large) == pytest.approx(expected, rel=CLOSE)


def reasons(record: Record, name: str) -> set[str]:
    """Return the reasons of a job's Allreduces, "" if offloaded."""
    return {row.reason for row in part(record, name).collectives if row.collective == "allreduce"}


@pytest.mark.parametrize(
    ("sharing", "channels", "refused"),
    [
        ("first-come", 1, "no free channel"),
        ("first-come", 2, ""),
        ("exclusive", 8, "locked by another job"),
        ("quota", 2, ""),
        ("reserved", 2, ""),
        ("reserved", 1, "reserved by other jobs"),
    ],
)
def test_jobs_share_channels_by_policy(
    jobs: str, sharing: str, channels: int, refused: str
) -> None:
    tables = [
        job("first", jobs, "sum", 20, ranks=2, hosts="host-[00,01]"),
        job("second", jobs, "sum", 1, ranks=2, hosts="host-[02,03]", start="20us"),
        job("later", jobs, "sum", 1, ranks=2, hosts="host-[04,05]", start="100ms"),
    ]
    record = weft.run_jobs(
        tables,
        fabric="tofino-16",
        set={
            "switch.channels": channels,
            "switch.slots": 16,
            "switch.channel_sharing": sharing,
        },
    )
    record.check()
    assert refused in reasons(record, "second")
    assert "" in reasons(record, "later")  # the other jobs have released their channels


def test_a_job_locks_the_links_on_which_it_streams(jobs: str) -> None:
    """A later job on these links uses slots, as if none streamed; a job on other links streams."""
    places = ["host-[00-03]", "host-[02-05]", "host-[06-09]"]
    starts = ["0s", "50us", "50us"]  # in the middle of the first job's calls
    tables = [
        job(f"j{number}", jobs, "sum", 20 if number == 0 else 1, ranks=4, hosts=place, start=start)
        for number, (place, start) in enumerate(zip(places, starts, strict=True))
    ]
    switch: dict[str, Any] = {
        "switch.payload": "16B",
        "switch.slots": 1,
        "switch.turnaround": "1ms",
    }

    def slowest(number: int, **changes: Any) -> float:
        record = weft.run_jobs(tables, shared_hosts=True, fabric="tofino-16", set=switch | changes)
        record.check()
        rows = part(record, f"j{number}").collectives
        return max(float(row.max_time_s) for row in rows if row.collective == "allreduce")

    streams: Any = {"switch.streaming_from": "256B"}
    locked = streams | {"switch.stream_sharing": "locked"}
    in_slots = 15e-3  # 256 B are 16 packets
    assert slowest(1, **streams) < in_slots < slowest(1, **locked)
    assert slowest(2, **locked) < in_slots
    assert slowest(0, **locked) < in_slots


def test_packets_without_a_slot_go_through_a_server() -> None:
    """If a long call occupies half of the pool, half of a call goes through the server."""
    program = str(compiled.example("allreduce_latency"))
    size, ranks = 1 << 18, 4
    overhead, latency, forwarding = 2e-6, 1e-6, 0.5e-6
    long = job("long", program, 1 << 28, 1, ranks=2)
    short = job("short", program, f"{size},{2 * size}", 1, ranks=ranks, start="5ms")
    changes: dict[str, Any] = {
        "switch.channel_sharing": "best-effort",
        "switch.channels": 2,
        "switch.slots": 256,
        "switch.total_slots": 512,
        "switch.turnaround": "0s",
        "nic.offload_copy_rate": "1000GBps",
        "switch.forwarding_latency": f"{forwarding}s",
        "link.latency": f"{latency}s",
        "nic.offload_overhead": f"{overhead}s",
    }

    def run(*tables: dict[str, Any]) -> Record:
        record = weft.run_jobs(tables, fabric="tofino-16", set=changes)
        record.check()
        return record

    def times(record: Record) -> list[float]:
        lines = map(str.split, said(record, "short"))
        return [float(words[1]) * 1e-6 for words in lines if words[0].isdigit()]

    beside = run(long, short)
    alone, twice = times(run(short))
    on_link = twice - alone  # for a vector of this size
    to_server_and_back = 2 * latency + forwarding + overhead
    part = 256 / 512
    expected = [
        time + to_server_and_back + vectors * on_link * ((1 - part) + part * (ranks - 1) - 1)
        for time, vectors in ((alone, 1), (twice, 2))
    ]
    assert times(beside) == pytest.approx(expected, rel=1e-6)  # printed with about six digits
    (switch,) = beside.switches
    assert switch.slots_used_max == 256 + 128
    assert switch.packets_passed_on == 2 * (size + 2 * size) // 256 * part


def test_a_quota_limits_the_communicators_of_a_job(jobs: str) -> None:
    record = weft.run_jobs(
        [job("a", jobs, "sum", 2, ranks=4)],
        fabric="tofino-16",
        set={"switch.channel_sharing": "quota", "switch.job_channels": 1},
    )
    assert reasons(record, "a") == {"", "job quota"}  # of the world and its copy


def test_each_job_chooses_its_mechanism(jobs: str) -> None:
    record = weft.run_jobs(
        [
            job("switch", jobs, "sum"),
            job("hosts", jobs, "sum", offload="off", fallback="allreduce=ring"),
        ],
        fabric="tofino-16",
    )
    paths = {
        one.name: {row.way for row in one.collectives if row.collective == "allreduce"}
        for one in record.jobs or ()
    }
    assert paths == {"switch": {"stream"}, "hosts": {"ring"}}
    calls = {
        one.name: sum(row.calls for row in one.collectives if row.collective == "allreduce")
        for one in record.jobs or ()
    }
    assert calls == {"switch": 2, "hosts": 2}
    assert sum(row.calls for row in record.collectives if row.collective == "allreduce") == 4


def test_tools_see_the_options_of_their_job() -> None:
    tools = str(compiled.program(TESTS / "smpi" / "tools.c"))  # expects `message` and fat-tree-8
    tables = [
        job("switch", tools, "check", offload="message"),
        job("hosts", tools, "check"),
    ]
    record = weft.run_jobs(tables, fabric="fat-tree-8", offload="off")
    assert outcome(record, "switch") == ("completed", 0)
    assert said(record, "switch") == ["right"] * 4
    assert outcome(record, "hosts") == ("early-exit", 1)
    assert set(said(record, "hosts")) == {"wrong: the option offload"}


# ---- Failures


@pytest.fixture(scope="module")
def undisturbed(jobs: str) -> dict[str, dict[str, Any]]:
    """Return the results of two jobs that run with a successful third job."""
    return beside(jobs, "sum", 2)[1]


def beside(jobs: str, *third: object) -> tuple[Record, dict[str, dict[str, Any]]]:
    tables = [
        job("long", jobs, "sum", 40),
        job("late", jobs, "sum", 3, start="200us"),
        job("third", jobs, *third),
    ]
    record = weft.run_jobs(tables, fabric="tofino-16")
    return record, {name: results(record, name) for name in ("long", "late")}


@pytest.mark.parametrize("how", FAILURES)
def test_a_failed_job_leaves_the_others_alone(
    jobs: str, undisturbed: dict[str, dict[str, Any]], how: str
) -> None:
    record, others = beside(jobs, how, 1)
    assert outcome(record, "third") == FAILURES[how]
    assert others == undisturbed
    assert others["long"]["said"] == ["right"]
    assert record.outcome.kind == "job-failed"
    assert record.exit_status == FAILURES[how][1]
    assert record.outcome.message.startswith("job third: ")
    if how == "hang":
        assert "Ranks that have not ended: 0, 1, 2, 3" in record.outcome.message


def test_all_jobs_may_fail(jobs: str) -> None:
    tables = [job(f"j{number}", jobs, how, number) for number, how in enumerate(["abort", "crash"])]
    record = weft.run_jobs(tables, fabric="tofino-16")
    assert outcome(record, "j0") == ("abort", 3)
    assert outcome(record, "j1") == ("signal", 139)
    assert record.exit_status == 3
    assert "2 of 2 jobs failed" in record.outcome.message


def test_a_job_alone_may_fail(jobs: str) -> None:
    record = weft.run_jobs([job("only", jobs, "abort", 1)], fabric="tofino-16")
    run = weft.run(jobs, ["abort", "1"], ranks=4, fabric="tofino-16")
    assert record.outcome == run.outcome
    assert record.exit_status == run.exit_status == 4


def test_a_job_starts_although_all_others_have_failed(jobs: str) -> None:
    tables = [
        job("crashed", jobs, "crash", 1),
        job("stuck", jobs, "hang", 1),
        job("late", jobs, "sum", 2, start="10ms"),
    ]
    record = weft.run_jobs(tables, fabric="tofino-16")
    assert outcome(record, "late") == ("completed", 0)
    assert said(record, "late") == ["right"]
    assert outcome(record, "stuck") == ("deadlock", 1)
    assert part(record, "stuck").end_s == part(record, "late").end_s


def test_jobs_of_a_run_that_is_stopped_are_unfinished(jobs: str) -> None:
    tables = [job("long", jobs, "sum", 10**9), job("late", jobs, "sum", start="1000s")]
    record = weft.run_jobs(tables, fabric="tofino-16", timeout=1)
    assert record.outcome.kind == "timeout"
    assert [one.outcome.kind for one in record.jobs or ()] == ["unfinished", "unfinished"]


# ---- Command line and bad input


def test_the_command_line_prints_a_table(jobs: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text(
        f'[[jobs]]\nname = "a"\nprogram = "{jobs}"\nranks = 4\n'
        f'[[jobs]]\nname = "b"\nprogram = "{jobs}"\narguments = ["abort", "2"]\nranks = 3\n'
    )
    result = weft_says("run", "--fabric", "tofino-16", "--jobs", str(file))
    assert result.returncode == 5
    assert result.stdout == "a: right\n"
    assert "job a\n" in result.stderr
    assert "weft: job b: rank 2 called MPI_Abort with error code 5\n" in result.stderr


def refused(tables: Sequence[dict[str, Any]], **options: Any) -> str:
    with pytest.raises(weft.WeftError) as error:
        weft.run_jobs(tables, **{"fabric": "tofino-16", **options})
    return str(error.value)


TOPOLOGY = """# a cluster
SwitchName=leaf0 Nodes=node[001-008]
SwitchName=leaf1 \\
  Nodes=node[009-012],big[1-4]
SwitchName=spine Switches=leaf[0-1]
"""


def jobs_of_nodes(folder: Path, program: str, nodes: str, topology: str = TOPOLOGY) -> Path:
    (folder / "topology.conf").write_text(topology)
    file = folder / "jobs.toml"
    file.write_text(
        f'topology = "topology.conf"\n[[jobs]]\nname = "a"\nprogram = "{program}"\n'
        f'ranks = 3\nhosts = "{nodes}"\n'
    )
    return file


def test_hosts_are_the_nodes_of_a_cluster(jobs: str, tmp_path: Path) -> None:
    file = jobs_of_nodes(tmp_path, jobs, "node[008-009],big2")
    record = weft.run_jobs(file, fabric="fat-tree-1024")
    assert part(record, "a").hosts == ["host-0007", "host-0008", "host-0013"]


SCONTROL = """SwitchName=spine Level=1 LinkSpeed=1 Nodes=node[001-012],big[1-4] Switches=leaf[0,1]
SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=node[001-008]
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[009-012],big[1-4]
"""
TOPOLOGY_YAML = """---
- topology: flat
  flat: true
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: leaf[0-1]
      - switch: leaf0
        nodes: node[001-008]
      - switch: leaf1
        nodes: node[009-012],big[1-4]
"""


@pytest.mark.parametrize("topology", [SCONTROL, TOPOLOGY_YAML], ids=["scontrol", "yaml"])
def test_other_forms_of_slurms_topology(jobs: str, tmp_path: Path, topology: str) -> None:
    file = jobs_of_nodes(tmp_path, jobs, "node[008-009],big2", topology)
    record = weft.run_jobs(file, fabric="fat-tree-1024")
    assert part(record, "a").hosts == ["host-0007", "host-0008", "host-0013"]


def test_nodes_that_do_not_fit_are_refused(jobs: str, tmp_path: Path) -> None:
    def problem(nodes: str, topology: str, fabric: str = "fat-tree-1024") -> str:
        file = jobs_of_nodes(tmp_path, jobs, nodes, topology)
        with pytest.raises(weft.WeftError) as error:
            weft.run_jobs(file, fabric=fabric)
        return str(error.value).removeprefix(f"{file}: ")

    assert "hosts: topology has no node node099" in problem("node099", TOPOLOGY)
    conf = f"{tmp_path / 'topology.conf'}"
    assert problem("n1", "").startswith(f"topology: {conf}: no switch has Nodes; write lines")
    assert problem("n1", "Nodes=n1\n") == f"topology: {conf}: line 1 has Nodes, and no SwitchName"
    assert problem("n1", "SwitchName=s Nodes=n[1-9]\n") == (
        f"topology: {conf} does not fit fabric fat-tree-1024: s has 9 nodes, and the switch of the"
        " fabric in its place 8 hosts"
    )
    assert problem("n1", "SwitchName=s Nodes=n1\nSwitchName=t Nodes=n2\n", "tofino-16") == (
        f"topology: {conf} does not fit fabric tofino-16: it has 2 switches with nodes, and the"
        " fabric 1 with hosts"
    )
    twice = "SwitchName=s Nodes=n1\nSwitchName=t Nodes=n1\n"
    assert problem("n1", twice).endswith("n1 is on two switches")


def test_bad_jobs_get_one_message_each(jobs: str, tmp_path: Path) -> None:
    a = job("a", jobs)
    place = 'jobs: [[jobs]] name = "a": '
    assert refused([]) == "jobs: [jobs]: is missing; write a table [[jobs]] for each job"
    assert refused([a, a]) == f"{place}name: two jobs have this name; give each its own"
    assert refused([{**a, "rank": 1}]).startswith(f"{place}rank: no such key; did you mean ranks")
    assert refused([{**a, "ranks": 0}]).startswith(f"{place}ranks: found 0; allowed is")
    assert refused([{**a, "start": "-1ms"}]).startswith(f"{place}start: found '-1ms'")
    assert refused([{**a, "program": "./none"}]).startswith(f"{place}program: cannot find ./none")
    assert refused([{**a, "placement": "near"}]).startswith(
        f"{place}placement: found 'near'; allowed are contiguous, round-robin, random, fragments"
    )
    assert refused([{**a, "hosts": "host-99"}]).startswith(f"{place}hosts: fabric tofino-16 has no")
    assert refused([{**a, "fallback": "smpi:ompi"}]).startswith(f"{place}fallback: found 'smpi:")
    assert "which need 17 hosts" in refused([{**a, "ranks": 17, "ppn": 1}])
    assert "of which jobs before it occupy 4" in refused([a, {**a, "name": "b", "ranks": 1000}])
    both = [{**a, "hosts": "host-[00-03]"}, {**a, "name": "b", "hosts": "host-[03-06]"}]
    assert "hosts: job a occupies host-03" in refused(both)
    weft.record_trace(jobs, tmp_path / "trace", ranks=4, fabric="tofino-16")
    trace = {"name": "a", "trace": str(tmp_path / "trace"), "ranks": 5}
    assert refused([trace]).startswith(f"{place}ranks: found 5; the trace")
    assert refused([a], platform="x.xml", fabric=None).startswith("platform: found together with")
    assert refused([{**a, "output": jobs}]).startswith(f"{place}output: {jobs} is a file that the")
    assert refused([a], ppn=2).startswith("ppn: found together with jobs")
    assert refused([a], cfg=["contexts/factory:thread"]).startswith(
        "cfg: found contexts/factory:thread together with jobs"
    )


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("network/model:CM02", "SimGrid options change its network model"),
        ("network/crosstraffic:yes", "SimGrid options change its network model"),
        ("network/weight-S:20537", "SimGrid options change its network model"),
        ("maxmin/concurrency-limit:10", "SimGrid options change its network model"),
        ("plugin:link_energy", "a SimGrid plugin may observe messages"),
    ],
)
def test_options_that_need_other_transports_are_refused(jobs: str, option: str, why: str) -> None:
    """Each error names the option as the user wrote it."""
    message = refused([job("a", jobs)], cfg=[option])
    assert message.startswith(f"--jobs: messages of jobs need weft's own network, and {why}")
    assert message.endswith(f" (--cfg {option}); leave that option out")


def test_other_transports_are_refused(jobs: str) -> None:
    a = job("a", jobs)
    assert refused([a], messages="smpi").startswith("messages: found smpi together with jobs")


@pytest.mark.parametrize("offload", ["off", "auto"])
def test_rules_that_cannot_be_followed_end_their_job(
    jobs: str, tmp_path: Path, offload: str
) -> None:
    """The algorithm smp contains an Allreduce of one rank per host, here the same call."""
    path = tmp_path / "own.toml"
    path.write_text('[[rule]]\ncollective = "allreduce"\nalgorithm = ["smp"]\n')
    described = [
        job("a", jobs, "sum", 3, fallback=str(path), offload=offload, ppn=1),
        job("b", jobs, "sum", 3),
    ]
    record = weft.run_jobs(described, fabric="tofino-16", offload="off")
    assert outcome(record, "a") == ("refused", 1)
    assert "select an algorithm that contains the same call" in part(record, "a").outcome.message
    assert outcome(record, "b") == ("completed", 0)
    assert said(record, "b") == ["right"]


@pytest.mark.parametrize("how", ["same", "spelled", "symlink", "hard link"])
def test_an_output_of_a_job_is_no_other_output(jobs: str, tmp_path: Path, how: str) -> None:
    record, output = tmp_path / "run.json", tmp_path / "output"
    if how == "same":
        output = record
    elif how == "spelled":
        output = tmp_path / ".." / tmp_path.name / "run.json"
    elif how == "symlink":
        output.symlink_to(record)
    else:
        record.write_text("")
        output.hardlink_to(record)
    path = tmp_path / "jobs.toml"
    path.write_text(
        f'[[jobs]]\nname = "a"\nprogram = "{jobs}"\narguments = ["sum", "1"]\nranks = 2\n'
        f'output = "{output}"\n'
    )
    options = ("run", "--fabric", "tofino-4", "--jobs", str(path), "--json", str(record))
    result = weft_says(*options)
    assert result.returncode == 2
    assert f'[[jobs]] name = "a": output: {output} is the file of --json too; name another one' in (
        result.stderr
    )


def test_outputs_of_jobs_are_different_files(jobs: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("")
    second.hardlink_to(first)
    tables = [job("a", jobs, output=str(first)), job("b", jobs, output=str(second))]
    assert refused(tables).endswith(f"output: found {second}, which job a writes too")
