# SPDX-License-Identifier: LGPL-2.1-only
"""Index of a store, which always matches its results, and the tables derived from it."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fabricated
import polars as pl
import pytest

from tests.support.campaign_files import head, weft, written
from weft.base.errors import WeftError
from weft.campaign import campaign as api
from weft.campaign import table
from weft.campaign.file import file as files
from weft.campaign.store import index

TEXT = (
    head()
    + """
[[runs]]
program = "latency"
fabric = "tofino-4"
ranks = 4
offload = ["stream", "off"]
bytes = ["1KiB", "64KiB"]
switch.slots = [64, 256]
"""
)


@pytest.fixture
def prepared(tmp_path: Path) -> api.Prepared:
    """Return a campaign of eight runs, seven of which have synthetic results."""
    return fabricated.fill(written(tmp_path, TEXT))


def runs(prepared: api.Prepared) -> list[Path]:
    return [prepared.store.path(run.digest) for run in prepared.runs]


def names(prepared: api.Prepared) -> set[str]:
    return set(index.read(prepared.store).rows["run"])


# ---- The index


def test_the_index_has_what_the_records_have(prepared: api.Prepared) -> None:
    rows = table.frame(prepared)
    assert rows.columns == [
        *("program", "fabric", "ranks", "offload", "bytes", "switch.slots"),
        *table.COLUMNS,
    ]
    for row, run in zip(rows.iter_rows(named=True), prepared.runs, strict=True):
        assert row["run"] == run.digest
        assert {key: row[key] for key in run.point} == run.point
        record = prepared.store.read(run.digest).record
        assert record
        assert row["simulated_time_s"] == record.simulated_time_s
        assert row["outcome"] == "completed"
        assert row["calls"] == sum(one.calls for one in record.collectives)
        busiest = max(record.links, key=lambda link: link.utilisation)
        assert row["busiest_link_utilisation"] == busiest.utilisation > 0
        assert row["bytes_reduced"] == record.switches[0].bytes_reduced
        in_mpi = {one.kind: one.mean_s for one in record.profile}
        out = in_mpi.pop("outside MPI", 0) + in_mpi.pop("ended", 0)
        assert row["mpi_s"] == pytest.approx(sum(in_mpi.values()))
        assert out >= 0


def test_the_index_follows_files_that_come_go_and_change(
    prepared: api.Prepared, tmp_path: Path
) -> None:
    assert len(names(prepared)) == 8
    first, second, third = runs(prepared)[:3]
    moved = tmp_path / first.name
    first.rename(moved)
    assert names(prepared) == {path.stem for path in runs(prepared)} - {first.stem}
    shutil.copy(moved, first)
    assert len(names(prepared)) == 8
    found = json.loads(second.read_text(encoding="utf-8"))
    found["record"]["simulated_time_s"] = 42.0
    second.write_text(json.dumps(found), encoding="utf-8")
    rows = index.read(prepared.store).rows
    assert rows.row(by_predicate=pl.col("run") == second.stem, named=True)["simulated_time_s"] == 42
    (third.parent / ".3f.json.unfinished").write_text("{")
    (third.parent / "notes.txt").write_text("not a run")
    assert len(names(prepared)) == 8


def test_nothing_that_the_index_has_is_read_again(prepared: api.Prepared) -> None:
    assert weft("status", str(prepared.campaign.file)).stdout == "small: 8 runs: 8 done\n"
    for path in runs(prepared):  # neither size nor time reveals the change
        about = path.stat()
        path.write_bytes(b"x" * about.st_size)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    ended = weft("status", str(prepared.campaign.file))
    assert (ended.stdout, ended.stderr) == ("small: 8 runs: 8 done\n", "")
    target = prepared.campaign.file.with_suffix(".csv")
    assert weft("export", str(prepared.campaign.file), "-o", str(target)).status == 0
    assert weft("run", str(prepared.campaign.file)).status == 0


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", None, "another"])
def test_an_index_that_is_missing_damaged_or_of_another_weft_is_made_anew(
    prepared: api.Prepared, content: bytes | str | None
) -> None:
    file = prepared.store.folder / "index.parquet"
    before = index.read(prepared.store).rows
    if content is None:
        file.unlink()
    elif isinstance(content, bytes):
        file.write_bytes(content)
    else:
        pl.read_parquet(file).with_columns(simulated_time_s=0.0).write_parquet(file)
    assert index.read(prepared.store).rows.equals(before)
    assert pl.read_parquet(file).drop("size", "changed_ns").equals(before)


def test_an_index_that_cannot_be_written_is_done_without(
    prepared: api.Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (prepared.store.folder / "index.parquet").unlink(missing_ok=True)
    monkeypatch.setattr(os, "replace", full)
    assert len(names(prepared)) == 8
    assert not list(prepared.store.folder.glob(".index*"))
    assert not (prepared.store.folder / "index.parquet").exists()


def test_results_that_cannot_be_read_are_named_and_made_again(prepared: api.Prepared) -> None:
    cut, wrong = runs(prepared)[:2]
    cut.write_text(cut.read_text(encoding="utf-8")[:500], encoding="utf-8")
    wrong.write_text('{"schema": "weft-campaign-run-1", "point": 3}', encoding="utf-8")
    said = weft("status", str(prepared.campaign.file))
    assert (said.status, said.stdout) == (3, "small: 8 runs: 6 done, 2 to do\n")
    assert f"{cut}: is not valid JSON: error at line 1" in said.stderr
    assert f"{wrong}: 'point' is 3, but must be an object" in said.stderr
    assert weft("run", str(prepared.campaign.file)).stdout == "small: 8 runs: 8 done\n"


def test_several_writers_leave_a_whole_index(prepared: api.Prepared) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from weft.campaign.store import index\n"
        "from weft.campaign.store.store import Store\n"
        "store = Store(Path(sys.argv[1]), 'small')\n"
        "for _ in range(30):\n"
        "    (store.folder / 'index.parquet').unlink(missing_ok=True)\n"
        "    assert len(index.read(store).rows) == 8\n"
    )
    command = [sys.executable, "-c", code, str(prepared.store.folder)]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [child.wait(timeout=120) for child in both] == [0, 0]
    assert not list(prepared.store.folder.glob(".index*"))
    assert len(names(prepared)) == 8


# ---- Tables


def test_runs_that_are_missing_are_shown_if_asked_for(prepared: api.Prepared) -> None:
    runs(prepared)[3].unlink()
    assert len(table.frame(prepared)) == 7
    rows = table.frame(prepared, missing=True)
    assert rows["run"].to_list() == [run.digest for run in prepared.runs]
    assert rows["state"].to_list() == ["done"] * 3 + ["missing"] + ["done"] * 4
    assert rows["simulated_time_s"].null_count() == 1
    file = prepared.campaign.file
    out = weft("export", str(file), "-o", "-", "--missing").stdout
    assert [row["state"] for row in csv.DictReader(out.splitlines())] == rows["state"].to_list()
    both = weft("export", str(file), "-o", "-", "--missing", "--collectives")
    assert (both.status, "--missing: found together with" in both.stderr) == (2, True)


def test_collectives_have_a_row_each_and_leave_keys_their_names(prepared: api.Prepared) -> None:
    rows = table.collectives(prepared)
    assert "call_bytes" in rows.columns  # `bytes` is a key of this campaign
    assert set(rows["bytes"]) == {"1KiB", "64KiB"}
    assert set(rows["run"]) == names(prepared)
    record = prepared.store.read(prepared.runs[0].digest).record
    assert record
    entry = record.collectives[0]
    row = rows.row(0, named=True)
    assert row["collective"] == entry.collective
    assert row["call_bytes"] == entry.bytes
    assert row["mean_time_s"] == pytest.approx(entry.mean_time_s)
    assert row["mean_wait_s"] == entry.mean_wait_s
    assert row["mean_wait_s"] is not None
    whole = table.frame(prepared).row(0, named=True)
    total_s = sum(one.total_wait_s or 0 for one in record.collectives)
    assert whole["collectives_wait_s"] == pytest.approx(total_s / record.ranks)
    assert set(table.described(rows, collectives=True)) == set(rows.columns)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json"])
@pytest.mark.parametrize("which", ["runs", "collectives"])
def test_tables_are_written_as_their_names_say(
    prepared: api.Prepared, tmp_path: Path, ending: str, which: str
) -> None:
    target = tmp_path / f"table{ending}"
    options = ["--collectives"] if which == "collectives" else []
    ended = weft("export", str(prepared.campaign.file), "-o", str(target), *options)
    assert ended.status == 0, ended.stderr
    wanted = table.collectives(prepared) if options else table.frame(prepared)
    if ending == ".csv":
        with target.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert float(rows[5]["wall_time_s" if not options else "max_time_s"]) > 0
        assert list(rows[0]) == wanted.columns
        assert len(rows) == len(wanted)
    elif ending == ".parquet":
        assert pl.read_parquet(target).equals(wanted)
        said = json.loads(pl.read_parquet_metadata(target)["weft-campaign-table-1"])
        assert list(said) == wanted.columns
    else:
        found = json.loads(target.read_text(encoding="utf-8"))
        assert found["rows"] == wanted.to_dicts()
        assert list(found["columns"]) == wanted.columns
        assert found["columns"]["run"]["meaning"]


def test_a_table_goes_to_standard_output_and_other_endings_are_refused(
    prepared: api.Prepared, tmp_path: Path
) -> None:
    out = weft("export", str(prepared.campaign.file), "-o", "-")
    assert len(list(csv.DictReader(out.stdout.splitlines()))) == 8
    wrong = weft("export", str(prepared.campaign.file), "-o", str(tmp_path / "table.xlsx"))
    assert wrong.status == 2
    assert "-o: found 'table.xlsx'; allowed are files whose names end in .csv" in wrong.stderr


def test_columns_of_mixed_values_are_texts(tmp_path: Path) -> None:
    file = tmp_path / "mixed.toml"
    text = TEXT.replace("[64, 256]", '[64, 128.5]\nlink.bandwidth = ["100Gbps"]')
    file.write_text(text.replace('["1KiB", "64KiB"]', '[4, "1KiB"]'), encoding="utf-8")
    rows = table.frame(api.prepare(file), missing=True)
    assert rows["switch.slots"].dtype == pl.Float64
    assert rows["bytes"].to_list()[::2] == ["4", "1KiB"] * 2


def test_a_placeholder_is_not_called_as_a_column(tmp_path: Path) -> None:
    file = tmp_path / "calls.toml"
    file.write_text(TEXT.replace("bytes", "calls"), encoding="utf-8")
    with pytest.raises(WeftError, match="calls: is the name of a column of results"):
        files.read(file)


# ---- Output of status


def test_status_counts_results_of_other_versions(prepared: api.Prepared) -> None:
    file = prepared.campaign.file
    file.write_text(TEXT.replace("[64, 256]", "[64, 128]"), encoding="utf-8")
    said = weft("status", str(file)).stdout
    assert said == (
        "small: 8 runs: 4 done, 4 to do\n"
        "4 results of other versions of this campaign are in the store\n"
    )


def test_status_says_what_is_being_made_by_others_that_live(prepared: api.Prepared) -> None:
    file = prepared.campaign.file
    path = runs(prepared)[2]
    path.unlink()
    (prepared.store.folder / "claims" / path.stem).touch()  # left by a killed process
    assert weft("status", str(file)).stdout == "small: 8 runs: 7 done, 1 to do\n"
    with prepared.store.claim(path.stem) as ours:
        assert ours
        said = weft("status", str(file)).stdout
        assert said == "small: 8 runs: 7 done, 1 to do\n1 run in progress\n"
        ran = weft("run", str(file))  # leaves the run to the other process
        assert (ran.status, ran.stdout) == (3, "small: 8 runs: 7 done, 1 to do\n")
    assert weft("run", str(file)).status == 0


def test_all_done_but_what_is_impossible_is_no_success(prepared: api.Prepared) -> None:
    file = prepared.campaign.file
    file.write_text(TEXT.replace('"tofino-4"', '["tofino-4", "nowhere"]'), encoding="utf-8")
    ran = weft("run", str(file))
    assert ran.status == 1
    assert ran.stdout == "small: 8 runs: 8 done, 8 combinations cannot be run\n"
