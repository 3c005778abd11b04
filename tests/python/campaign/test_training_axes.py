# SPDX-License-Identifier: LGPL-2.1-only
"""Axes of training iterations: faults, traffic, noise, detail, traces, and jobs files."""

import csv
from pathlib import Path

import pytest

import weft as api
from tests.support.campaign_files import weft, written
from tests.support.training_traces import ALL_REDUCE, COLLECTIVE, COMPUTE, node, write_ranks

FABRIC = "superpod-h100-32"
MODEL = """
like = "llama-3-8b"
[model]
layers = 2
[parallel]
tensor = 8
data = 2
[batch]
sequence = 2048
global = 4
[train]
gpu = "h100-sxm"
"""
HEAD = '[campaign]\nname = "small"\n'
LLAMA = '[programs.llama]\nmodel = "llama.toml"\n'
RUNS = f'[[runs]]\nprogram = "llama"\nfabric = "{FABRIC}"\n'
FAULTS = """
[recovery]
detection = "1us"
convergence = "20us"
timeout = "1ms"
retries = 2
[[fault]]
link = "node-00.gpu-0--*"
at = "1ms"
"""
MIB = 1 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "llama.toml").write_text(MODEL, encoding="utf-8")
    return tmp_path


def rows(file: Path, *options: str) -> list[dict[str, str]]:
    table = file.with_suffix(".csv")
    ended = weft("export", str(file), *options, "-o", str(table))
    assert ended.status == 0, ended.stderr
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def test_faults_are_an_axis_and_an_iteration_that_fails_is_a_result(folder: Path) -> None:
    faults = folder / "faults.toml"
    faults.write_text(FAULTS, encoding="utf-8")
    text = HEAD + LLAMA + RUNS + 'faults = "faults.toml"\nfault.at = ["1ms", "100s"]\n'
    file = written(folder, text)
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (1, "small: 2 runs: 1 done, 1 failed\n")
    hit, late = rows(file)
    its = api.train(folder / "llama.toml", FABRIC, faults=faults, set={"fault.at": "100s"})
    assert (late["state"], float(late["simulated_time_s"])) == ("done", its.time_s)
    assert late["fault_events"] == "0"
    dead = api.train(folder / "llama.toml", FABRIC, faults=faults).record
    assert (hit["state"], hit["outcome"], hit["mfu"]) == ("failed", dead.outcome.kind, "")
    assert hit["outcome"] == "network-failure"
    assert hit["message"] == dead.outcome.message
    assert dead.faults
    assert int(hit["messages_cut"]) == dead.faults.cut > 0
    assert weft("report", str(file), "-o", str(folder / "page.html")).status == 0
    faults.write_text(FAULTS.replace("20us", "30us"), encoding="utf-8")
    assert "2 runs: 0 done, 2 to do" in weft("plan", str(file)).stdout


def test_noise_detail_and_reuse_are_those_of_weft_train(folder: Path) -> None:
    text = f"""{HEAD}{LLAMA}{RUNS}noise = 0.1
noise_seed = [1, 2]
detail = ["step", "call"]
execute_all = [true, false]
ignore_memory = true
"""
    file = written(folder, text)
    assert weft("run", str(file)).status == 0
    found = rows(file)
    assert len(found) == 8
    for row in found:
        its = api.train(
            folder / "llama.toml",
            FABRIC,
            noise=0.1,
            noise_seed=int(row["noise_seed"]),
            detail=row["detail"],
            execute_all=row["execute_all"] == "true",
        )
        assert float(row["simulated_time_s"]) == its.time_s
    assert len({row["simulated_time_s"] for row in found}) >= 4
    described = weft("export", str(file), "--parts", "-o", str(folder / "parts.parquet"))
    assert described.status == 0


def test_traffic_is_an_axis(folder: Path) -> None:
    (folder / "traffic.toml").write_text(
        '[[traffic]]\npattern = "permutation"\nhosts = "all"\nbytes = "1MiB"\nload = "60%"\n',
        encoding="utf-8",
    )
    text = HEAD + LLAMA + RUNS + 'traffic = "traffic.toml"\n'
    text += RUNS
    file = written(folder, text)
    assert weft("run", str(file)).status == 0
    beside, alone = (float(row["simulated_time_s"]) for row in rows(file))
    assert beside > alone


def test_allgathers_by_multicast_are_compared_with_rings(folder: Path) -> None:
    collectives = 'collectives = ["rings and trees", "multicast Allgather"]\n'
    sharded = 'parallel.sharding = "fsdp"\nparallel.data = 4\n'
    file = written(folder, HEAD + LLAMA + RUNS + collectives + sharded)
    assert weft("run", str(file)).status == 0
    rings, multicast = rows(file)
    its = api.train(
        folder / "llama.toml",
        FABRIC,
        set={"nccl.NCCL_ALGO": "ring,tree,pat"},
        model_changes={"parallel.sharding": "fsdp", "parallel.data": 4},
        multicast=True,
    )
    assert float(multicast["simulated_time_s"]) == its.time_s < float(rings["simulated_time_s"])
    page = folder / "page.html"
    assert weft("report", str(file), "-o", str(page)).status == 0
    assert "NCCL cannot do this today" in page.read_text(encoding="utf-8")
    changed = written(folder, HEAD + LLAMA + RUNS + 'collectives = "multicast"\n')
    assert (
        "allowed are rings and trees, NVLS, SHARP, multicast Allgather"
        in weft("plan", str(changed)).stderr
    )


