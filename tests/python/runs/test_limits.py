# SPDX-License-Identifier: LGPL-2.1-only
"""Runs that cannot fit are refused before they start, in one error with both numbers."""

import os
import resource
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import compiled, simulated
from tests.support.places import ROOT
from tests.support.simulated import Program
from weft.base import process
from weft.base.errors import WeftError
from weft.base.machine import Machine
from weft.runs import limits
from weft.runs.launch import prepare, run
from weft.runs.limits import ResourceInputs, StartResources
from weft.runs.request import Request

GIB = 1 << 30
MILLION = 1 << 20


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine without control groups, with 8 of 16 GiB free."""
    proc = tmp_path / "proc"
    for folder in ("self", "sys/vm", "sys/kernel"):
        (proc / folder).mkdir(parents=True)
    (proc / "meminfo").write_text(
        "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nSwapFree: 0 kB\n"
    )
    (proc / "sys/vm/max_map_count").write_text("65530\n")
    (proc / "sys/kernel/threads-max").write_text("30000\n")
    return Machine(proc, tmp_path / "cgroup", tmp_path)


def refusal(needs: ResourceInputs, machine: Machine) -> str:
    with pytest.raises(WeftError) as error:
        limits.check(needs, machine)
    assert error.value.exit_status == 2
    return str(error.value)


def test_a_run_that_fits_is_not_refused(machine: Machine) -> None:
    limits.check(ResourceInputs(ranks=65536, links=393216), machine)


def test_more_memory_than_there_is_is_told_with_both_numbers(machine: Machine) -> None:
    said = refusal(ResourceInputs(ranks=4 * MILLION), machine)
    assert said.startswith("memory: the run needs at least ")
    assert "(4,194,304 ranks), and this machine has 8 GiB left; take fewer ranks" in said


def forecast(needs: ResourceInputs, machine: Machine) -> str:
    return limits.forecast(needs, StartResources.seen(machine))


def test_little_memory_for_data_is_told_with_what_helps(machine: Machine) -> None:
    said = forecast(ResourceInputs(ranks=65536), machine)
    assert said.startswith("memory: 65,536 ranks need at least 404 MiB, and this machine has 8 GiB")
    assert "left: 122 KiB for the data of each rank" in said
    assert "--cfg smpi/auto-shared-malloc-thresh:4096 shares blocks" in said
    assert "Linux allows 65,530: raise it first (as root, sysctl vm.max_map_count=264144)" in said
    told = ("smpi/auto-shared-malloc-thresh:4096",)
    assert "shares blocks" not in forecast(ResourceInputs(ranks=65536, settings=told), machine)
    (machine.proc / "sys/vm/max_map_count").write_text("1000000\n")
    assert "vm.max_map_count" not in forecast(ResourceInputs(ranks=65536), machine)
    assert forecast(ResourceInputs(ranks=1024), machine) == ""


def test_variables_of_copies_are_in_the_forecast(program: Program, machine: Machine) -> None:
    copied = (Path(program("first.c")),)
    before = forecast(ResourceInputs(ranks=65536), machine)
    said = forecast(ResourceInputs(ranks=65536, copied=copied), machine)
    assert said != before
    assert "if the program writes no global variable" in said


def test_swap_counts(machine: Machine) -> None:
    meminfo = machine.proc / "meminfo"
    meminfo.write_text("MemAvailable: 8388608 kB\nSwapFree: 999999999 kB\n")
    limits.check(ResourceInputs(ranks=4 * MILLION), machine)


@pytest.mark.parametrize("version", [1, 2])
def test_the_least_of_the_control_groups_counts(machine: Machine, version: int) -> None:
    listed = {1: "4:cpu,memory:/outer/inner\n0::/\n", 2: "0::/outer/inner\n"}[version]
    (machine.proc / "self/cgroup").write_text(listed)
    root = machine.cgroups / "memory" if version == 1 else machine.cgroups
    (root / "outer/inner").mkdir(parents=True)
    most, used, stat = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        2: ("memory.max", "memory.current", "inactive_file"),
    }[version]
    (root / "outer/inner" / most).write_text("max" if version == 2 else str((1 << 63) - 4096))
    (root / "outer" / most).write_text(str(2 * GIB))
    (root / "outer" / used).write_text(str(GIB))
    (root / "outer" / "memory.stat").write_text(f"anon 5\n{stat} {GIB // 2}\n")
    said = refusal(ResourceInputs(ranks=MILLION), machine)
    assert f"the control group {root / 'outer'} (limit 2 GiB) has 1.5 GiB left" in said


def test_a_group_that_is_not_to_be_seen_limits_nothing(machine: Machine) -> None:
    (machine.proc / "self/cgroup").write_text("0::/../elsewhere\nnonsense")
    limits.check(ResourceInputs(ranks=1024), machine)


def library(program: Program) -> Path:
    return program("statics.c")


def test_mappings_of_copies_are_counted(program: Program, machine: Machine) -> None:
    copied = (library(program),)
    limits.check(ResourceInputs(ranks=8192, copied=copied), machine)
    said = refusal(ResourceInputs(ranks=32768, copied=copied), machine)
    assert said.startswith("mappings: the run needs at least 164,340 (5 for each of 32,768 ranks)")
    assert "and Linux gives a process 65,530" in said
    assert "take privatize=False if" in said


def test_the_disk_holds_the_copies(
    program: Program, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    said = refusal(ResourceInputs(ranks=1024, copied=(library(program),)), machine)
    assert said.startswith("temporary directory: copies of the program for 1,024 ranks need ")
    assert "has 1 MiB left; set TMPDIR" in said


def test_what_any_run_writes_needs_room(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    said = refusal(ResourceInputs(ranks=1024), machine)
    assert said.startswith("temporary directory: a run needs 11 KiB, and ")
    assert "has 4 KiB left; set TMPDIR" in said
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 30))
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_files=100, f_favail=2))
    assert "a run needs 6 files there, and" in refusal(ResourceInputs(ranks=4), machine)


def test_threads(machine: Machine) -> None:
    threads = ("contexts/factory:thread",)
    limits.check(ResourceInputs(ranks=4096, settings=threads), machine)
    said = refusal(ResourceInputs(ranks=32000, settings=threads), machine)
    assert "each of 32,000 ranks needs one, and the system allows 30,000" in said


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_group_limits_threads(machine: Machine, version: int) -> None:
    listed = {1: "8:pids:/outer\n0::/\n", 2: "0::/outer\n"}[version]
    (machine.proc / "self/cgroup").write_text(listed)
    group = (machine.cgroups / "pids" if version == 1 else machine.cgroups) / "outer"
    group.mkdir(parents=True)
    (group / "pids.max").write_text("120")
    (group / "pids.current").write_text("20")
    (group / "memory.stat").write_text("inactive_file 1000000\n")
    threads = ("contexts/factory:thread",)
    limits.check(ResourceInputs(ranks=100, settings=threads), machine)
    said = refusal(ResourceInputs(ranks=101, settings=threads), machine)
    assert f"the system allows 100 (the control group {group}, limit 120)" in said


def test_a_users_limit_counts_all_of_the_users_threads(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, threads in ((10, 3), (11, 2)):
        for thread in range(threads):
            (machine.proc / f"{number}/task/{thread}").mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (7, 7))
    assert machine.tasks() == (2, "ulimit -u, limit 7")


def test_too_many_processes_is_told_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "tasks", lambda _: (1, "ulimit -u, limit 120"))

    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(WeftError) as refusal:
        process.run_child(["true"], os.environ)
    assert "needs 4 processes and threads with weft itself" in str(refusal.value)
    assert "the system allows 1 more (ulimit -u, limit 120)" in str(refusal.value)


def test_who_is_killed_hears_what_it_held_and_what_there_was(machine: Machine) -> None:
    (machine.proc / "vmstat").write_text("pgfault 1\noom_kill 4\n")
    start = StartResources.seen(machine)
    told = "it used 3 GiB, and this machine had 8 GiB left when it began"
    assert start.why_killed(3 * GIB) == (
        f"another process killed it, perhaps for lack of memory: {told}"
    )
    (machine.proc / "vmstat").write_text("pgfault 2\noom_kill 5\n")
    assert start.why_killed(3 * GIB) == f"the system killed it for lack of memory: {told}"


def test_a_run_looks_at_the_memory_once(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check, the diagnosis of the run's end and the detection of exhaustion share one query.

    A run that starts long after its check queries again.
    """
    looks: list[Machine] = []

    def memory(of: Machine) -> tuple[int, str]:
        looks.append(of)
        return 8 * GIB, "this machine"

    monkeypatch.setattr(Machine, "memory", memory)
    monkeypatch.setattr(limits, "_MOMENT_S", 60)
    plan = prepare(Request.of(fabric="tofino-4", ranks=4, program=str(program("first.c"))))
    assert run(plan, lambda _: None).exit_status == 0
    assert len(looks) == 1
    monkeypatch.setattr(limits, "_MOMENT_S", 0)
    assert run(plan, lambda _: None).exit_status == 0
    assert len(looks) == 2


