# SPDX-License-Identifier: LGPL-2.1-only
"""Tables on the terminal."""

import io

import pytest
from rich.console import Console

from tests.python.runs.test_record import raw
from weft.base.tables import console
from weft.runs.html import record_as_html
from weft.runs.record import Record
from weft.runs.record_data import CollectivePart, MulticastPart, MulticastRankPart, OutcomePart
from weft.runs.tables import explain, print_run, why_nothing


def row(**changes: object) -> CollectivePart:
    return CollectivePart.from_json({**raw()["collectives"][0], **changes})


def printed(record: Record, width: int = 1000) -> list[str]:
    stream = io.StringIO()
    print_run(record, Console(file=stream, width=width, highlight=False))
    return stream.getvalue().splitlines()


def record_with(*rows: CollectivePart) -> Record:
    record = Record.from_json(raw())
    record.collectives = list(rows)
    record.wall_time_s = 0.25
    return record


FALLBACK = {"path": "fallback", "reason": "datatype", "algorithm": "ompi", "datatype": "MPI_DOUBLE"}

COUNTS = {**dict.fromkeys(MulticastPart.__struct_fields__, 0), "by_rank": []}
RANK = dict.fromkeys(MulticastRankPart.__struct_fields__, 0)
LOSSES = {"collective": "allgather", "drops": 3, "fetched_bytes": 12288.0}


def test_each_row_says_how_and_why_and_how_long() -> None:
    lines = printed(record_with(row(), row(**FALLBACK, total_time_s=1e-3)))
    assert [" ".join(line.split()) for line in lines] == [
        "collective ranks type, op path reason calls bytes mean(us) max(us)",
        "allreduce 4 DOUBLE, SUM ompi datatype 10 10 KiB 25.000 10.000",
        "allreduce 4 INT, SUM stream offloaded 10 10 KiB 8.000 10.000",
        "fallback (datatype): the switch does not support this datatype",
        "4 ranks on 4 hosts of tofino-4: simulated time 125 us, wall time 250 ms",
    ]


def test_a_run_that_ended_early_may_not_have_offloaded_yet() -> None:
    record = record_with()
    assert why_nothing(record).endswith("called no collective that a switch can execute.")
    record.outcome = OutcomePart(kind="network-failure")
    assert why_nothing(record) == "Nothing was offloaded before the run ended."


def test_waiting_for_late_ranks_is_stated_where_it_matters() -> None:
    waited = row(total_wait_s=8e-5)  # of 3.2e-4 s in 40 calls of a rank
    punctual = row(**FALLBACK, total_wait_s=0)
    started = row(collective="iallreduce", total_wait_s=3e-4)
    stated = "allreduce: of 8.000 us per call, 1.000 us pass before the last rank enters"
    assert stated in printed(record_with(waited, punctual, started))
    for record in (
        record_with(punctual, started),
        record_with(row(total_wait_s=3.1e-5)),  # less than a tenth of its time
        record_with(row(total_time_s=5e-6, total_wait_s=4e-6)),  # 0.8 % of the run
        record_with(row(total_time_s=None, total_wait_s=None)),
    ):
        assert "before the last rank" not in "".join(printed(record))
    assert "1.000 us pass before" in record_as_html(record_with(waited, punctual))


def test_losses_are_told() -> None:
    record = record_with(row())
    record.multicast = [MulticastPart.from_json({**COUNTS, **LOSSES})]
    assert printed(record)[2] == (
        "allgather: 3 chunks did not arrive; ranks fetched 12 KiB from their neighbours"
    )
    record.multicast[0].by_rank = [
        MulticastRankPart.from_json({**RANK, "rank": rank, "drops": drops})
        for rank, drops in enumerate((0, 2, 0, 1))
    ]
    record.multicast[0].staging_drops = 1
    assert printed(record)[2] == (
        "allgather: 3 chunks did not arrive at 2 ranks, most at rank 1 (2) (1 dropped by a"
        " staging ring); ranks fetched 12 KiB from their neighbours"
    )
    record.multicast[0].by_rank.pop()
    assert "did not arrive at rank 1 (1 dropped" in printed(record)[2]
    record.multicast[0].drops = 0
    assert len(printed(record)) == 3


def test_where_nothing_was_offloaded_one_line_says_why() -> None:
    lines = printed(record_with(row(**FALLBACK), row(**FALLBACK | {"reason": "op", "calls": 1})))
    assert lines[3] == (
        "Nothing was offloaded: the switch does not support this datatype (10 calls);"
        " the switch does not support this operation (1 call)."
    )
    assert printed(record_with())[0].startswith(
        "Nothing was offloaded: the program called no collective"
    )


def test_a_narrow_terminal_gets_fewer_columns() -> None:
    record = record_with(row(**FALLBACK))
    assert "bytes" in printed(record, 120)[0]
    for width in range(120, 60, -1):
        lines = printed(record, width)
        assert max(map(len, lines[:2])) <= width
        assert [line.split()[0] for line in lines[:2]] == ["collective", "allreduce"]
    assert "bytes" not in printed(record, 72)[0]
    assert "ranks" not in printed(record, 51)[0]


@pytest.mark.parametrize("width", [1, *range(5, 120, 5)])
def test_no_terminal_is_too_narrow_for_a_run(width: int) -> None:
    record = record_with(row(**FALLBACK, total_time_s=123.456789), row())
    cells = {"allreduce", "DOUBLE,", "SUM", "datatype", "offloaded", "3086419.725", "8.000"}
    assert cells <= set(" ".join(printed(record, width)).split())


def test_a_terminal_without_columns_is_printed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setenv("COLUMNS", "0")
    print_run(record_with(row()), console())
    assert "allreduce" in stream.getvalue()


def test_a_run_that_never_began_has_no_table() -> None:
    record = record_with()
    record.outcome = OutcomePart(kind="signal", message="the program crashed (SIGSEGV)")
    record.simulated_time_s = 0
    assert printed(record) == []


def test_a_reason_that_is_not_known_is_shown_as_it_is() -> None:
    record = record_with()
    assert explain("the moon", record) == "the moon"
    assert explain("", record) == "no reason recorded"


def test_square_brackets_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    record = record_with(row(), row(**FALLBACK | {"reason": "policy"}))
    record.offload = "auto"
    print_run(record, console())
    assert "fallback (policy): the fabric's [[policy]] selects" in capsys.readouterr().out


def test_a_policy_is_the_runs_or_the_fabrics() -> None:
    record = record_with()
    record.offload = "off"
    assert "offloading is off" in explain("policy", record)
    record.offload = "auto"
    assert "[[policy]]" in explain("policy", record)
