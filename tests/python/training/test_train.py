# SPDX-License-Identifier: LGPL-2.1-only
"""`weft train` and `weft.train`: simulated iterations, their time uses, files and refusals."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.support.simulated import weft_says as weft_command
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.training.run import load_training, parsed_slowdown

FABRIC = "superpod-h100-32"
FILE = """
like = "llama-3-8b"

[parallel]
tensor = 8
pipeline = 2
data = 4
sharding = "zero-1"

[batch]
sequence = 4096
global = 32

[train]
gpu = "h100-sxm"
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("train") / "small.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def iterated(file: Path, sms: int = 132, **conditions: Any) -> Iteration:
    """Return an iteration with this number of SMs; 0: collectives take no SMs from computation."""
    workload = replace(load_training(file).workload, sms=sms)
    return simulate(workload, Conditions(fabric=FABRIC, **conditions))


def test_parts_add_up_to_the_iteration(file: Path) -> None:
    its = iterated(file)
    assert sum(one.mean_s for one in its.parts) == pytest.approx(its.time_s, rel=1e-9)
    names = {one.name for one in its.parts}
    assert {"computation", "exposed tensor", "waiting messages"} <= names
    assert its.bound == "computation"


def test_computation_is_what_the_programs_say(file: Path) -> None:
    from weft.training.accelerator import load_accelerator
    from weft.training.build import build
    from weft.training.file import load_model
    from weft.training.recorder import Recorder

    workload, _ = build(load_model(file), load_accelerator("h100-sxm"), Recorder)
    first = workload.programs[0]
    assert isinstance(first, Recorder)
    seconds = sum(one.amount for one in first.operations if one.type == "compute")
    assert iterated(file, sms=0).rows[0]["computing_s"] == pytest.approx(seconds, rel=1e-9)
    most_channels = 32
    beside = iterated(file).rows[0]["computing_s"]
    assert seconds < beside < seconds * 132 / (132 - most_channels)


def test_equal_calls_once_take_the_times_of_all(file: Path) -> None:
    once, all_ = iterated(file), iterated(file, execute_all=True)
    assert once.executed < all_.executed == all_.calls == once.calls
    assert once.time_s == pytest.approx(all_.time_s, rel=1e-9)
    for one, other in zip(once.parts, all_.parts, strict=True):
        assert one.mean_s == pytest.approx(other.mean_s, rel=1e-9)
    for links, others in zip(once.links, all_.links, strict=True):
        assert (links.name, links.links) == (others.name, others.links)
        for value in ("bytes", "utilisation", "busiest_utilisation", "exposed_s", "carried_s"):
            assert getattr(links, value) == pytest.approx(getattr(others, value), rel=1e-9)


@pytest.mark.parametrize("detail", ["slice", "step", "call"])
def test_rings_of_a_node_load_its_nvlinks(file: Path, detail: str) -> None:
    """Each rank of 8 sends 7/8 of gathered data, and twice as much of summed data."""
    from weft.training.accelerator import load_accelerator
    from weft.training.build import build
    from weft.training.file import load_model
    from weft.training.recorder import Recorder

    workload, _ = build(load_model(file), load_accelerator("h100-sxm"), Recorder)
    kinds = [name for name, _ in workload.groups]
    sent = 0.0
    for index in workload.program_of:
        program = workload.programs[index]
        assert isinstance(program, Recorder)
        for one in program.operations:
            if one.type == "collective" and kinds[one.kind] == "tensor":
                sent += (2 if one.collective == "allreduce" else 1) * one.amount * 7 / 8
    rings = ("nccl.NCCL_ALGO=ring", "nccl.NCCL_PROTO=simple")
    its = iterated(file, changes=rings, detail=detail)
    links = {one.name: one for one in its.links}
    inside = links["gpu--nvswitch"]
    assert inside.links == 128
    assert inside.bytes == pytest.approx(2 * sent, rel=1e-6)
    assert inside.utilisation == pytest.approx(2 * sent / (128 * 450e9 * its.time_s), rel=1e-6)
    assert inside.exposed_s == pytest.approx(its.part("exposed tensor"), rel=1e-9)
    assert 0 < inside.carried_s < inside.exposed_s
    assert its.limiting_links == max(its.links, key=lambda one: one.exposed_s)
    exposed = sum(one.mean_s for one in its.parts if one.name.startswith("exposed"))
    assert sum(one.exposed_s for one in its.links) == pytest.approx(exposed, rel=1e-9)


def test_one_message_a_step_is_close_to_all_messages(file: Path) -> None:
    coarse, fine = iterated(file), iterated(file, detail="slice")
    assert coarse.messages < fine.messages
    assert coarse.time_s == pytest.approx(fine.time_s, rel=0.02)


def test_a_flow_a_call_is_close_to_a_message_a_step(file: Path) -> None:
    steps, calls = iterated(file), iterated(file, detail="call")
    assert calls.messages < steps.messages
    assert calls.time_s == pytest.approx(steps.time_s, rel=0.01)


def test_a_straggler_is_waited_for(file: Path) -> None:
    usual, slow = iterated(file, sms=0), iterated(file, sms=0, slowdown={0: 2.0})
    assert slow.rows[0]["computing_s"] == pytest.approx(2 * usual.rows[0]["computing_s"])
    assert slow.part("waiting tensor") > usual.part("waiting tensor")
    assert slow.time_s > usual.time_s + 0.5 * usual.rows[0]["computing_s"]