# ---- Limits that a run reaches while it executes -------------------------------------------------


def run_within(kind: int, most: int, program: Path, *arguments: str) -> simulated.Result:
    """Run four ranks in a process with its own limit."""
    return simulated.run_command(
        simulated.weft_command(program, *arguments, options=("-q",)),
        preexec_fn=lambda: resource.setrlimit(kind, (most, resource.getrlimit(kind)[1])),
    )


def test_stacks_beyond_the_address_space_are_told_with_its_limit(program: Program) -> None:
    result = run_within(resource.RLIMIT_AS, 1 << 30, program("first.c"))
    (said,) = result.messages
    assert result.status == 2
    assert "for 260 stacks of 8192 KiB (ulimit -v allows 1024 MiB): use smaller ones" in said


def test_memory_that_the_system_does_not_give_is_told_with_the_limit() -> None:
    growth = compiled.program(ROOT / "studies/growth/growth.c")
    result = run_within(resource.RLIMIT_AS, 4 << 30, growth, "allreduce", "2000000000", "1")
    assert (result.status, result.stderr.count("\n")) == (1, 1)
    assert "asked for 2000000001 bytes of memory, which the system refused" in result.stderr
    assert "ulimit -v allows 4096 MiB; vm.max_map_count is " in result.stderr


