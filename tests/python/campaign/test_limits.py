# SPDX-License-Identifier: LGPL-2.1-only
"""Campaign runs that exceed limits of time or memory, and runs that are killed from outside."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.support import simulated
from tests.support.campaign_files import weft, written
from weft.campaign import campaign as api
from weft.campaign import table

# The argument selects the behaviour of a run: sleep, allocate memory, or be killed, always or only
# once.
PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run(const char* what, const char* marker)
{
  while (!strcmp(what, "long"))
    ;
  for (int k = 0; !strcmp(what, "large") && k < 2000; k++)
    memset(malloc(1 << 20), 1, 1 << 20);
  if (!strcmp(what, "killed") || (!strcmp(what, "once") && access(marker, F_OK) != 0)) {
    fclose(fopen(marker, "w"));
    raise(SIGKILL);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  run(argv[1], argv[2]);
  MPI_Finalize();
  return 0;
}
"""
TEXT = """
[campaign]
name = "limits"
timeout = "TIMEs"
memory = "MEMORYMiB"
[programs.own]
source = "own.c"
arguments = ["{what}", "FOLDER/marker"]
privatize = false
[[runs]]
program = "own"
fabric = "tofino-4"
ranks = 1
what = [WHAT]
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a campaign's file next to its program."""
    (tmp_path / "own.c").write_text("#include <stdio.h>\n" + PROGRAM, encoding="utf-8")

    def write_one(*what: str, time: float = 60, memory: int = 400) -> Path:
        text = TEXT.replace("TIME", str(time)).replace("MEMORY", str(memory))
        words = ", ".join(f'"{one}"' for one in what)
        text = text.replace("FOLDER", str(tmp_path)).replace("WHAT", words)
        return written(tmp_path, text, "own")

    return write_one


def outcomes(file: Path) -> dict[str, str]:
    rows = table.frame(api.prepare(file), missing=True)
    return dict(zip(rows["what"], rows["outcome"].fill_null("none"), strict=True))


def test_a_run_that_takes_more_memory_than_it_may_is_a_result(write: Write) -> None:
    file = write("large", "nothing")
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (1, "limits: 2 runs: 1 done, 1 failed\n")
    said = "exceeded its memory limit of 400 MiB; raise it with [campaign] memory"
    assert said in ran.stderr
    assert outcomes(file) == {"large": "memory-limit", "nothing": "completed"}
    rows = table.frame(api.prepare(file)).filter(pl.col("what") == "large")
    assert 400 << 20 < rows["peak_memory_bytes"][0] < 1500 << 20
    assert weft("run", str(file)).stdout == ran.stdout  # nothing is executed again under this limit
    assert "1 done, 1 failed" in weft("status", str(write("large", "nothing", memory=300))).stdout
    wider = write("large", "nothing", memory=4000)
    assert weft("status", str(wider)).stdout == "limits: 2 runs: 1 done, 1 to do\n"
    assert weft("run", str(wider)).status == 0


def test_a_run_that_takes_too_long_is_a_result_until_it_may_take_longer(write: Write) -> None:
    file = write("long", "nothing", time=1)
    ran = weft("run", str(file))
    assert (ran.status, ran.stdout) == (1, "limits: 2 runs: 1 done, 1 failed\n")
    assert "exceeded its time limit of 1 s; raise it with [campaign] timeout" in ran.stderr
    assert outcomes(file) == {"long": "timeout", "nothing": "completed"}
    longer = write("long", "nothing", time=2)
    assert weft("status", str(longer)).status == 3
    assert weft("run", str(longer)).stdout == ran.stdout
    assert weft("status", str(longer)).status == 1


def test_what_is_killed_from_outside_is_no_result_and_tried_again(write: Write) -> None:
    assert weft("run", str(write("once", "nothing"))).status == 0
    ran = weft("run", str(write("killed", "nothing")))
    assert (ran.status, ran.stdout) == (3, "limits: 2 runs: 1 done, 1 to do\n")
    assert "killed: program own" in ran.stderr
    assert "it was killed 3 times from outside, perhaps for lack of memory" in ran.stderr


def test_a_single_run_has_the_limit_as_an_option(write: Write, tmp_path: Path) -> None:
    prepared = api.prepare(write("large"))
    record = tmp_path / "run.json"
    command = [*simulated.WEFT, "run", "--fabric", "tofino-4", "-n", "1", "--no-privatize"]
    options = ["--memory", "400MiB", "--json", str(record), "-q", "--"]
    program = prepared.runs[0].request.workload.program
    ended = simulated.run_command([*command, *options, program, "large", "marker"])
    assert ended.status == 137
    assert "its memory limit of 400 MiB; raise it with --memory" in ended.stderr
    outcome = json.loads(record.read_text(encoding="utf-8"))["outcome"]
    assert outcome["kind"] == "memory-limit"
    wrong = simulated.run_command([*command, "--memory", "much", "--", program])
    assert (wrong.status, "--memory: found 'much'" in wrong.stderr) == (2, True)


def test_a_worker_that_is_killed_loses_nothing(write: Write) -> None:
    file = write("slow", "large", *(f"nothing{k}" for k in range(30)), memory=4000)
    command = [*simulated.WEFT, "campaign", "run", str(file), "-j", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        until = time.monotonic() + 60
        while (
            len(list(file.parent.glob("own.runs/runs/*/*.json"))) < 5 and time.monotonic() < until
        ):
            time.sleep(0.02)
        children = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        workers = [int(one) for one in children if b"weft" in _command_line(int(one))]
        assert workers
        os.kill(workers[0], signal.SIGKILL)
        out, errors = child.communicate(timeout=120)
    assert (child.returncode, out) == (0, b"limits: 32 runs: 32 done\n"), errors
    assert b"Traceback" not in errors


def _command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
