# SPDX-License-Identifier: LGPL-2.1-only
"""The platform library under plain smpirun, and runs without offloading, which stay as fast."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Result, Run
from weft.base import paths

EQUAL = simulated.fabric("equal-platforms")


# ---- A program without an Allreduce ----


def times_by_step(result: Result) -> dict[str, list[float]]:
    """Return the ranks' sorted times: ranks that send to one receiver may swap theirs in a tie."""
    times = defaultdict(list)
    for line in result.lines:
        _, step, size, time = line.split()
        times[f"{step} of {size} bytes"].append(float.fromhex(time))
    return {step: sorted(its) for step, its in times.items()}


def test_what_is_not_offloaded_takes_the_time_that_it_takes_on_stock_simgrid(
    run: Run, program: Program
) -> None:
    """Times agree to the last bit: `weft run`, the library alone, and an XML star without weft."""
    traffic = program("traffic.c")
    options = ("--fallback", "smpi:ompi", "--messages", "smpi")
    by_weft = run("traffic.c", on=EQUAL, options=options)
    by_library = simulated.run_library(traffic, WEFT_FABRIC=EQUAL)
    by_stock = simulated.run_stock(traffic)
    assert by_library.status == by_stock.status == 0
    assert len(by_weft.lines) == 4 * (7 * 5 + 4)
    assert by_weft.lines == by_library.lines == by_stock.lines


def test_own_messages_take_the_times_of_stock_simgrid_without_its_shortcuts(
    run: Run, program: Program
) -> None:
    """SimGrid's lazy updates leave some flows with an outdated rate: 1 % of an Alltoall here."""
    precisely = ("network/optim:Full", "precision/timing:1e-13")
    stock = simulated.run_stock(program("traffic.c"), settings=precisely)
    options = ("--fallback", "smpi:ompi", "--messages", "weft")
    ours = run("traffic.c", on=EQUAL, options=options)
    assert ours.record["messages"] == "weft"
    expected, found = (times_by_step(one) for one in (stock, ours))
    for step, times in expected.items():
        assert found[step] == pytest.approx(times, rel=1e-9), step


@pytest.mark.parametrize("setting", ["network/latency-factor:0:1.0;4112:1.357", "smpi/wtime:1e-9"])
def test_those_times_tell_simulations_apart(program: Program, setting: str) -> None:
    """Guard: if these times did not differ, the test above would pass on any platform."""
    traffic = program("traffic.c")
    stock = simulated.run_stock(traffic)
    other = simulated.run_stock(traffic, settings=(setting,))
    assert stock.status == other.status == 0
    assert stock.lines != other.lines


def test_tracing_and_records_take_no_simulated_time(run: Run, tmp_path: Path) -> None:
    plain = run("traffic.c")
    traced = run("traffic.c", options=("--trace", str(tmp_path / "trace.json")))
    assert plain.lines == traced.lines


# ---- The library that is loaded ----


def test_weft_run_loads_the_installed_library(run: Run) -> None:
    assert run("loaded.c", "libweft").lines == [str(paths.platform_library())]
    (simgrid,) = run("loaded.c", "libsimgrid").lines
    assert Path(simgrid).is_relative_to(paths.simgrid_prefix())


def test_shared_memory_is_no_file_on_a_disk(run: Run) -> None:
    """Linux writes dirty pages of files back to the disk, which would stall the ranks."""
    block = "memfd:simgrid-shmalloc"
    assert run("loaded.c", block, ranks=2).lines == [f"/{block} (deleted)"]


def test_plain_smpirun_loads_the_library_that_it_is_given(program: Program) -> None:
    result = simulated.run_library(program("loaded.c"), "libweft", WEFT_FABRIC="tofino-4")
    assert result.lines == [str(paths.platform_library())]
    assert simulated.run_stock(program("loaded.c"), "libweft").lines == []


# ---- Disks ----

DISKS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="a" speed="1Gf">
      <disk id="disk" read_bw="100MBps" write_bw="40MBps">
        <prop id="size" value="500GiB"/><prop id="mount" value="/scratch"/>
        <prop id="content" value=""/>
      </disk>
    </host>
  </zone>
