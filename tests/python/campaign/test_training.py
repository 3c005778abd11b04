# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations as runs of a campaign."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

import weft as api
from tests.support.campaign_files import weft, written
from tests.support.places import ROOT
from weft.campaign import campaign as campaigns
from weft.campaign.file.columns import COMMON_COLUMNS, ITERATION_COLUMNS, PART_COLUMNS
from weft.campaign.file.iterations import IterationPlan
from weft.training.variants import VARIANTS

MODEL = """
like = "llama-3-8b"
[model]
layers = 4
[parallel]
tensor = 8
data = 2
[batch]
sequence = 2048
global = 4
[train]
gpu = "h100-sxm"
"""
CAMPAIGN = """
[campaign]
name = "small"
[programs.llama]
model = "llama.toml"
[[runs]]
program = "llama"
fabric = "superpod-h100-32"
collectives = ["rings and trees", "NVLS", "SHARP"]
parallel.data = [1, 2]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "llama.toml").write_text(MODEL, encoding="utf-8")
    return tmp_path


def rows(file: Path, *options: str) -> list[dict[str, str]]:
    table = file.with_suffix(".csv")
    ended = weft("export", str(file), *options, "-o", str(table))
    assert ended.status == 0, ended.stderr
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def test_runs_are_iterations_of_weft_train(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (0, "small: 6 runs: 6 done\n")
    found = rows(file)
    assert list(found[0])[5:] == [*COMMON_COLUMNS, *ITERATION_COLUMNS]
    first: dict[str, float] = {}
    for row in found:
        changes = dict(one.split("=", 1) for one in VARIANTS[row["collectives"]].changes)
        its = api.train(
            folder / "llama.toml",
            "superpod-h100-32",
            set=changes,
            model_changes={"parallel.data": int(row["parallel.data"])},
        )
        assert int(row["ranks"]) == 8 * int(row["parallel.data"])
        assert float(row["simulated_time_s"]) == its.time_s
        assert float(row["mfu"]) == its.mfu
        exposed = sum(one.mean_s for one in its.iteration.parts if "exposed" in one.name)
        assert float(row["exposed_s"]) == pytest.approx(exposed, rel=1e-12)
        base = first.setdefault(row["parallel.data"], its.time_s)
        speed_up = float(row["speed_up"]) if row["speed_up"] else 1.0
        assert speed_up == pytest.approx(base / its.time_s, rel=1e-12)
    assert weft("run", str(file)).stderr == ""  # nothing left to do


def test_parts_have_a_row_each(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    assert weft("run", str(file)).status == 0
    found = rows(file, "--parts")
    assert list(found[0])[5:] == list(PART_COLUMNS)
    for row in rows(file):
        parts = [float(one["mean_s"]) for one in found if one["run"] == row["run"]]
        assert sum(parts) == pytest.approx(float(row["simulated_time_s"]), rel=1e-9)
    both = weft("export", str(file), "--parts", "--collectives", "-o", "-")
    assert both.status == 2
    assert "--parts: found together with --collectives; leave one out" in both.stderr


@pytest.mark.parametrize("which", [(), ("--parts",)])
def test_tables_in_parquet_and_json_describe_their_columns(
    folder: Path, which: tuple[str, ...]
) -> None:
    file = written(folder, CAMPAIGN.replace("[1, 2]", "1"))
    assert weft("run", str(file)).status == 0
    parquet, text = folder / "t.parquet", folder / "t.json"
    for target in (parquet, text):
        assert weft("export", str(file), *which, "-o", str(target)).status == 0
    meanings = json.loads(text.read_text(encoding="utf-8"))["columns"]
    frame = pl.read_parquet(parquet)
    assert list(meanings) == frame.columns
    name = "mean_s" if which else "exposed_s"
    assert meanings[name]["unit"] == "s"
    assert meanings[name]["meaning"]


def test_a_changed_model_or_key_repeats_runs_and_a_comment_does_not(folder: Path) -> None:
    file = written(folder, CAMPAIGN)
    assert weft("run", str(file)).status == 0
    model = folder / "llama.toml"
    model.write_text(f"# a comment\n{MODEL}", encoding="utf-8")
    assert "6 runs: 6 done" in weft("plan", str(file)).stdout
    written(folder, CAMPAIGN.replace("[1, 2]", "[2, 4]"))
    assert "6 runs: 3 done, 3 to do" in weft("plan", str(file)).stdout
    written(folder, CAMPAIGN)
    model.write_text(MODEL.replace("2048", "4096"), encoding="utf-8")
    assert "6 runs: 0 done, 6 to do" in weft("plan", str(file)).stdout


def test_presets_gpus_stragglers_and_versions_are_axes(folder: Path) -> None:
    text = CAMPAIGN.replace('"llama.toml"', '"llama-3-8b"')
    text = text[: text.index("collectives")] + (
        'train.gpu = ["h100-sxm", "h200"]\nmodel.layers = 2\nparallel.tensor = 8\n'
        'slowdown = ["", "3=1.5"]\nfallback = "nccl-2.29"\n'
    )
    file = written(folder, text)
    assert weft("run", str(file)).status == 0
    times = {
        (row["train.gpu"], row["slowdown"]): float(row["simulated_time_s"]) for row in rows(file)
    }
    assert len(times) == 4
    assert times["h100-sxm", "3=1.5"] > times["h100-sxm", ""]
    assert times["h100-sxm", ""] != times["h200", ""]


def test_combinations_that_do_not_fit_are_named(folder: Path) -> None:
    text = CAMPAIGN.replace("parallel.data = [1, 2]", "parallel.tensor = [3, 8]")
    ran = weft("run", str(written(folder, text)))
    assert ran.status == 1
    assert "small: 3 runs: 3 done, 3 combinations cannot be run" in ran.stdout
    assert "parallel.tensor 3 (and 2 more): " in ran.stderr
    assert "tensor: found 3, which does not divide heads = 32" in ran.stderr


def test_lacking_memory_and_gpus_are_refused(folder: Path) -> None:
    text = CAMPAIGN[: CAMPAIGN.index("collectives")]
    text = text.replace('"superpod-h100-32"', '"dgx-h100"') + (
        "parallel.tensor = 8\nparallel.data = 1\nmodel.layers = [4, 800]\n"
        "[[runs]]\n"
        'program = "llama"\nfabric = "dgx-h100"\nparallel.data = 2\n'
    )
    file = written(folder, text)
    assert weft("run", str(file)).status == 1
    found = {(row["model.layers"], row["ranks"]): row for row in rows(file)}
    assert found["4", "8"]["state"] == "done"
    assert found["800", "8"]["state"] == "refused"
    assert "h100-sxm has 80 GB" in found["800", "8"]["message"]
    assert found["", "16"]["state"] == "refused"
    assert "16" in found["", "16"]["message"]
    assert "3 runs: 1 done, 2 refused" in weft("status", str(file)).stdout


def test_limits_end_iterations(folder: Path) -> None:
    slow = CAMPAIGN.replace('name = "small"', 'name = "small"\ntimeout = "1ms"')
    file = written(folder, slow.replace("[1, 2]", "1"))
    assert "3 runs: 0 done, 3 failed" in weft("run", str(file)).stdout
    assert {row["outcome"] for row in rows(file)} == {"timeout"}
    written(folder, CAMPAIGN.replace("[1, 2]", "1").replace('"small"', '"small"\nmemory = "1MiB"'))
    assert "3 runs: 0 done, 3 failed" in weft("run", str(file)).stdout
    assert {row["outcome"] for row in rows(file)} == {"memory-limit"}
    written(folder, CAMPAIGN.replace("[1, 2]", "1"))
    assert "3 runs: 3 done" in weft("run", str(file)).stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("parallel.data = [1, 2]", "ranks = 8", "[[runs]] ranks: found with llama; the training"),
        (
            "parallel.data = [1, 2]",
            "parallel.tensors = 8",
            "[[runs]] parallel.tensors: training files have no such key; did you mean tensor",
        ),
        ("parallel.data = [1, 2]", 'offload = "off"', "[[runs]] offload: found with llama, an"),
        ('"NVLS", "SHARP"]', '"nvls"]', "[[runs]] collectives: found 'nvls'; allowed are rings"),
        ("parallel.data = [1, 2]", "slowdown = 2", "slowdown: found 2; write RANK=FACTOR"),
        ("parallel.data = [1, 2]", 'fallback = "openmpi-5.0"', "collectives of training are NCCL"),
        ("parallel.data = [1, 2]", "fault.scale = 2", "faults: is missing, but required by fault"),
        ("parallel.data = [1, 2]", 'faults = "no.toml"', "no.toml: cannot be read: No such file"),
        ("parallel.data = [1, 2]", "noise = 3", "noise: found 3; allowed is a number from 0 to 2"),
        ("parallel.data = [1, 2]", "noise_seed = 1.5", "noise_seed: found 1.5; allowed is a whole"),
        (
            "parallel.data = [1, 2]",
            'detail = "all"',
            "detail: found 'all'; allowed are slice, step",
        ),
        (
            "parallel.data = [1, 2]",
            'execute_all = "yes"',
            "execute_all: found 'yes'; allowed are t",
        ),
        ("parallel.data = [1, 2]", 'gpu = "h1000"', "h1000"),
        (
            "parallel.data = [1, 2]",
            "replicate = 8",
            "replicate: found with llama, a model; it appl",
        ),
        ("parallel.data = [1, 2]", "seed = 8", "seed: found with llama, an iteration of training"),
        (
            'model = "llama.toml"',
            'model = "llama.toml"\narguments = ["a"]',
            "[programs.llama] arguments: found beside model, which is not a program; leave it out",
        ),
        ('"llama.toml"', '"lama-3-8b"', "[programs.llama] model: found 'lama-3-8b'; "),
    ],
)
def test_mistakes_are_one_message(folder: Path, old: str, new: str, said: str) -> None:
    assert old in CAMPAIGN
    ended = weft("run", str(written(folder, CAMPAIGN.replace(old, new))))
    assert ended.status == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_keys_of_training_files_need_a_model(folder: Path) -> None:
    text = CAMPAIGN.replace('model = "llama.toml"', 'path = "program"') + "ranks = 4\n"
    ended = weft("run", str(written(folder, text)))
    assert ended.status == 2
    assert "collectives: found with llama, a program; it applies to iterations of" in ended.stderr


def test_campaigns_in_python_train_models(folder: Path) -> None:
    campaign = api.Campaign(
        "own",
        programs={"llama": api.Program(model="llama.toml")},
        axes={"fabric": "superpod-h100-32", "collectives": list(VARIANTS)[:2]},
        folder=folder,
    )
    results = campaign.run(progress=False)
    assert results.frame()["state"].to_list() == ["done", "done"]
    assert set(results.columns(parts=True)["column"]) == set(results.parts().columns)
    (point, record), _ = results.iterations()
    assert record.time_s == results.frame()["simulated_time_s"][0]
    assert point["collectives"] == "rings and trees"
    assert record.uses
    assert {len(one.columns) for one in record.uses.ranks} == {240}
    assert list(results.records()) == []
    with pytest.raises(api.WeftError, match="is an iteration of training; its record is among"):
        results.record(collectives="NVLS")


def test_the_example_shows_what_sharp_gains(tmp_path: Path) -> None:
    prepared = campaigns.prepare(ROOT / "examples" / "campaigns" / "training.toml", tmp_path / "s")
    chosen = [run for run in prepared.runs if run.point["ranks"] == 64]
    assert {run.point["parallel.tensor"] for run in chosen} == {8}
    assert all(isinstance(run.iteration, IterationPlan) for run in prepared.runs)
    times = {}
    for run in chosen:
        assert run.iteration
        its = api.train(
            Path(run.iteration.model),
            "superpod-h100-32",
            set=dict(one.split("=", 1) for one in run.iteration.conditions.changes),
            model_changes=dict(one.split("=", 1) for one in run.iteration.model_changes),
        )
        times[run.point["collectives"]] = its.time_s
    assert times["rings and trees"] / times["SHARP"] == pytest.approx(1.326, abs=0.005)
