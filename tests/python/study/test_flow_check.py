# SPDX-License-Identifier: LGPL-2.1-only
"""`weft run --check-flows`: calls on flows compared with the same calls on packets."""

import json
from pathlib import Path

import pytest
from msgspec import UnsetType

import weft
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import weft_says
from weft.runs.record import Record
from weft.runs.record_data import FlowCheckPart

LOSSES = {
    "network.flow_control": "none",
    "network.buffer": "8KiB",
    "network.retransmission_timeout": "100us",
}


@pytest.fixture(scope="module")
def program() -> str:
    return str(compiled.program(TESTS / "smpi" / "incast.c"))


def checked(program: str, *, check_flows: bool | float, **more: object) -> Record:
    options = {"fabric": "tofino-4", "offload": "off", **more}
    record = weft.run(program, ["100000", "3"], ranks=4, check_flows=check_flows, **options)  # type: ignore[arg-type]
    record.check()
    assert record.output.split()[1] == "right"
    return record


def check_of(record: Record) -> FlowCheckPart:
    assert not isinstance(record.flow_check, UnsetType)
    return record.flow_check


def test_lossless_packets_take_as_long_as_flows(program: str) -> None:
    record = checked(program, check_flows=True)
    check = check_of(record)
    assert isinstance(record.packets, UnsetType)  # the record describes the run on flows
    assert check.tolerance == 0.05
    assert check.flows_s == record.simulated_time_s
    assert check.packets_s == pytest.approx(check.flows_s, rel=0.05)
    assert {row.call for row in check.calls} >= {"allreduce", "MPI_Send", "MPI_Waitall"}
    assert not any(row.differs for row in check.calls)
    (allreduce, _) = sorted(
        (row for row in check.calls if row.call == "allreduce"), key=lambda row: row.datatype
    )
    assert (allreduce.communicator_size, allreduce.calls, allreduce.op) == (4, 3, "MPI_SUM")
    assert allreduce.bytes_per_call == 4
    assert "0 of 5 kinds of calls differ by more than 5 %" in str(record)


def test_a_smaller_tolerance_finds_more(program: str) -> None:
    check = check_of(checked(program, check_flows=1e-3))
    for row in check.calls:
        assert row.difference is not None
        assert row.differs == (abs(row.difference) > 1e-3)
    assert any(row.differs for row in check.calls)


def test_losses_show_in_the_calls_that_they_hit(program: str) -> None:
    check = check_of(checked(program, check_flows=True, set=LOSSES))
    assert check.packets_s > 1.05 * check.flows_s
    assert check.calls[0].differs
    assert check.calls[0].call in {"MPI_Send", "MPI_Waitall"}


def test_calls_in_switches_are_compared(program: str) -> None:
    check = check_of(checked(program, check_flows=True, offload="stream"))
    assert check.not_compared == 0
    assert not any(row.differs for row in check.calls if row.call == "allreduce")


def test_calls_that_packets_leave_to_hosts_are_not_compared(program: str) -> None:
    record = checked(program, check_flows=True, offload="message")
    check = check_of(record)
    assert check.not_compared == 3
    assert [row.datatype for row in check.calls if row.call == "allreduce"] == ["MPI_LONG_LONG"]
    assert "not compared: 3 calls that switches executed" in str(record)


def test_the_command_prints_and_writes_it(program: str, tmp_path: Path) -> None:
    written = tmp_path / "run.json"
    said = weft_says(
        *("run", "--fabric", "tofino-4", "-n", "4", "--offload", "off", "--json", str(written)),
        *("--check-flows", "--tolerance", "0.1", "--", program, "100000", "3"),
    )
    assert said.returncode == 0, said.stderr
    assert "calls on flows and on packets" in said.stderr
    assert "differ by more than 0.1 %" in said.stderr
    assert said.stdout.count("right") == 1  # the second run's output is discarded
    assert json.loads(written.read_text())["flow_check"]["tolerance"] == pytest.approx(1e-3)


def test_jobs_have_rows_of_their_own(program: str, tmp_path: Path) -> None:
    path, written = tmp_path / "jobs.toml", tmp_path / "run.json"
    path.write_text(
        "".join(
            f'[[jobs]]\nname = "{name}"\nprogram = "{program}"\narguments = ["{size}", "3"]\n'
            f"ranks = {ranks}\n"
            for name, size, ranks in (("large", 100000, 4), ("small", 8, 3))
        )
    )
    run = ["run", "--fabric", "tofino-16", "--jobs", str(path), "--check-flows"]
    said = weft_says(*run, "--tolerance", "0.01", "--json", str(written))
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("right") == 2  # the second run's output is discarded
    assert "calls on flows and on packets" in said.stderr
    check = check_of(weft.read_record(written))
    assert {row.job for row in check.calls} == {"large", "small"}
    assert {(row.job, row.call) for row in check.calls} >= {
        ("large", "allreduce"),
        ("small", "allreduce"),
        ("large", "point-to-point"),
        ("large", "waits"),
    }
    # A job that runs by itself has the rows of its program.
    tables = [{"name": "one", "program": program, "arguments": ["100000", "3"], "ranks": 4}]
    own = check_of(weft.run_jobs(tables, fabric="tofino-16", check_flows=1e-3))
    single = check_of(
        weft.run(program, ["100000", "3"], ranks=4, fabric="tofino-16", check_flows=1e-3)
    )
    assert (own.flows_s, own.packets_s, own.tolerance) == (
        single.flows_s,
        single.packets_s,
        single.tolerance,
    )
    rows, expected = (
        {(one.call, one.datatype): one.difference for one in check.calls if one.datatype}
        for check in (own, single)
    )
    assert rows == expected != {}
    for option in ("--compare", "--alone"):
        refused = weft_says(*run, option)
        assert refused.returncode == 2
        assert f"--check-flows: found together with {option}" in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tolerance", "5"], "--tolerance: found without --check-flows"),
        (["--check-flows", "--compare"], "--check-flows: found together with --compare"),
        (["--check-flows", "--no-contention", "--offload", "off"], "--no-contention: found in a"),
        (["--check-flows", "--set", "routing.policy=spray"], "spreads flows over pools of links"),
    ],
)
def test_what_cannot_be_checked_is_refused(program: str, options: list[str], message: str) -> None:
    said = weft_says("run", "--fabric", "tofino-4", "-n", "4", *options, "--", program, "10", "1")
    assert said.returncode == 2, said.stderr
    assert message in said.stderr