</platform>
"""


def test_files_of_mpi_take_the_time_of_a_platforms_disk(program: Program, tmp_path: Path) -> None:
    """Hosts of fabrics have no disk; binding/process/test_failures.py covers their refusal."""
    platform = tmp_path / "disks.xml"
    platform.write_text(DISKS)
    command = simulated.weft_command(program("files.c"), ranks=1)
    at = command.index("--fabric")
    command[at : at + 2] = ["--platform", str(platform)]
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    _, written, read = map(float, result.lines[0].split())
    assert (written, read) == pytest.approx((2**20 / 40e6, 2**20 / 100e6), rel=1e-6)


# ---- Ranks on hosts ----

CABINETS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="node-" suffix=".site" radical="1-12" speed="1Gf" bw="1Gbps" lat="1us"/>
</platform>
"""


def test_ranks_go_to_hosts_in_the_order_of_their_numbers(program: Program, tmp_path: Path) -> None:
    """In lexicographic order, ranks 1 and 2 would run on node-10 and node-11."""
    platform = tmp_path / "cabinets.xml"
    platform.write_text(CABINETS)
    command = simulated.weft_command(program("hosts.c"), ranks=12)
    at = command.index("--fabric")
    command[at : at + 2] = ["--platform", str(platform)]
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    hosts = dict(line.split() for line in result.lines)
    assert hosts == {str(rank): f"node-{rank + 1}.site" for rank in range(12)}


# ---- Plain smpirun ----


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_plain_smpirun_simulates_what_weft_run_does(
    run: Run, program: Program, tmp_path: Path, offload: str
) -> None:
    # at least as many elements as ranks: weft's fixes for SMPI's `ompi` need LD_PRELOAD
    arguments = ("16,1024,100000", "1", "30")
    options = ("--offload", offload, "--fallback", "smpi:ompi", "--messages", "smpi")
    by_weft = run("latency.c", *arguments, options=options)
    by_library = simulated.run_library(
        program("latency.c"),
        *arguments,
        record=tmp_path / "record.json",
        WEFT_FABRIC="tofino-4",
        WEFT_OFFLOAD=offload,
    )
    assert by_library.status == 0, by_library.stderr
    assert by_library.lines == by_weft.lines
    for part in ("collectives", "switches", "links", "outcome", "simulated_time_s", "ranks"):
        assert by_library.record[part] == by_weft.record[part]


def test_offloading_is_the_default(program: Program, tmp_path: Path) -> None:
    result = simulated.run_library(
        program("latency.c"), "1024", record=tmp_path / "record.json", WEFT_FABRIC="tofino-4"
    )
    assert result.record["offload"] == "stream"
    assert result.row()["path"] == "stream"


def test_more_ranks_than_hosts_go_round_robin(program: Program, tmp_path: Path) -> None:
    result = simulated.run_library(
        program("calls.c"),
        "int-sum",
        record=tmp_path / "record.json",
        ranks=9,
        WEFT_FABRIC="tofino-4",
    )
    assert result.status == 0, result.stderr
    assert (result.record["ranks"], result.record["hosts_used"]) == (9, 4)
    assert result.row()["communicator_size"] == 9
    # Three ranks on the first host, two ranks on each other host.
    ups = [link["bytes"] for link in result.record["links"] if link["name"].endswith(".up")]
    assert [bytes_ / ups[1] for bytes_ in ups] == [1.5, 1, 1, 1]


@pytest.mark.parametrize("ppn", ["two", "2x", "0", "-1", "99999999999"])
def test_a_ppn_that_is_no_number_of_ranks_is_refused(
    program: Program, tmp_path: Path, ppn: str
) -> None:
    result = simulated.run_library(
        program("calls.c"),
        "int-sum",
        WEFT_PLATFORM=str(simulated.STAR),
        WEFT_HOSTFILE=str(tmp_path / "hosts"),
        WEFT_PPN=ppn,
    )
    assert result.status == 2
    assert result.messages == [
        f'weft: WEFT_PPN: found "{ppn}"; allowed: a number of ranks per host, at least 1'
    ]


