# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations as jobs: alone as in `weft train`, with each other, with MPI and faults."""

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.simulated import weft_says as weft_command
from weft import _core

FABRIC = "superpod-h100-32"
MODEL = """
like = "llama-3-8b"
[parallel]
tensor = 8
data = 2
[batch]
sequence = 4096
global = 4
[train]
gpu = "h100-sxm"
"""
RECOVERY = '[recovery]\ndetection = "1us"\nconvergence = "1us"\ntimeout = "1ms"\nretries = 2\n'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    return path


def job(name: str, model: Path, **more: Any) -> dict[str, Any]:
    return {"name": name, "training": str(model), **more}


def names(first: int, last: int) -> list[str]:
    return _core.load_fabric(FABRIC, []).hosts[first:last]


def test_one_job_takes_the_time_of_weft_train(model: Path) -> None:
    alone = weft.train(model, FABRIC, execute_all=True)
    record = weft.run_jobs([job("llama", model)], fabric=FABRIC)
    assert record.jobs
    (row,) = record.jobs
    assert row.outcome.kind == "completed"
    assert row.ranks == record.ranks == 16
    assert row.training
    assert row.training.time_s == pytest.approx(alone.time_s, rel=1e-9)
    assert row.end_s == pytest.approx(alone.time_s, rel=1e-9)
    assert row.training.calls == alone.iteration.calls
    parts = {one.name: one.mean_s for one in alone.iteration.parts}
    found = {one.name: one.mean_s for one in row.training.parts}
    assert found == pytest.approx(parts, rel=1e-9)
    assert row.messages > 0 and row.links


def test_a_job_that_starts_later_ends_later(model: Path) -> None:
    record = weft.run_jobs([job("first", model), job("second", model, start="10ms")], fabric=FABRIC)
    assert record.jobs
    first, second = record.jobs
    assert first.training and second.training
    # The jobs use separate nodes, and rails of the same leaf switches.
    assert second.training.time_s == pytest.approx(first.training.time_s, rel=1e-9)
    assert second.end_s == pytest.approx(first.training.time_s + 0.01, rel=1e-9)
    assert sum(one.mean_s for one in second.training.parts) == pytest.approx(
        second.training.time_s, rel=1e-9
    )


def sender(folder: Path, size: int) -> Path:
    """Write a GOAL schedule with one message."""
    path = folder / "send.goal"
    ranks = (f"l1: send {size}b to 1", f"l1: recv {size}b from 0")
    text = "".join(f"rank {rank} {{\n{line}\n}}\n" for rank, line in enumerate(ranks))
    path.write_text(f"num_ranks 2\n{text}", encoding="utf-8")
    return path


def test_a_dead_host_ends_its_job_alone(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    host = names(3, 4)[0]
    faults.write_text(f'{RECOVERY}[[fault]]\nhost = "{host}"\nat = "5ms"\n', encoding="utf-8")
    record = weft.run_jobs([job("hit", model), job("other", model)], fabric=FABRIC, faults=faults)
    assert record.jobs
    hit, other = record.jobs
    assert (hit.outcome.kind, hit.exit_status) == ("host-failure", 1)
    assert host in hit.outcome.message
    assert hit.end_s == pytest.approx(5e-3)
    assert hit.training and hit.training.time_s == pytest.approx(5e-3)
    assert other.outcome.kind == "completed"


def test_a_message_that_is_given_up_ends_its_job(model: Path, tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    host = names(3, 4)[0]
    faults.write_text(f'{RECOVERY}[[fault]]\nlink = "{host}--*"\nat = "5ms"\n', encoding="utf-8")
    record = weft.run_jobs([job("hit", model)], fabric=FABRIC, faults=faults)
    assert record.jobs
    assert record.jobs[0].outcome.kind == "network-failure"
    assert "2 retries" in record.jobs[0].outcome.message


def test_the_table_has_the_parts_alone_too(model: Path, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.toml"
    goal = sender(tmp_path, 10**9)
    first, other = names(16, 17)[0], names(24, 25)[0]
    jobs.write_text(
        f'[[jobs]]\nname = "llama"\ntraining = "{model}"\n'
        f'[[jobs]]\nname = "copy"\ntrace = "{goal}"\nhosts = ["{first}", "{other}"]\n',
        encoding="utf-8",
    )
    done = weft_command("run", "--fabric", FABRIC, "--jobs", str(jobs), "--alone")
    assert done.returncode == 0, done.stderr
    assert "job llama, an iteration" in done.stderr
    assert "mean alone" in done.stderr
    assert "slowdown of jobs among the others" in done.stderr


def test_comparison_runs_iterations_without_switches(model: Path) -> None:
    record = weft.run_jobs([job("llama", model)], fabric=FABRIC, compare=True)
    gpus = weft.train(model, FABRIC, set={"nccl.NCCL_ALGO": "ring,tree,pat"}, execute_all=True)
    assert record.jobs
    (row,) = record.jobs
    assert row.without_offload and row.without_offload.training
    assert row.without_offload.training.time_s == pytest.approx(gpus.time_s, rel=1e-9)
    assert row.time_s and row.speed_up == pytest.approx(gpus.time_s / row.time_s, rel=1e-9)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ranks": 4}, "ranks: found beside training"),
        ({"offload": "stream"}, "offload: found beside training"),
        ({"with": ["parallel.tensor=1000"]}, "training"),
        ({"nccl": "1.0"}, "1.0"),
    ],
)
def test_wrong_keys_are_refused(model: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(weft.WeftError, match=message):
        weft.run_jobs([job("llama", model, **more)], fabric=FABRIC)


def test_other_fabrics_are_refused(model: Path) -> None:
    with pytest.raises(weft.WeftError, match="llama"):
        weft.run_jobs([job("llama", model)], fabric="fat-tree-1024")


def test_keys_of_iterations_are_for_iterations(tmp_path: Path) -> None:
    goal = sender(tmp_path, 1000)
    with pytest.raises(weft.WeftError, match="gpu: found in a job that is no iteration"):
        weft.run_jobs([{"name": "copy", "trace": str(goal), "gpu": "h100-sxm"}], fabric=FABRIC)
