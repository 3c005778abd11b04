# SPDX-License-Identifier: LGPL-2.1-only
"""Progress display of a running campaign, on a terminal and in a log."""

import os
import pty
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.campaign_files import LATENCY
from weft.campaign.execution.work import TaskResult
from weft.campaign.file.axes import Point
from weft.campaign.file.runs import Run
from weft.cli.campaign import progress
from weft.cli.campaign.progress import Costs, RunCounter
from weft.runs.request import Request

RUN = Run({"ranks": 4}, Request.of(program="x", ranks=4), "3f02")


def test_the_line_says_what_has_ended_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    shown = RunCounter(1000, 800)
    shown.running(2)
    assert shown.line() == "200 of 1,000 runs, 2 running"
    now[0] = 120.0
    for _ in range(100):
        shown.take(RUN, TaskResult("3f02", "done"))
    shown.take(RUN, TaskResult("3f02", "elsewhere"))
    shown.take(RUN, TaskResult("3f02", "failed", "it crashed"))
    said = "302 of 1,000 runs, 1 failed, 1 by others, 2 running, about 2 min left"
    assert shown.line() == said
    short = shown.line(short=True)
    assert short == "302/1,000, 1 failed, 2 running, 2 min left"
    assert len(shown.line(short=True)) <= 45


def test_the_time_left_is_weighted_by_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight small runs take a second each; two large ones have 64 times as many ranks."""

    def run(ranks: int, offload: str) -> Run:
        point: Point = {"program": "x", "ranks": ranks, "offload": offload}
        return Run(point, Request.of(program="x", ranks=ranks), f"{ranks}{offload}")

    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    runs = [run(4, "off")] * 8 + [run(256, "off"), run(256, "stream")]
    shown = RunCounter(10, 10, runs=runs)
    now[0] = 4.0  # two simultaneous runs
    for one in runs[:8]:
        shown.take(one, TaskResult("3f02", "done", wall_time_s=1.0))
    assert "about 64 s left" in shown.line(), "2 runs of 64 s, two at a time"
    now[0] = 14.0
    shown.take(runs[8], TaskResult("3f02", "done", wall_time_s=20.0))
    # 28 s of runs in 14 s, 2 simultaneously. The last run costs as much per rank as all finished
    # runs.
    each = 28 / (8 * 4 + 256)
    assert f"about {256 * each / 2:.0f} s left" in shown.line()
    shown.take(runs[9], TaskResult("3f02", "done", wall_time_s=20.0))
    assert "about 0 s left" in shown.line()


def test_a_log_has_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress.progress(40, 40, 2) as shown:
        for k in range(40):
            now[0] = float(k)
            shown.take(RUN, TaskResult("3f02", "done" if k else "failed", "it crashed"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "40 runs to execute, up to 2 at a time",
        "weft: failed: ranks 4: it crashed",
    ]
    assert len(lines) == 2 + 3
    assert lines[2] == "11 of 40 runs, 1 failed, 0 running, about 26 s left"


@pytest.mark.parametrize("columns", [80, 40])
def test_a_terminal_has_one_line_that_fits(tmp_path: Path, columns: int) -> None:
    file = tmp_path / "small.toml"
    file.write_text(
        '[campaign]\nname = "small"\n'
        f'[programs.latency]\nsource = "{LATENCY}"\narguments = ["4", "{{times}}"]\n'
        'privatize = false\n[[runs]]\nprogram = "latency"\nfabric = "tofino-4"\nranks = 4\n'
        "times = { from = 2, to = 13, plus = 1 }\n",
        encoding="utf-8",
    )
    ours, theirs = pty.openpty()
    command = [*simulated.WEFT, "campaign", "run", str(file), "-j", "1"]
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True
    ) as child:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the other end of the terminal is closed
            pass
        assert child.stdout is not None
        assert child.stdout.read() == "small: 12 runs: 12 done\n"
    os.close(ours)
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", seen).decode()
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    assert any("1 running" in line for line in lines)
    assert all(len(line) <= columns for line in lines)
    assert ("━" in text) == (columns == 80)


def test_the_time_left_of_iterations_depends_on_what_nccl_may_use() -> None:
    def run(collectives: str) -> Run:
        point: Point = {"program": "x", "ranks": 8, "collectives": collectives}
        return Run(point, Request.of(program="x", ranks=8), collectives)

    costs = Costs([run("rings and trees")] * 2 + [run("NVLS")] * 2)
    costs.take(run("rings and trees"), 1.0)
    costs.take(run("NVLS"), 20.0)
    assert costs.left() == pytest.approx(1.0)
