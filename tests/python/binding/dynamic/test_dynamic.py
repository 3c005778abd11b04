# SPDX-License-Identifier: LGPL-2.1-only
"""Dynamic processes: spawned worlds, ports, their hosts, times, errors and records."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.jobs import job, outcome, said
from tests.support.simulated import Program, Run, weft_says


def spawned(record: dict[str, Any]) -> list[dict[str, Any]]:
    worlds: list[dict[str, Any]] = record["spawned"]
    return worlds


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_worlds_exchange_messages_and_collectives(run: Run, offload: str) -> None:
    ended = run("dynamic.c", "basic", on="tofino-16", ranks=2, options=("--offload", offload))
    assert ended.lines[:5] == [
        *(f"child {rank} of 3" for rank in range(3)),
        *(f"parent {rank} of 2" for rank in range(2)),
    ]
    (world,) = spawned(ended.record)
    assert world["hosts"] == ["host-02", "host-03", "host-04"]
    assert [part["arguments"] for part in world["programs"]] == [["basic", "with two words"]]
    assert 0 <= world["spawned_s"] <= world["start_s"] < world["end_s"]
    assert ended.record["ranks"] == 2
    assert "2 ranks on 2 hosts of tofino-16, 3 spawned ranks on 3 hosts" in ended.stderr


def test_starting_takes_the_latency_of_the_fabric(run: Run) -> None:
    latency = ("--set", "mpi.spawn_latency=40ms")
    with_it, without = (
        spawned(run("dynamic.c", "basic", on="tofino-16", ranks=2, options=options).record)[0]
        for options in (latency, ())
    )
    assert with_it["start_s"] - with_it["spawned_s"] == pytest.approx(0.04, abs=1e-9)
    assert without["start_s"] == without["spawned_s"]


def test_commands_of_one_world(run: Run) -> None:
    (world,) = spawned(run("dynamic.c", "multiple", on="tofino-16", ranks=2).record)
    assert [(one["arguments"][1], one["ranks"]) for one in world["programs"]] == [
        ("first", 1),
        ("second", 2),
    ]


def test_spawned_ranks_spawn(run: Run) -> None:
    ended = run("dynamic.c", "nested", ranks=1)
    assert "number 24" in ended.stdout
    assert [world["hosts"] for world in spawned(ended.record)] == [
        ["host-1"],
        ["host-2"],
        ["host-3"],
    ]


def test_spawned_worlds_connect_at_a_port(run: Run) -> None:
    ended = run("dynamic.c", "ports", on="tofino-16", ranks=1)
    assert ended.lines[:5] == [
        *(f"client {rank}" for rank in range(3)),
        *(f"server {rank}" for rank in range(2)),
    ]


def test_a_socket_connects_two_ranks(run: Run) -> None:
    run("dynamic.c", "join", ranks=2)


def test_ranks_share_hosts_if_no_host_is_free(run: Run) -> None:
    (world,) = spawned(run("dynamic.c", "basic", ranks=4).record)
    assert world["hosts"] == ["host-0", "host-1", "host-2"]


def test_errors_reach_the_handler(run: Run) -> None:
    assert run("dynamic.c", "errors", ranks=1).stdout.splitlines()[:5] == [
        "program: MPI_ERR_SPAWN",
        "room: MPI_ERR_SPAWN",
        "connect: MPI_ERR_PORT",
        "accept: MPI_ERR_PORT",
        "name: MPI_ERR_NAME",
    ]


FAILURES = {
    "fatal": ("error", "MPI_ERR_SPAWN (cannot find the program ./missing; name an existing file)"),
    "alone": ("deadlock", "Rank 0 waits in MPI_Comm_accept at the port weft:1 for another group"),
    "silent": (
        "deadlock",
        "Rank 0 waits in MPI_Comm_spawn for spawned world 1 (DYNAMIC), whose ranks 0, 1 have not"
        " called MPI_Init",
    ),
    "abort": ("abort", "in spawned world 1 (DYNAMIC), rank "),
}


@pytest.mark.parametrize("case", FAILURES)
def test_failures_say_who_waits_for_what(case: str, run: Run, program: Program) -> None:
    kind, text = FAILURES[case]
    ended = run("dynamic.c", case, ranks=1, status=5 if case == "abort" else 1)
    assert ended.record["outcome"]["kind"] == kind
    assert text.replace("DYNAMIC", str(program("dynamic.c"))) in ended.stderr


def test_a_spawned_rank_is_lost_with_its_host(run: Run, program: Program, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\nhost = "host-3"\nat = "60us"\n')
    options = ("--faults", str(faults))
    ended = run("dynamic.c", "basic", on="star-8", ranks=2, options=options, status=1)
    assert ended.record["outcome"]["kind"] == "host-failure"
    world = f"spawned world 1 ({program('dynamic.c')})"
    assert f"host host-3 failed at 60us, and with it rank 1 of {world}" in ended.stderr


def test_spawned_worlds_are_compared(program: Program) -> None:
    ended = weft_says(
        *("run", "--fabric", "star-8", "-n", "2", "--compare", "--"),
        *(str(program("dynamic.c")), "basic"),
    )
    assert "2 ranks on 2 hosts of star-8, 3 spawned ranks on 3 hosts" in ended.stdout + ended.stderr
    assert "whole run" in ended.stdout + ended.stderr


INFOS = {
    ("host", "host-3,host-1", "3"): ["child 0 of 3 on host-3", "child 1 of 3 on host-3"],
    ("soft", "1:3:2", "9"): ["child 0 of 3 on host-1"],
    ("other", "ignored", "1"): ["child 0 of 1 on host-1"],
}


@pytest.mark.parametrize("info", INFOS)
def test_infos_choose_hosts_and_numbers(info: tuple[str, str, str], run: Run) -> None:
    ended = run("dynamic.c", "infos", *info, ranks=1)
    for line in INFOS[info]:
        assert f"{line} in " in ended.stdout
    assert "universe 4" in ended.stdout


def test_a_hostfile_and_a_working_directory(run: Run, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# two hosts\nhost-2 slots=2\nhost-3:1\n")
    ended = run("dynamic.c", "infos", "hostfile", str(hosts), "2", ranks=1)
    assert "child 1 of 2 on host-3 in " in ended.stdout
    (tmp_path / "beside").mkdir()
    ended = run("dynamic.c", "infos", "wdir", str(tmp_path / "beside"), "1", ranks=1)
    assert "on host-1 in /beside" in ended.stdout


def test_another_program_is_found_and_checked(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(program("dynamic.c"), tmp_path / "spawner")
    shutil.copy(program("spawning.f90"), tmp_path / "spawning")
    monkeypatch.chdir(tmp_path)
    ended = weft_says("run", "--fabric", "tofino-16", "-n", "2", "--", "./spawning", "parent")
    assert "parent is done" in ended.stdout
    assert "wrong" not in ended.stdout


def test_a_job_spawns_on_free_hosts_and_fails_alone(program: Program) -> None:
    path = str(program("dynamic.c"))
    record = weft.run_jobs(
        [
            job("spawner", path, "basic", ranks=2),
            job("failing", path, "abort", ranks=1, start="1us"),
            job("other", path, "nested", ranks=1),
        ],
        fabric="tofino-16",
    )
    assert outcome(record, "spawner") == ("completed", 0)
    assert outcome(record, "failing") == ("abort", 5)
    assert outcome(record, "other") == ("completed", 0)
    assert sorted(said(record, "spawner")) == [
        *(f"child {rank} of 3" for rank in range(3)),
        *(f"parent {rank} of 2" for rank in range(2)),
    ]
    assert said(record, "other") == ["number 24"]
    hosts = [host for world in record.spawned or () for host in world.hosts]
    assert len(hosts) == len(set(hosts)) == 8
    assert not {f"host-{number:02}" for number in range(4)} & set(hosts)


def test_jobs_connect_at_a_port(program: Program) -> None:
    path = str(program("dynamic.c"))
    record = weft.run_jobs(
        [
            job("ocean", path, "serve", ranks=2),
            job("air", path, "connect", ranks=3, start="1ms"),
        ],
        fabric="tofino-16",
    )
    assert outcome(record, "ocean") == outcome(record, "air") == ("completed", 0)
