# SPDX-License-Identifier: LGPL-2.1-only
"""`weft report`: the page of single records, and the detection of their differences."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job
from tests.support.places import TESTS
from tests.support.simulated import weft as run_weft
from weft.base.units import format_ratio
from weft.report.data import records
from weft.report.data.study import Study
from weft.report.page import jobs
from weft.report.page.sentences import headline
from weft.runs.record import Record
from weft.study.comparison.comparison import ComparisonRecord

LATENCY = TESTS / "smpi" / "latency.c"
RUN = ("-q", "--compare", "--fabric", "tofino-4", "-n", "4")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a comparison for 1 KiB."""
    file = tmp_path_factory.mktemp("records") / "small.json"
    program = str(compiled.program(LATENCY))
    ended = run_weft("run", *RUN, "--json", str(file), "--", program, "1024")
    assert ended.status == 0, ended.stderr
    return file


def changed(record: Record, **other: Any) -> Record:
    """Return a modified record; `fabric_…` names parts of its fabric."""
    data = record.to_json()
    for name, value in other.items():
        if name.startswith("fabric_"):
            data["fabric"][name.removeprefix("fabric_")] = value
        else:
            data[name] = value
    return Record.from_json(data)


def runs(file: Path) -> tuple[Record, Record, Record]:
    """Return the records of a comparison: with offload, without, with the fastest algorithms."""
    found = records.read(file)
    assert isinstance(found, ComparisonRecord)
    assert found.without_offload is not None
    assert found.with_best is not None
    return found.with_offload, found.without_offload, found.with_best


def keys(study: Study, *names: str) -> list[tuple[str, ...]]:
    return [tuple(point.get(name, "-") for name in names) for point in study.points]


# ---- The page ------------------------------------------------------------------------------------


def test_comparisons_and_records_are_one_page(compared: Path, tmp_path: Path) -> None:
    stream, hosts, _ = runs(compared)
    slow = changed(
        stream, arguments=["2048"], simulated_time_s=2.0, command=["weft", "run", "--", "x", "2048"]
    )
    slow.save(tmp_path / "slow.json")
    changed(hosts, arguments=["2048"], simulated_time_s=4.0).save(tmp_path / "hosts.json")
    page = tmp_path / "page.html"
    files = [str(compared), str(tmp_path / "slow.json"), str(tmp_path / "hosts.json")]
    said = run_weft("report", *files, "-o", str(page))
    assert re.fullmatch(rf"{re.escape(str(page))}: 5 runs, \d+ KiB\n", said.stdout), said.stderr
    text = page.read_text(encoding="utf-8")
    assert "for first argument 2048 (2 s against 4 s)" in text
    assert "Commands are as they were given" in text
    assert f"<pre>weft run {' '.join(RUN)} --json" in text
    assert "campaign" not in text.partition("<script")[0].lower()
    again = tmp_path / "again.html"
    given: list[Path | Record] = [compared, slow, weft.read_record(tmp_path / "hosts.json")]
    weft.write_report(given, again)
    assert again.read_bytes() == page.read_bytes()
    one = tmp_path / "one.html"
    weft.write_report([stream], one)
    assert "this set of records has no run without offloading" in one.read_text("utf-8")


# ---- Differences ---------------------------------------------------------------------------------


def test_keys_in_which_no_run_differs_say_nothing(compared: Path) -> None:
    stream, hosts, _ = runs(compared)
    study = records.of([stream, hosts, stream])
    assert list(study.points[0]) == ["program", "fabric", "ranks", "offload", "fallback"]
    assert keys(study, "program", "fabric", "offload") == [
        ("latency", "tofino-4", "stream"),
        ("latency", "tofino-4", "off"),
    ], "the same record twice is one"
    assert len(study.compared) == 1


@pytest.mark.parametrize(
    ("other", "key", "values"),
    [
        ({"arguments": ["1024", "3"]}, "second argument", ["", "3"]),
        ({"fabric_changes": ["switch.slots=64"]}, "switch.slots", ["", "64"]),
        ({"weft": "0.0.9"}, "weft", [weft.__version__, "0.0.9"]),
        ({"ppn": 2}, "ppn", ["", "2"]),
        ({"config": ["a:b", "c:d"]}, "cfg", ["", "a:b c:d"]),
        ({"wall_time_s": 77.0}, "repetition", ["1", "2"]),
        ({"program": "/elsewhere/other"}, "program", ["latency", "other"]),
        ({"replayed": "/traces/lu"}, "program", ["latency", "lu (replayed)"]),
        ({"fabric_file": "/nowhere/mine.toml"}, "fabric", ["tofino-4", "/nowhere/mine.toml"]),
    ],
)
def test_what_differs_is_a_key(
    compared: Path, other: dict[str, Any], key: str, values: Sequence[str]
) -> None:
    first = runs(compared)[0]
    study = records.of([first, changed(first, **other)])
    assert [value for (value,) in keys(study, key)] == values
    assert sum(len(axis.values) > 1 for axis in study.axes) == 1
    assert headline(study)