def test_noise_depends_on_its_seed(file: Path) -> None:
    times = [iterated(file, noise=0.05, seed=seed).time_s for seed in (1, 1, 2)]
    assert times[0] == times[1] != times[2]
    assert times[0] > iterated(file).time_s


def test_command_prints_and_writes(file: Path, tmp_path: Path) -> None:
    targets = {one: tmp_path / one for one in ("its.json", "its.csv", "timeline.json")}
    done = weft_command(
        *("train", str(file), "--fabric", FABRIC, "--json", str(targets["its.json"])),
        *("--csv", str(targets["its.csv"]), "--timeline", str(targets["timeline.json"])),
    )
    assert done.returncode == 0, done.stderr
    assert "Most time: computation." in done.stdout
    record = json.loads(targets["its.json"].read_text("utf-8"))
    its = iterated(file)
    assert record["format"] == "weft-iteration"
    assert record["time_s"] == its.time_s
    assert 0 < record["training"]["mfu"] < 1
    with targets["its.csv"].open(encoding="utf-8") as rows:
        written = list(csv.DictReader(rows))
    assert len(written) == 64
    links = {one["name"]: one for one in record["links"]}
    for name, one in links.items():
        mean = sum(float(row[f"exposed_at_{name}_s"]) for row in written) / 64
        assert mean == pytest.approx(one["exposed_s"], rel=1e-6)
    assert "nic--leaf links limit" in done.stdout or "gpu--nvswitch links limit" in done.stdout
    events = json.loads(targets["timeline.json"].read_text("utf-8"))["traceEvents"]
    assert {one["pid"] for one in events} == {0, 32}
    slices = [one for one in events if one["ph"] == "X"]
    assert max(one["ts"] + one["dur"] for one in slices) <= its.time_s * 1e6 * (1 + 1e-9)


def test_comparison_lets_switches_reduce(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "compared.json"
    done = weft_command(
        *("train", str(file), "--fabric", FABRIC, "--compare", "--json", str(target)),
        *("--with", "parallel.sharding=ddp", "--with", "parallel.sequence=false"),
        "--ignore-memory",
    )
    assert done.returncode == 0, done.stderr
    variants = json.loads(target.read_text("utf-8"))["variants"]
    assert [one["name"] for one in variants] == [
        *("rings and trees", "NVLS", "SHARP", "multicast Allgather"),
    ]
    factors = [one["times_as_fast"] for one in variants]
    assert factors[0] == 1
    assert factors[2] > 1.01
    assert variants[3]["iteration"]["multicast"]
    assert not variants[0]["iteration"]["multicast"]
    assert "NCCL cannot do this today" in done.stdout


def test_comparison_names_what_a_fabric_cannot(file: Path) -> None:
    frame = weft.compare_training(
        file,
        "h100-ndr-10",
        model_changes={"parallel.tensor": 1, "parallel.pipeline": 1, "parallel.data": 8},
        ignore_memory=True,
    )
    refusals = dict(zip(frame["collectives_by"], frame["refusal"], strict=True))
    assert refusals["rings and trees"] == ""
    assert "no switch between the nodes reduces" in refusals["SHARP"]


def test_api_returns_what_the_command_prints(file: Path, tmp_path: Path) -> None:
    its = weft.train(file, FABRIC, model_changes={"parallel.data": 2})
    assert its.record.ranks == 32
    assert its.frame()["mean_s"].sum() == pytest.approx(its.time_s)
    assert str(its).startswith("32 GPUs: 8 tensor x 2 data x 2 pipeline.")
    its.save(tmp_path / "its.json")
    assert json.loads((tmp_path / "its.json").read_text("utf-8"))["ranks"] == 32


REFUSED = {
    "--with parallel.tensor=3": "[parallel] tensor: found 3, which does not divide heads = 32",
    "--with tensor=3": "--with: found 'tensor=3'; write TABLE.KEY=VALUE with one of the tables"
    " model, parallel, batch, train",
    "--with parallel.data=32": "found 512 ranks; superpod-h100-32 has 256 GPUs",
    "--slowdown 70=2": "--slowdown: found rank 70; allowed: 0 to 63",
    "--slowdown many": "--slowdown: found 'many'; write RANK=FACTOR or FIRST-LAST=FACTOR, with a"
    " factor from 0.01 to 1000",
    "--gpu tpu": "gpu",
    "--nccl 3": 'found NCCL "3"; allowed: 2.18, 2.29',
}


@pytest.mark.parametrize("options", REFUSED)
def test_mistakes_have_one_message(file: Path, options: str) -> None:
    done = weft_command("train", str(file), "--fabric", FABRIC, "--ignore-memory", *options.split())
    assert done.returncode == 2
    assert REFUSED[options] in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_file_without_gpu_is_refused() -> None:
    done = weft_command("train", "llama-3-8b", "--fabric", FABRIC)
    assert done.returncode == 2
    assert "[train] gpu is missing" in done.stderr


def test_slowdown_of_ranges() -> None:
    assert parsed_slowdown(["3=2", "5-6=1.5"], "--slowdown") == {3: 2.0, 5: 1.5, 6: 1.5}
