# SPDX-License-Identifier: LGPL-2.1-only
"""MPI I/O on fabrics: content, times compared with closed forms, errors, records."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.simulated import Program, Result, run_command, weft_command
from weft import _core
from weft.base.errors import WeftError
from weft.runs.site import choose_ppn

LATENCY, BANDWIDTH = 2e-6, 10e9
"""Latency in seconds and bandwidth in B/s of a route between two hosts."""
TARGET_LATENCY, READ, WRITE = 100e-6, 2e9, 1e9
ENVELOPE = 16
FABRIC = """
[fabric]
name = "stored"
[topology]
kind = "star"
hosts = 8
[host]
preset = "xeon-8360"
speed = "1Gf"
[nic]
preset = "connectx-6-dx"
offload_overhead = "0s"
[link]
bandwidth = "10GBps"
latency = "1us"
[switch]
preset = "ideal"
"""
STORAGE = """
[storage]
hosts = ["host-6", "host-7"]
read_bandwidth = "2GBps"
write_bandwidth = "1GBps"
latency = "100us"
open_latency = "1ms"
close_latency = "500us"
"""
DISK = """
[disk]
read_bandwidth = "3GBps"
write_bandwidth = "2GBps"
latency = "50us"
"""


def run(
    directory: Path,
    program: Path,
    *arguments: str,
    fabric: str = FABRIC + STORAGE,
    ranks: int = 1,
    options: tuple[str, ...] = (),
) -> Result:
    """Run a program, and return its output with the record."""
    path, record = directory / "stored.toml", directory / "record.json"
    path.write_text(fabric)
    command = weft_command(program, *arguments, on=str(path), ranks=ranks)
    where = command.index("--fabric")
    command[where:where] = ["-q", "--json", str(record), "--cfg", "smpi/wtime:0", *options]
    result = run_command(command, cwd=directory)
    return Result(result.status, result.stdout, result.stderr, json.loads(record.read_text()))


def times(directory: Path, program: Program, what: str, size: int, **how: Any) -> list[float]:
    """Return the time of each rank."""
    result = run(directory, program("file_times.c"), what, str(size), **how)
    assert result.status == 0, result.stderr
    return [float(line.split()[1]) for line in result.lines]


def message(payload: float) -> float:
    """Return the time of a message on an idle fabric."""
    return LATENCY + (payload + ENVELOPE) / BANDWIDTH


def approx(seconds: float | list[float]) -> Any:
    """Compare with the accuracy of the simulator's clock."""
    return pytest.approx(seconds, rel=1e-9, abs=1e-15)


def take(measured: list[float], seconds: float) -> bool:
    """Return true if all ranks take this time."""
    return bool(measured == approx([seconds] * len(measured)))


# ---- Content ----


def test_appending_starts_where_the_file_ended_when_it_was_opened(
    program: Program, tmp_path: Path
) -> None:
    """The position does not include data that earlier ranks have written since the open."""
    target = tmp_path / "appended"
    result = run(tmp_path, program("file_append.c"), str(target), ranks=3)
    assert result.lines == ["4 4"] * 3
    assert target.read_text() == "head012"


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_forms_move_the_data_of_random_views(
    program: Program, tmp_path: Path, ranks: int, seed: int
) -> None:
    """The program compares each access with POSIX I/O."""
    files = tmp_path / "files"
    result = run(
        tmp_path,
        program("file_views.c"),
        str(files),
        str(seed),
        ranks=ranks,
        options=("--files", str(files)),
    )
    assert result.lines == ["0 wrong"], result.stdout
    assert (files / "views").stat().st_size > 0


@pytest.mark.parametrize("ranks", [1, 4])
def test_pointers_sizes_hints_and_errors_are_mpis(
    program: Program, tmp_path: Path, ranks: int
) -> None:
    result = run(tmp_path, program("file_pointers.c"), ranks=ranks)
    assert result.lines == ["0 wrong"], result.stdout