def test_a_gpu_of_a_run_replaces_that_of_the_file(folder: Path) -> None:
    file = written(folder, HEAD + LLAMA + RUNS + 'gpu = ["h100-sxm", "h200"]\n')
    assert weft("run", str(file)).status == 0
    for row in rows(file):
        its = api.train(folder / "llama.toml", FABRIC, gpu=row["gpu"])
        assert float(row["simulated_time_s"]) == its.time_s


# ---- Traces


def trace_in(folder: Path) -> Path:
    nodes = [
        node(0, COMPUTE, micros=400),
        node(1, COLLECTIVE, (0,), comm_type=ALL_REDUCE, comm_size=MIB),
    ]
    place = folder / "traces"
    place.mkdir()
    return write_ranks(place, nodes)


def test_traces_are_programs(folder: Path) -> None:
    trace = trace_in(folder)
    text = (
        f'{HEAD}[programs.recorded]\ntrace = "traces"\n'
        f'[[runs]]\nprogram = "recorded"\nfabric = "{FABRIC}"\nreplicate = [8, 16]\n'
        'collectives = ["rings and trees", "NVLS"]\nslowdown = ["", "0=2"]\n'
    )
    file = written(folder, text)
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (0, "small: 8 runs: 8 done\n"), ran.stderr
    for row in rows(file):
        if row["collectives"] == "rings and trees":
            its = api.replay_training(
                trace,
                FABRIC,
                set={"nccl.NCCL_ALGO": "ring,tree,pat"},
                replicate=int(row["replicate"]),
                slowdown={0: 2.0} if row["slowdown"] else None,
            )
            assert float(row["simulated_time_s"]) == its.time_s
            assert row["ranks"] == row["replicate"]
            assert row["mfu"] == ""
    page = folder / "page.html"
    ended = weft("report", str(file), "-o", str(page))
    assert ended.status == 0, ended.stderr
    assert "weft replay traces" in page.read_text(encoding="utf-8")
    assert "8 runs: 8 done" in weft("plan", str(file)).stdout
    nodes = [node(0, COMPUTE, micros=500)]
    write_ranks(folder / "traces", nodes)
    assert "8 runs: 0 done, 8 to do" in weft("plan", str(file)).stdout


@pytest.mark.parametrize(
    ("program", "axis", "said"),
    [
        ('trace = "none"', "", "[programs.llama] trace: "),
        ('trace = "llama.toml"', "", "is no trace of training; allowed are Chakra's"),
        ('trace = "traces"', "ranks = 8", "ranks: found with llama; the trace gives it; leave"),
        ('trace = "traces"', "parallel.data = 8", "a trace; it applies to models only"),
        ('trace = "traces"', "ignore_memory = true", "a trace; it applies to models only"),
        ('trace = "traces"\nprivatize = false', "", "privatize: found beside trace, which is not"),
        ('trace = "traces"\nlogical_dimensions = [0]', "", "logical_dimensions: found [0]; write"),
        ('trace = "traces"\nallgather_size = "all"', "", "found 'all'; allowed are input, total"),
        (
            'model = "llama.toml"\nprocess_groups = "groups.json"',
            "",
            "process_groups: is allowed only with trace; leave it out",
        ),
    ],
)
def test_mistakes_about_traces_are_one_message(
    folder: Path, program: str, axis: str, said: str
) -> None:
    trace_in(folder)
    file = written(folder, f"{HEAD}[programs.llama]\n{program}\n{RUNS}{axis}\n")
    ended = weft("run", str(file))
    assert ended.status == 2
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_traces_and_jobs_are_programs_in_python(folder: Path) -> None:
    trace = trace_in(folder)
    campaign = api.Campaign(
        "own",
        programs={"recorded": api.Program(trace=trace)},
        axes={"fabric": FABRIC, "replicate": 8},
        folder=folder,
    )
    (_, record), *_ = campaign.run(progress=False).iterations()
    assert record.time_s == api.replay_training(trace, FABRIC, replicate=8).time_s


# ---- Jobs files


def test_iterations_that_are_jobs_have_rows(folder: Path) -> None:
    (folder / "jobs.toml").write_text(
        '[[jobs]]\nname = "a"\ntraining = "llama.toml"\n'
        '[[jobs]]\nname = "b"\ntraining = "llama.toml"\nwith = ["parallel.data=1"]\n',
        encoding="utf-8",
    )
    text = (
        f'{HEAD}[programs.both]\njobs = "jobs.toml"\n'
        f'[[runs]]\nprogram = "both"\nfabric = "{FABRIC}"\n'
    )
    file = written(folder, text)
    assert weft("run", str(file)).status == 0
    jobs = {row["job"]: row for row in rows(file, "--jobs")}
    parts = rows(file, "--parts")
    assert set(jobs) == {"a", "b"} == {row["job"] for row in parts}
    for name, row in jobs.items():
        means = {one["part"]: float(one["mean_s"]) for one in parts if one["job"] == name}
        assert sum(means.values()) == pytest.approx(float(row["time_s"]), rel=1e-9)
        assert float(row["computation_s"]) == pytest.approx(means["computation"])
        exposed = sum(value for part, value in means.items() if part.startswith("exposed"))
        assert float(row["exposed_s"]) == pytest.approx(exposed)
    model = folder / "llama.toml"
    model.write_text(MODEL.replace("2048", "4096"), encoding="utf-8")
    assert "1 run: 0 done, 1 to do" in weft("plan", str(file)).stdout
