# SPDX-License-Identifier: LGPL-2.1-only
"""A mechanism is one folder and one table row: a test mechanism appears in all user interfaces.

`tests/mechanism/instant` adds the mechanism to a weft that is linked from the same objects. Its
calls end 1 ms after the last rank has entered.
"""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import campaign_files, simulated
from tests.support.places import ROOT
from tests.support.simulated import Program
from weft.base import paths

pytestmark = pytest.mark.slow

BUILD = ROOT / "build" / "python"
# Every import of weft._core yields the extension next to this file, with everything it installs.
PRELOAD = """
import importlib.util, pathlib, sys
(path,) = (pathlib.Path(__file__).parent / "weft").glob("_core.*.so")
spec = importlib.util.spec_from_file_location("weft._core", path)
sys.modules["weft._core"] = core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
"""
DELAY_S = 1e-3

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Weft:
    """Return a function that runs a command of weft with the additional mechanism."""
    cmake = Path(sys.executable).with_name("cmake")
    # Builds are serialized: a second build would relink files that tests of another process use.
    # Without the setting, a wheel that another process has built would bring its paths of SimGrid.
    steps = '"$0" -D WEFT_BUNDLE_SIMGRID=OFF "$1" && exec "$0" --build "$1" --target instant'
    subprocess.run(
        ["flock", ROOT / "setup", "sh", "-c", steps, cmake, BUILD],
        env={**os.environ, "SIMGRID_PREFIX": str(paths.simgrid_prefix())},
        check=True,
        capture_output=True,
    )
    folder = tmp_path_factory.mktemp("instant")
    parts = folder / "weft"
    parts.mkdir()
    made = list((BUILD / "instant").glob("*.so"))
    installed = Path(paths.platform_library()).parent
    for part in (*made, *installed.iterdir()):
        if not (parts / part.name).exists():
            (parts / part.name).symlink_to(part)
    (folder / "sitecustomize.py").write_text(PRELOAD, encoding="utf-8")

    def run(*words: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*simulated.WEFT, *words],
            env={**os.environ, "PYTHONPATH": str(folder), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_help_and_messages_name_it(weft: Weft) -> None:
    text = " ".join(weft("run", "--help").stdout.split())
    assert "[stream|message|multicast|instant|auto|off]" in text
    assert "instant: all data at once, 1 ms after the last rank has called;" in text
    answer = weft("run", "--offload", "instnat", "--fabric", "tofino-4", "-n", "4", "true")
    assert answer.returncode == 2
    assert "'instant'" in answer.stderr


def test_shells_complete_it(weft: Weft) -> None:
    def offered(*words: str) -> str:
        asked = {"COMP_WORDS": " ".join(["weft", *words]), "COMP_CWORD": str(len(words))}
        return weft(_WEFT_COMPLETE="bash_complete", **asked).stdout

    assert offered("run", "--offload", "ins") == "plain,instant\n"
    assert offered("bench", "allreduce", "--modes", "ins") == "plain,instant\n"


@pytest.mark.parametrize("ppn", [1, 2])
def test_a_run_takes_it_and_the_record_and_table_say_so(
    weft: Weft, program: Program, tmp_path: Path, ppn: int
) -> None:
    record = tmp_path / "run.json"
    ranks = 4 * ppn
    answer = weft(
        *("run", "--fabric", "tofino-4", "-n", str(ranks), "--ppn", str(ppn)),
        *("--offload", "instant", "--cfg", "smpi/wtime:0", "--json", record, "--"),
        *(program("collectives.c"), "allreduce", "300", "0"),
    )
    assert answer.returncode == 0, answer.stderr
    times = [[float(word) for word in line.split()] for line in answer.stdout.splitlines()]
    assert len(times) == ranks
    last = max(entered for _, entered, _ in times)
    assert [left - last for _, _, left in times] == pytest.approx(ranks * [DELAY_S])
    whole = json.loads(record.read_text(encoding="utf-8"))
    assert whole["offload"] == "instant"
    (row,) = (row for row in whole["collectives"] if row["collective"] == "allreduce")
    assert (row["path"], row["reason"]) == ("instant", "")
    (line,) = (line for line in answer.stderr.splitlines() if line.startswith("allreduce"))
    assert "instant" in line


@pytest.mark.parametrize("form", ["", "i"])
@pytest.mark.parametrize("collective", ["bcast", "allgather", "alltoall", "reduce_scatter"])
def test_its_data_are_right(weft: Weft, program: Program, collective: str, form: str) -> None:
    answer = weft(  # the program checks the data
        *("run", "-q", "--fabric", "tofino-4", "-n", "4", "--offload", "instant", "--"),
        *(program("collectives.c"), form + collective, "300", "2"),
    )
    assert answer.returncode == 0, answer.stderr


def test_what_it_does_not_do_is_left_to_the_hosts(
    weft: Weft, program: Program, tmp_path: Path
) -> None:
    record = tmp_path / "run.json"
    answer = weft(
        *("run", "-q", "--fabric", "tofino-4", "-n", "4", "--offload", "instant"),
        *("--json", record, "--", program("calls.c"), "int-max", "gather", "double-sum"),
    )
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(record.read_text(encoding="utf-8"))["collectives"]
    assert {(row["collective"], row["path"], row["reason"]) for row in rows} == {
        ("allreduce", "instant", ""),
        ("gather", "fallback", "collective"),
    }


def test_a_policy_may_name_it(weft: Weft, program: Program, tmp_path: Path) -> None:
    fabric = tmp_path / "fabric.toml"
    shipped = paths.installed("fabrics", "tofino-4.toml").read_text(encoding="utf-8")
    policy = '[[policy]]\ncollectives = ["allreduce"]\noffload = "instant"\n'
    fabric.write_text(shipped + policy, encoding="utf-8")
    record = tmp_path / "run.json"
    answer = weft(
        *("run", "-q", "--fabric", fabric, "-n", "4", "--offload", "auto", "--json", record),
        *("--", program("calls.c"), "int-sum"),
    )
    assert answer.returncode == 0, answer.stderr
    (row,) = json.loads(record.read_text(encoding="utf-8"))["collectives"]
    assert row["path"] == "instant"
    assert "allreduce: instant" in weft("fabric", "show", fabric).stdout


def test_a_campaign_and_its_report_have_it(weft: Weft, tmp_path: Path) -> None:
    runs = """
[[runs]]
program = "latency"
fabric = "tofino-4"
ranks = 4
bytes = ["4B", "4KiB"]
offload = ["instant", "stream", "off"]
"""
    file = campaign_files.written(tmp_path, campaign_files.head() + runs)
    done = weft("campaign", "run", file)
    assert done.returncode == 0, done.stderr
    table = tmp_path / "calls.csv"
    assert weft("campaign", "export", file, "--collectives", "-o", table).returncode == 0
    with table.open(encoding="utf-8", newline="") as file_of_calls:
        rows = list(csv.DictReader(file_of_calls))
    took = {row["path"] for row in rows if row["collective"] == "allreduce"}
    assert took == {"instant", "stream", "fallback"}
    page = tmp_path / "report.html"
    made = weft("campaign", "report", file, "-o", page)
    assert made.returncode == 0, made.stderr
    assert '"instant"' in page.read_text(encoding="utf-8")
    refused = campaign_files.weft("run", str(file))  # by a weft without the mechanism
    assert "found 'instant'; allowed are stream, message, multicast, auto, off" in refused.stderr
