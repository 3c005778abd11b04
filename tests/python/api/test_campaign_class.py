# SPDX-License-Identifier: LGPL-2.1-only
"""`weft.Campaign`: definition in Python as in a file, execution, inspection; invalid campaigns."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from tests.support.campaign_files import LATENCY, head, written
from tests.support.campaign_files import weft as run_weft
from tests.support.places import ROOT

AXES: dict[str, Any] = {
    "fabric": "tofino-4",
    "ranks": 4,
    "bytes": ["1KiB", "64KiB"],
    "offload": ["stream", "off"],
    "switch.slots": [64, 256],
}
LEAVE_OUT = [{"offload": "off", "switch.slots": 64}]
FILE = (
    head(best=True)
    + """
[[runs]]
program = "latency"
fabric = "tofino-4"
ranks = 4
bytes = ["1KiB", "64KiB"]
offload = ["stream", "off"]
switch.slots = [64, 256]
leave_out = [{ offload = "off", "switch.slots" = 64 }]
"""
)


def made(folder: Path, **other: Any) -> weft.Campaign:
    program = weft.Program(source=LATENCY, arguments=["{bytes:B}", 2], privatize=False)
    given: dict[str, Any] = {"programs": {"latency": program}, "axes": AXES, "leave_out": LEAVE_OUT}
    return weft.Campaign("small", **{"folder": folder, **given, **other})


def test_a_campaign_made_in_python_is_that_of_a_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    campaign = made(tmp_path)
    assert campaign.store == tmp_path / "small.runs"
    assert campaign.plan()["state"].to_list() == ["missing"] * 6
    results = campaign.run(progress=lambda now: seen.append((now.ended, now.total)))
    assert seen == [(number, 8) for number in range(1, 9)]
    frame = results.frame()
    assert frame["state"].to_list() == ["done"] * 6
    file = written(tmp_path, FILE)
    theirs = weft.Campaign(file)
    assert theirs.status().complete  # nothing to repeat
    assert theirs.frame().equals(frame)
    campaign.save(tmp_path / "saved.toml")
    saved = weft.Campaign(tmp_path / "saved.toml", store=campaign.store)
    assert saved.frame().equals(frame)
    assert run_weft("status", str(file)).stdout == f"{campaign.status()}\n"


def test_results_are_frames_records_and_files(tmp_path: Path) -> None:
    results = made(tmp_path).run(progress=False)
    assert len(results) == 6
    columns = results.columns()
    assert columns["column"].to_list() == results.frame().columns
    unit = columns.filter(pl.col("column") == "simulated_time_s")["unit"].item()
    assert unit == "s"
    calls = results.collectives()
    assert set(calls["path"]) == {"stream", "fallback"}
    wanted: dict[str, Any] = {"bytes": "64KiB", "offload": "stream", "switch.slots": 64}
    record = results.record(**wanted)
    single = weft.run(
        LATENCY,
        [65536, 2],
        fabric="tofino-4",
        ranks=4,
        set={"switch.slots": 64},
        privatize=False,
    )
    assert record.simulated_time_s == single.simulated_time_s
    assert record.output == single.output
    assert len(list(results.records())) == 6
    results.export(tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").equals(results.frame())
    results.report(tmp_path / "report.html")
    assert "stream is faster than the hosts" in (tmp_path / "report.html").read_text("utf-8")
    assert "8 done" in results._repr_html_()
    with pytest.raises(weft.WeftError, match="keys: 3 runs with"):
        results.record(bytes="1KiB")


def test_axes_take_what_people_write(tmp_path: Path) -> None:
    import numpy as np

    axes = {
        "fabric": [weft.Fabric("tofino-4"), Path("own.toml")],
        "ranks": np.array([2, 4]).tolist(),
        "ppn": (1, 1 + 1),
        "bytes": ("4B",),
        "repetition": list(np.arange(2)),
    }
    own = tmp_path / "own.toml"
    own.write_bytes(weft.Fabric("tofino-16").file.read_bytes())
    campaign = made(tmp_path, axes=axes, leave_out=(), zip=[["ranks", "ppn"]], timeout=60)
    plan = campaign.plan()
    assert len(plan) == 2 * 2 * 2
    assert plan["program"].unique().to_list() == ["latency"]
    assert [str(one) for one in plan["fabric"].unique(maintain_order=True)] == [
        str(weft.Fabric("tofino-4").file),
        "own.toml",
    ]


def test_what_cannot_be_run_is_said_and_the_rest_is_run(tmp_path: Path) -> None:
    axes = {**AXES, "fabric": ["tofino-4", "nowhere"], "offload": "stream", "bytes": "4B"}
    status = made(tmp_path, axes=axes, leave_out=()).run(progress=False).status
    assert (status.total, status.done, len(status.impossible)) == (2, 2, 2)
    assert "no shipped fabric has that name" in status.impossible[0][1]
    assert "2 combinations cannot be run" in str(status)
    assert "no shipped fabric" in status._repr_html_()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"axes": {**AXES, "ofload": "off"}}, "campaign small: [[runs]] ofload: no such key"),
        ({"axes": {**AXES, "ranks": 0}}, "ranks: found 0; allowed is a whole number from 1"),
        ({"axes": {**AXES, "ranks": []}}, "ranks: found an empty list"),
        ({"axes": {"fabric": "tofino-4"}}, "ranks: is missing"),
        (
            {"programs": {"latency": 3}},
            "programs['latency']: found 3; allowed is weft.Program or a text or a path",
        ),
        ({"programs": None}, "programs: is missing; a campaign file has both"),
        ({"programs": {}}, "names no program"),
        ({"axs": {}}, "weft.Campaign: no argument 'axs'; did you mean axes"),
        ({"leave_out": [{"offlod": "off"}]}, "leave_out: found 'offlod'; did you mean offload"),
        ({"zip": [["bytes", "ranks"]]}, "bytes has 2, ranks has 1"),
        ({"most_runs": 3}, "makes 8 combinations; allowed are at most 3"),
        (
            {"axes": {**AXES, "fabric": weft.Fabric("tofino-4", {"switch.slots": 2})}},
            "give the fabric as its file has it, and the keys that differ as axes",
        ),
    ],
)
def test_a_wrong_campaign_is_one_message(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(weft.WeftError) as caught:
        made(tmp_path, **wrong)
    assert said in str(caught.value)


@pytest.mark.slow
def test_the_engine_of_clusters_makes_the_same_results(tmp_path: Path) -> None:
    notes: list[str] = []
    here = made(tmp_path / "here").run(progress=False).frame()
    campaign = made(tmp_path / "there")
    there = campaign.run(cluster="local", progress=lambda now: notes.append(str(now))).frame()
    takes = ("wall_time_s", "cpu_time_s", "peak_memory_bytes")
    columns = [name for name in here.columns if name not in takes]
    assert there.select(columns).equals(here.select(columns))
    assert notes[-1].startswith("small: 8 of 8: 8 done")


def test_runs_at_a_time_are_a_number(tmp_path: Path) -> None:
    with pytest.raises(weft.WeftError, match="jobs: found 0; allowed is a whole number from 1"):
        made(tmp_path).run(jobs=0)
    with pytest.raises(
        weft.WeftError, match="jobs: applies to this machine, but cluster names another"
    ):
        made(tmp_path).run(cluster=tmp_path / "cluster.toml", jobs=2)


def test_ctrl_c_ends_all_runs_and_the_same_call_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, sys\nfrom pathlib import Path\n"
        "import tests.python.api.test_campaign_class as here\n"
        # Shells start background jobs with SIGINT ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "axes = {**here.AXES, 'switch.slots': list(range(8, 108)), 'offload': 'stream'}\n"
        f"campaign = here.made(Path({str(tmp_path)!r}), axes=axes, leave_out=())\n"
        "try:\n    campaign.run(progress=lambda now: print(now.ended, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', campaign.status().done, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        line = ""
        while line != "10\n":
            line = child.stdout.readline()
            assert line, child.communicate()
        os.killpg(child.pid, signal.SIGINT)  # as terminals and Jupyter do
        while not line.startswith("interrupted"):
            line = child.stdout.readline()
            assert line, child.communicate()
        assert 10 <= int(line.split()[1]) < 200
        until = time.monotonic() + 10
        while len(group(child.pid)) > 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert group(child.pid) == [child.pid]
        _, said = child.communicate("")
        assert "Traceback" not in said
    for file in (tmp_path / "small.runs" / "runs").glob("*/*.json"):
        json.loads(file.read_text(encoding="utf-8"))


def group(number: int) -> list[int]:
    """Return the live processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == number and state != "Z":
            found.append(int(stat.parent.name))
    return found