def test_the_end_by_a_limit_of_cpu_time_is_told() -> None:
    growth = compiled.program(ROOT / "studies/growth/growth.c")
    result = run_within(resource.RLIMIT_CPU, 1, growth, "allreduce", "64", "1000000000")
    assert result.status == 152
    assert result.messages[0].startswith("weft: the program crashed (SIGXCPU); it took ")
    assert "and the system allows 1 s (ulimit -t): allow more" in result.messages[0]


def test_copies_that_are_larger_than_a_file_may_be_are_told(program: Program) -> None:
    result = run_within(resource.RLIMIT_FSIZE, 8192, program("statics.c"))
    assert result.messages == [
        "weft: the program crashed (SIGXFSZ); a file would be larger than 8 KiB, the most that the"
        " system allows (ulimit -f): allow more"
    ]


def test_weft_run_refuses_before_anything_starts(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "memory", lambda _: (1 << 20, "this machine"))
    result = simulated.run_command(simulated.weft_command(program("first.c")))
    assert result.status == 2
    (said,) = result.messages
    assert said.startswith("weft: memory: the run needs at least ")
    assert "this machine has 1 MiB left" in said


@pytest.mark.parametrize("ranks", [4, 1024])
def test_what_is_predicted_is_less_than_what_a_run_takes(
    program: Program, ranks: int, tmp_path: Path
) -> None:
    command = simulated.weft_command(
        program("first.c"),
        on="tofino-64x64",
        ranks=ranks,
        options=("--no-privatize", "--json", str(tmp_path / "r.json")),
    )
    assert simulated.run_command(command).status == 0
    peak = simulated.read_record(tmp_path / "r.json")["peak_memory_bytes"]
    predicted = ResourceInputs(ranks=ranks, links=128).memory_bytes
    assert 0.4 * peak < predicted < peak