def test_programs_of_one_name_are_told_apart_by_their_paths(compared: Path) -> None:
    first = runs(compared)[0]
    both = [changed(first, program=f"/{folder}/lu", arguments=[folder]) for folder in "ab"]
    study = records.of(both)
    assert keys(study, "program") == [("/a/lu",), ("/b/lu",)]
    assert "first argument" not in study.points[0], "each program has its own arguments"


def test_shipped_fabrics_are_those_of_any_installation(compared: Path) -> None:
    first = runs(compared)[0]
    elsewhere = changed(first, fabric_file="/opt/other/weft/fabrics/tofino-4.toml")
    study = records.of([first, elsewhere])
    assert keys(study, "fabric") == [("tofino-4",), ("tofino-4",)]
    assert study.fabrics == {"tofino-4": "tofino-4"}


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "'{file}' does not exist"),
        ("[]", "{file} is not a record of a run"),
        ('{"schema": "weft-campaign-run-1"}', "it has the schema 'weft-campaign-run-1'"),
        ("{", "{file} is not a record of a run"),
    ],
)
def test_what_is_no_record_is_named(
    content: str | None, said: str, compared: Path, tmp_path: Path
) -> None:
    file, page = tmp_path / "wrong.json", tmp_path / "page.html"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    ended = run_weft("report", str(compared), str(file), "-o", str(page))
    assert ended.status == 2
    assert said.format(file=file) in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not page.exists()


def test_a_page_is_never_one_of_its_records(compared: Path) -> None:
    before = compared.read_bytes()
    ended = run_weft("report", str(compared), "-o", str(compared))
    assert ended.status == 2
    assert "-o" in ended.stderr
    assert compared.read_bytes() == before
    assert json.loads(before)["schema"] == "weft-compare/1"


def test_no_record_is_told() -> None:
    with pytest.raises(weft.WeftError, match="records: found an empty list"):
        weft.write_report([], "x.html")
    assert run_weft("report", "-o", "x.html").status == 2


# ---- Jobs ----------------------------------------------------------------------------------------


def test_jobs_that_also_ran_alone_have_a_section() -> None:
    program = str(compiled.program(TESTS / "smpi" / "jobs.c"))
    tables = [job(name, program, "sum", 5, ranks=8) for name in ("first", "second")]
    record = weft.run_jobs(
        tables, alone=True, fabric="tofino-16", set={"switch.channels": 2}, offload="stream"
    )
    study = records.of([record])
    text = jobs.section(study)
    for one in record.jobs or ():
        assert one.slowdown is not None and one.alone and one.alone.ratios
        assert f">{format_ratio(one.slowdown)}<" in text
        for row in one.slowdowns():
            assert f">{row.together.collective}<" in text
            assert f">{format_ratio(row.ratio.max)}<" in text
    other = records.of([record, changed(record, wall_time_s=1.0, ranks=99)])
    assert other.alone["run"].to_list() == [1, 1, 2, 2]
    without = record.to_json()
    for one in without["jobs"]:
        del one["alone"]
    assert jobs.section(records.of([Record.from_json(without)])) == ""


@pytest.fixture(scope="module")
def compared_jobs() -> Record:
    """Return the record of two jobs that also ran without offload."""
    program = str(compiled.program(TESTS / "smpi" / "jobs.c"))
    tables = [job(name, program, "sum", 5, ranks=8) for name in ("first", "second")]
    return weft.run_jobs(tables, compare=True, fabric="tofino-16")


def test_gains_of_jobs_have_a_section(compared_jobs: Record) -> None:
    text = jobs.section(records.of([compared_jobs]))
    assert "Gain of each job" in text
    assert "Gains are for this placement of the jobs" in text
    for one in compared_jobs.jobs or ():
        assert one.certainty and one.certainty_over_best and one.not_measured
        assert f">{format_ratio(one.speed_up)}<" in text
        assert one.certainty.interval in text
        assert one.certainty_over_best.interval in text
        assert one.not_measured in text
    assert "Slowdown by other jobs" not in text


def test_compared_jobs_are_three_runs_by_their_first_job(compared_jobs: Record) -> None:
    study = records.of([compared_jobs])
    assert keys(study, "program", "offload") == [
        ("first (with second)", "stream"),
        ("first (with second)", "off"),
        ("first (with second)", "off"),
    ]
    assert study.uncompared == 0
    assert study.over_best is not None and study.over_best.uncompared == 0
    own = (compared_jobs.jobs or [])[0]
    for its, speed_up, sure in (
        (study, own.speed_up, own.certainty),
        (study.over_best, own.speed_up_over_best, own.certainty_over_best),
    ):
        (one,) = its.compared
        assert one.speed_up == pytest.approx(speed_up)
        assert one.certainty == sure
    assert study.rows["mpi_s"].is_null().to_list() == [False, True, True], "not recorded"


def test_jobs_alone_are_a_page(compared_jobs: Record, tmp_path: Path) -> None:
    data = compared_jobs.to_json()
    for one in data["jobs"]:
        for part in ("without_offload", "with_best", "certainty", "certainty_over_best"):
            del one[part]
    page = tmp_path / "page.html"
    weft.write_report([Record.from_json(data)], page)
    assert "this set of records has no run without offloading" in page.read_text("utf-8")