def test_a_directory_that_cannot_be_made_is_refused(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = weft_command(program("file_times.c"), "write", "8", on="tofino-4", ranks=1)
    where = command.index("--fabric")
    command[where:where] = ["--files", str(tmp_path / "file" / "below")]
    result = run_command(command)
    assert result.status != 0
    assert "--files: cannot write" in result.stderr


# ---- Times ----


@pytest.mark.parametrize("link", [10, 0.5])
def test_one_writer_takes_latencies_and_the_narrowest_bandwidth(
    program: Program, tmp_path: Path, link: float
) -> None:
    fabric = (FABRIC + STORAGE).replace("10GBps", f"{link}GBps")
    size = 10_000_000
    (written,) = times(tmp_path, program, "write", size, fabric=fabric)
    assert written == approx(2 * LATENCY + TARGET_LATENCY + size / min(link * 1e9, WRITE))
    (read,) = times(tmp_path, program, "read", size, fabric=fabric)
    assert read == approx(2 * LATENCY + TARGET_LATENCY + size / min(link * 1e9, READ))


def test_data_of_storage_takes_all_cables_of_a_host(program: Program, tmp_path: Path) -> None:
    """Four cables of a quarter of the bandwidth: the target, not a cable, limits writing."""
    size, narrow = 12_000_000, 1e9 / 4
    cables = 'kind = "fat_tree"\ndown = [8]\nup = [4]'
    fabric = (FABRIC + STORAGE).replace('kind = "star"\nhosts = 8', cables)
    fabric = fabric.replace("10GBps", f"{narrow}Bps")
    (striped,) = times(tmp_path, program, "write", size, fabric=fabric)
    assert striped == approx(2 * LATENCY + TARGET_LATENCY + size / (4 * narrow))
    (one,) = times(
        tmp_path, program, "write", size, fabric=fabric.replace("[nic]\n", "[nic]\nstripes = 1\n")
    )
    assert one == approx(2 * LATENCY + TARGET_LATENCY + size / narrow)
    (limited,) = times(
        tmp_path, program, "write", size, fabric=fabric.replace(f"{narrow}Bps", f"{4 * narrow}Bps")
    )
    assert limited == approx(2 * LATENCY + TARGET_LATENCY + size / WRITE)


@pytest.mark.parametrize("ranks", [2, 5])
def test_writers_share_a_target(program: Program, tmp_path: Path, ranks: int) -> None:
    """Each file is on one target, and so are the ranks' parts of the file."""
    size = 1_000_000
    fabric = FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    expected = 2 * LATENCY + TARGET_LATENCY + ranks * size / WRITE
    assert take(times(tmp_path, program, "write", size, ranks=ranks, fabric=fabric), expected)


@pytest.mark.parametrize(("targets", "stripes"), [(1, 2), (2, 4), (2, 3)])
def test_striping_uses_several_targets(
    program: Program, tmp_path: Path, targets: int, stripes: int
) -> None:
    keys = f'targets = {targets}\nstripe_count = {stripes}\nstripe_size = "1MB"\n'
    size = 12_000_000
    (written,) = times(tmp_path, program, "write", size, fabric=FABRIC + STORAGE + keys)
    assert written == approx(2 * LATENCY + TARGET_LATENCY + size / stripes / WRITE)


def test_requests_occupy_a_target_one_after_the_other(program: Program, tmp_path: Path) -> None:
    overhead, ranks, size = 1e-3, 4, 1000
    fabric = FABRIC + STORAGE + 'request_overhead = "1ms"\n'
    waits = [overhead * (place + 1) for place in range(ranks)]
    expected = [2 * LATENCY + TARGET_LATENCY + wait + size / WRITE for wait in waits]
    assert sorted(times(tmp_path, program, "write", size, ranks=ranks, fabric=fabric)) == approx(
        expected
    )


def test_a_disk_serves_its_own_host(program: Program, tmp_path: Path) -> None:
    """The ranks of one host share it."""
    size = 1_000_000
    times_of = times(tmp_path, program, "write", size, ranks=3, fabric=FABRIC + DISK)
    assert take(times_of, 50e-6 + size / 2e9)
    shared = times(
        tmp_path, program, "write", size, ranks=3, fabric=FABRIC + DISK, options=("--ppn", "3")
    )
    assert take(shared, 50e-6 + 3 * size / 2e9)


def test_the_mount_decides_between_disk_and_storage(program: Program, tmp_path: Path) -> None:
    size = 1_000_000
    both = FABRIC + STORAGE + DISK
    local = times(tmp_path, program, "write", size, fabric=both + f'mount = "{tmp_path}"\n')
    assert take(local, 50e-6 + size / 2e9)
    remote = times(tmp_path, program, "write", size, fabric=both + 'mount = "/local"\n')
    assert take(remote, access(size, WRITE))


def test_creating_a_file_takes_two_turns_at_the_metadata_host(
    program: Program, tmp_path: Path
) -> None:
    turn = 2 * LATENCY + 1e-3
    assert take(times(tmp_path, program, "open", 8, ranks=2), 2 * (turn + message(4)))
    closing = 2 * LATENCY + 500e-6 + message(0)
    assert take(times(tmp_path, program, "close", 8, ranks=2), closing)


def access(size: float, rate: float) -> float:
    """Return the time of a request served at `rate` by its target."""
    return 2 * LATENCY + TARGET_LATENCY + size / rate


def two_phase(size: int, rate: float) -> float:
    """Return the time of two ranks on two hosts, each with half of both aggregators' data."""
    exchanged = message(size / 2)
    lists = message(16 * 2)  # of two extents
    both_offsets, counts = 2 * message(8), message(4)
    return both_offsets + counts + lists + counts + exchanged + access(2 * size, rate)


@pytest.mark.parametrize("form", ["write", "iwrite", "split"])
def test_interleaved_accesses_take_two_phases(program: Program, tmp_path: Path, form: str) -> None:
    size = 1_000_000
    expected = two_phase(size, WRITE) + message(4)
    fabric = FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    measured = times(tmp_path, program, f"interleaved_{form}", size, ranks=2, fabric=fabric)
    assert take(measured, expected)


def test_interleaved_reads_take_two_phases(program: Program, tmp_path: Path) -> None:
    size = 1_000_000
    fabric = FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    measured = times(tmp_path, program, "interleaved_read", size, ranks=2, fabric=fabric)
    assert take(measured, two_phase(size, READ))


def test_rounds_of_two_phases_follow_the_buffer(program: Program, tmp_path: Path) -> None:
    """Two aggregators of 32 MB each take two rounds of at most 16 MiB."""
    size, buffer = 32_000_000, 16 * 2**20
    fabric = FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    measured = times(tmp_path, program, "interleaved_write", size, ranks=2, fabric=fabric)
    first, rest = buffer, size - buffer
    # With turns of 8 MB, the first window of the second aggregator contains more data of the first
    # rank.
    moved = [buffer - 8_000_000, 8_000_000]
    around = 2 * message(8) + message(4) + message(16 * 2) + message(4)
    expected = around + sum(
        message(4) + message(bytes_moved) + access(2 * each, WRITE)
        for bytes_moved, each in zip(moved, (first, rest), strict=True)
    )
    assert take(measured, expected)


def test_accesses_apart_cost_the_exchange_of_offsets(program: Program, tmp_path: Path) -> None:
    size = 1_000_000
    fabric = FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    expected = 2 * message(8) + access(2 * size, WRITE)
    assert take(times(tmp_path, program, "write_all", size, ranks=2, fabric=fabric), expected)


def test_gaps_are_sieved(program: Program, tmp_path: Path) -> None:
    """Four pieces of 1 MB: without gaps for one rank; interleaved for two ranks."""
    size, fabric = 4_000_000, FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    (together,) = times(tmp_path, program, "sieved_read", size, fabric=fabric)
    assert together == approx(access(size, READ))
    # 7 MB from each rank's first to last byte, in buffers of 4 MiB, for both ranks concurrently.
    first, second = 4 * 2**20, 7_000_000 - 4 * 2**20
    apart = times(tmp_path, program, "sieved_read", size, ranks=2, fabric=fabric)
    assert take(apart, access(2 * first, READ) + access(2 * second, READ))


def test_the_shared_pointer_is_taken_by_turns(program: Program, tmp_path: Path) -> None:
    size, fabric = 1000, FABRIC + STORAGE + 'stripe_size = "1GB"\n'
    turn = access(8, READ) + access(8, WRITE)
    measured = sorted(times(tmp_path, program, "shared", size, ranks=3, fabric=fabric))
    expected = [turn * (place + 1) + access(size, WRITE) for place in range(3)]
    assert measured == pytest.approx(expected, rel=1e-3)


def test_all_messages_share_links_with_files(program: Program, tmp_path: Path) -> None:
    """Bytes to and from storage are counted on the links."""
    result = run(tmp_path, program("file_times.c"), "write", "1000000", ranks=2)
    links = {row["name"]: row["bytes"] for row in result.record["links"]}
    assert links["host-0.up"] >= 1_000_000 and links["host-6.down"] >= 2_000_000


@pytest.mark.parametrize("what", ["write", "interleaved_write"])
def test_times_do_not_depend_on_the_transport_of_messages(
    program: Program, tmp_path: Path, what: str
) -> None:
    """With SMPI's messages, SimGrid simulates flows on the links that messages use."""
    ours, theirs = (
        times(tmp_path, program, what, 1_000_000, ranks=4, options=("--messages", transport))
        for transport in ("weft", "smpi")
    )
    assert ours == pytest.approx(theirs, rel=1e-9)


# ---- Record ----


def test_the_record_lists_files_and_targets(program: Program, tmp_path: Path) -> None:
    fabric = FABRIC + STORAGE + 'stripe_count = 2\nstripe_size = "1kB"\n'
    result = run(tmp_path, program("file_times.c"), "write", "4000", ranks=2, fabric=fabric)
    (file,) = result.record["files"]
    assert (file["name"], file["opens"], file["writes"], file["bytes_written"]) == (
        "out",
        2,
        2,
        8000,
    )
    assert [(row["target"], row["host"]) for row in result.record["storage"]] == [
        (0, "host-6"),
        (1, "host-7"),
    ]
    assert [row["bytes_written"] for row in result.record["storage"]] == [4000, 4000]
    calls = {row["call"]: row for row in result.record["mpi_calls"]}
    assert calls["MPI_File_write_at"]["calls"] == 2
    assert calls["MPI_File_write_at"]["total_time_s"] == pytest.approx(file["time_s"])


def test_programs_without_files_have_no_such_rows(program: Program, tmp_path: Path) -> None:
    result = run(tmp_path, program("first.c"), ranks=2)
    assert result.status == 0
    assert "files" not in result.record and "storage" not in result.record


# ---- Failures ----


def test_a_deadlock_names_the_file_that_waits(program: Program, tmp_path: Path) -> None:
    result = run(tmp_path, program("file_stuck.c"), ranks=3)
    assert result.record["outcome"]["kind"] == "deadlock"
    assert (
        "A collective call of the file stuck waits for 2 of its 3 ranks; the first of them is rank"
        " 1 of its communicator."
    ) in result.stderr


def test_a_full_disk_is_an_outcome(program: Program, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk")
    try:
        options = ("--files", str(small / "files"))
        result = run(tmp_path, program("file_times.c"), "write", "4000000", options=options)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert (result.status, result.record["outcome"]["kind"]) == (1, "disk-full")
    assert "No space left on device" in result.stderr and "--files" in result.stderr


# ---- Fabric files ----


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (STORAGE.replace('"host-6", "host-7"', '"disk-1"'), "matches no host"),
        (STORAGE + "stripe_count = 3\n", "allowed: 1 to 2"),
        (STORAGE + DISK, "mount"),
        (DISK + 'mount = "here"\n', "an absolute path"),
        (STORAGE + "raid = 6\n", "raid"),
        ('[storage]\nhosts = ["host-6"]\n', "read_bandwidth"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(FABRIC + text)
    with pytest.raises(_core.UserError, match=problem):
        _core.load_fabric(str(path), [])


def test_a_description_has_the_storage(tmp_path: Path) -> None:
    path = tmp_path / "stored.toml"
    path.write_text(FABRIC + STORAGE + DISK + 'mount = "/local"\n')
    described = _core.load_fabric(str(path), []).describe()
    assert "disk of each host: reads 24Gbps, writes 16Gbps" in described
    assert (
        "storage: 2 targets, each reads 16Gbps, writes 8Gbps; files have 1 stripe of" in described
    )


def test_ranks_leave_the_hosts_of_storage_alone(tmp_path: Path) -> None:
    path = tmp_path / "stored.toml"
    path.write_text(FABRIC + STORAGE)
    assert _core.load_fabric(str(path), []).compute_hosts == [f"host-{host}" for host in range(6)]
    fabric = _core.load_fabric(str(path), [])
    with pytest.raises(WeftError, match="besides those of"):
        choose_ppn(fabric, 6 * fabric.cores_per_host + 1, None)


# ---- Fortran ----


@pytest.mark.parametrize("ranks", [1, 3])
def test_fortran_has_all_forms(program: Program, tmp_path: Path, ranks: int) -> None:
    assert run(tmp_path, program("files.f90"), ranks=ranks).lines == ["0 wrong"]


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("fabric", [FABRIC + STORAGE, FABRIC + DISK], ids=["storage", "disk"])
def test_fortran_has_files_by_the_older_module_too(
    tmp_path: Path, program: Program, ranks: int, fabric: str
) -> None:
    result = run(tmp_path, program("file_modes.f90"), fabric=fabric, ranks=ranks)
    assert result.lines == ["right"] * ranks