def test_a_host_file_places_the_ranks(program: Program, tmp_path: Path) -> None:
    hostfile = tmp_path / "hosts"
    hostfile.write_text("host-3\nhost-1\nhost-1\n")
    result = simulated.run_library(
        program("calls.c"),
        "int-sum",
        record=tmp_path / "record.json",
        ranks=3,
        hostfile=hostfile,
        WEFT_FABRIC="tofino-4",
    )
    assert result.status == 0, result.stderr
    used = {link["name"] for link in result.record["links"]}
    assert used == {"host-1.up", "host-1.down", "host-3.up", "host-3.down"}


def test_the_selected_algorithm_becomes_the_fallback(program: Program, tmp_path: Path) -> None:
    result = simulated.run_library(
        program("calls.c"),
        *("int-max", "barrier"),
        record=tmp_path / "record.json",
        settings=("smpi/allreduce:rdb",),
        WEFT_FABRIC="tofino-4",
    )
    assert result.status == 0, result.stderr
    assert result.row(collective="allreduce")["algorithm"] == "smpi:rdb"
    assert result.row(collective="barrier")["algorithm"] == "smpi:ompi"


# ---- Errors: one message, status 2 ----


TOFINO = {"WEFT_FABRIC": "tofino-4"}
MISTAKES = {
    "no fabric": ({"WEFT_FABRIC": ""}, "", ("set ", "WEFT_FABRIC")),
    "unknown fabric": (
        {"WEFT_FABRIC": "tofino-44"},
        "",
        ('fabric "tofino-44"', 'did you mean "tofino-4"?'),
    ),
    "unknown granularity": (
        {**TOFINO, "WEFT_OFFLOAD": "streem"},
        "",
        ('WEFT_OFFLOAD: found "streem"', "allowed: stream, message, multicast, auto, off"),
    ),
    "unknown algorithm": (
        TOFINO,
        "smpi/allreduce:rbd",
        ('smpi/allreduce: SMPI has no algorithm "rbd"', "allowed: default, "),
    ),
    "all algorithms": (TOFINO, "smpi/bcast:automatic", ('smpi/bcast: "automatic" runs all',)),
    "factors": (
        TOFINO,
        "network/latency-factor:2",
        ("network/latency-factor: found on the command line", "[[point_to_point]]"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_message(program: Program, tmp_path: Path, mistake: str) -> None:
    environment, setting, says = MISTAKES[mistake]
    more: dict[str, Any] = dict(environment)
    result = simulated.run_library(
        program("calls.c"),
        record=tmp_path / "record.json",
        settings=[setting] if setting else [],
        **more,
    )
    assert result.status == 2
    (said,) = result.messages
    for words in says:
        assert words in said
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_is_one_message(program: Program, tmp_path: Path) -> None:
    record = tmp_path / "absent" / "record.json"
    result = simulated.run_library(program("calls.c"), record=record, WEFT_FABRIC="tofino-4")
    assert result.status == 2
    assert result.messages == [
        f"weft: cannot write the record to {record}: No such file or directory"
    ]


def test_without_a_record_a_deadlock_is_said_at_once(program: Program) -> None:
    result = simulated.run_library(
        program("failures.c"), "receive-without-send", WEFT_FABRIC="tofino-4"
    )
    assert result.status == 1
    (said,) = result.messages
    assert "deadlock" in said
    assert "Ranks that have not ended: 1." in said


def test_ranks_side_by_side_are_refused(program: Program) -> None:
    """SMPI crashes with such a placement even without weft."""
    traffic = program("traffic.c")
    settings = ("contexts/nthreads:2",)
    result = simulated.run_library(traffic, settings=settings, WEFT_FABRIC="tofino-4")
    assert result.status == 2
    assert "weft: contexts/nthreads: found 2;" in result.stderr
