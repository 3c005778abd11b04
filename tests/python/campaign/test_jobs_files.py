# SPDX-License-Identifier: LGPL-2.1-only
"""Jobs files as an axis of a campaign."""

import csv
from pathlib import Path

import pytest

import weft as api
from tests.support import compiled
from tests.support.campaign_files import weft, written
from tests.support.places import TESTS

CAMPAIGN = """
[campaign]
name = "small"
best = false
[programs.one]
jobs = "one.toml"
[programs.two]
jobs = "two.toml"
[[runs]]
program = ["one", "two"]
fabric = "tofino-16"
offload = ["stream", "off"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    program = compiled.program(TESTS / "smpi" / "jobs.c")
    for name, jobs in (("one", ["a"]), ("two", ["a", "b"])):
        text = "".join(
            f'[[jobs]]\nname = "{job}"\nprogram = "{program}"\narguments = ["sum", "2"]\n'
            "ranks = 4\n"
            for job in jobs
        )
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def rows(file: Path) -> list[dict[str, str]]:
    table = file.with_suffix(".csv")
    assert weft("export", str(file), "-o", str(table)).status == 0
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def test_jobs_files_are_values_of_an_axis(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (0, "small: 4 runs: 4 done\n")
    found = {(row["program"], row["offload"]): row for row in rows(file)}
    assert {name: row["ranks"] for (name, _), row in found.items()} == {"one": "4", "two": "8"}
    for (name, offload), row in found.items():
        record = api.run_jobs(folder / f"{name}.toml", fabric="tofino-16", offload=offload)
        assert float(row["simulated_time_s"]) == record.simulated_time_s
        offloaded = sum(job.offloaded_calls for job in record.jobs or ())
        assert int(row["offloaded_calls"]) == offloaded
        assert (offloaded > 0) == (offload == "stream")
    report = file.with_suffix(".html")
    assert weft("report", str(file), "-o", str(report)).status == 0
    assert "--jobs one.toml" in report.read_text(encoding="utf-8")


def test_the_gain_is_that_of_the_own_job(folder: Path) -> None:
    """The second job starts late and gains nothing: the whole run takes equally long both times."""
    jobs = folder / "two.toml"
    jobs.write_text(jobs.read_text().replace('"sum", "2"', '"sum", "40"', 1) + 'start = "5ms"\n')
    file = written(folder, CAMPAIGN)
    assert weft("run", str(file)).status == 0
    found = {row["offload"]: row for row in rows(file) if row["program"] == "two"}
    whole = [float(found[mode]["simulated_time_s"]) for mode in ("off", "stream")]
    own = [float(found[mode]["own_time_s"]) for mode in ("off", "stream")]
    assert whole[0] / whole[1] == pytest.approx(1, rel=0.02)
    assert float(found["stream"]["speed_up"]) == own[0] / own[1] != pytest.approx(1, rel=0.05)
    table = file.with_name("jobs.csv")
    assert weft("export", str(file), "--jobs", "-o", str(table)).status == 0
    lines = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert len(lines) == 2 * (1 + 2)
    gains = {
        line["job"]: line for line in lines if line["job_speed_up"] and line["program"] == "two"
    }
    assert float(gains["a"]["job_speed_up"]) == own[0] / own[1]
    assert float(gains["a"]["time_s"]) == own[1]
    assert float(gains["b"]["start_s"]) == pytest.approx(5e-3)
    assert {line["job_ranks"] for line in lines} == {"4"}
    calls = file.with_name("calls.csv")
    assert weft("export", str(file), "--collectives", "-o", str(calls)).status == 0
    named = list(csv.DictReader(calls.read_text(encoding="utf-8").splitlines()))
    assert {line["job"] for line in named if line["program"] == "two"} == {"a", "b"}
    frame = api.Campaign(file).run().jobs()
    assert len(frame) == len(lines)
    report = file.with_suffix(".html")
    assert weft("report", str(file), "-o", str(report)).status == 0
    text = report.read_text(encoding="utf-8")
    assert "counts everywhere on this page by its first job" in text
    both = weft("export", str(file), "--jobs", "--missing", "-o", str(table))
    assert (both.status, both.stderr) == (
        2,
        "weft: --missing: found together with --jobs; leave one out\n",
    )


def test_the_gains_of_jobs_have_intervals(folder: Path) -> None:
    jobs = folder / "two.toml"
    jobs.write_text(jobs.read_text().replace('"sum", "2"', '"sum", "40"', 1))
    file = written(folder, CAMPAIGN.replace("best = false\n", ""))
    assert weft("run", str(file)).status == 0
    found = {
        row["job"]: row
        for row in api.Campaign(file).run().jobs().iter_rows(named=True)
        if (row["program"], row["offload"]) == ("two", "stream")
    }
    record = api.run_jobs(jobs, fabric="tofino-16", compare=True)
    for one in record.jobs or ():
        row, sure, best = found[one.name], one.certainty, one.certainty_over_best
        assert sure and best
        assert (row["job_speed_up"], row["job_speed_up_says"]) == (one.speed_up, sure.says)
        assert (row["job_speed_up_low"], row["job_speed_up_high"]) == (sure.low, sure.high)
        assert row["job_speed_up_over_best"] == one.speed_up_over_best
        assert row["job_speed_up_over_best_low"] == best.low
        assert row["not_measured"] == one.not_measured
    report = file.with_suffix(".html")
    assert weft("report", str(file), "-o", str(report)).status == 0
    text = report.read_text(encoding="utf-8")
    assert all(heading in text for heading in (">interval<", ">over best<", ">not measured<"))


ONE_PROGRAM = """
[campaign]
name = "small"
[programs.one]
source = "one.c"
[[runs]]
program = "one"
fabric = "tofino-4"
ranks = 2
offload = "off"
"""


def test_runs_of_one_program_have_no_jobs(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(
        "#include <mpi.h>\nint main(void){MPI_Init(0,0);MPI_Finalize();}"
    )
    file = written(tmp_path, ONE_PROGRAM)
    assert weft("run", str(file)).status == 0
    said = weft("export", str(file), "--jobs", "-o", str(tmp_path / "jobs.csv"))
    assert said.status == 2
    assert "has no finished run of a jobs file" in said.stderr


def test_a_changed_jobs_file_repeats_its_runs(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    assert weft("run", str(file)).status == 0
    jobs = folder / "two.toml"
    jobs.write_text(jobs.read_text().replace('"sum", "2"', '"sum", "3"'))
    assert "4 runs: 2 done, 2 to do" in weft("plan", str(file)).stdout


def test_a_job_that_fails_fails_the_run(folder: Path) -> None:
    jobs = folder / "one.toml"
    jobs.write_text(jobs.read_text().replace('"sum", "2"', '"abort", "2"'))
    file = written(folder, CAMPAIGN)
    assert "4 runs: 2 done, 2 failed" in weft("run", str(file)).stdout
    failed = {row["program"]: row["outcome"] for row in rows(file) if row["state"] == "failed"}
    assert failed == {"one": "abort"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'fabric = "tofino-16"',
            'fabric = "tofino-16"\nranks = 4',
            "[[runs]] ranks: found with one; the jobs file has it for each job",
        ),
        (
            'jobs = "two.toml"',
            'jobs = "two.toml"\narguments = ["a"]',
            "[programs.two] arguments: found beside jobs; the jobs file has it for each of its",
        ),
        ('jobs = "two.toml"', 'jobs = "no.toml"', "[programs.two] jobs: "),
        (
            'jobs = "two.toml"',
            'path = "two"',
            "[[runs]] program: found one, which is a jobs file, beside programs; write a table",
        ),
        ('jobs = "two.toml"', "", "[programs.two] source: write one of source, a file to compile"),
    ],
)
def test_mistakes_are_one_message(folder: Path, old: str, new: str, said: str) -> None:
    ended = weft("run", str(written(folder, CAMPAIGN.replace(old, new))))
    assert ended.status == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
