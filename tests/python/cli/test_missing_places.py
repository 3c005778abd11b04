# SPDX-License-Identifier: LGPL-2.1-only
"""Errors name a resource that the system has removed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.campaign_files import Write, head
from tests.support.campaign_files import weft as campaign
from tests.support.simulated import WEFT


@pytest.mark.parametrize(
    "line", ["cache ways", "fabric show tofino-4", "fabric list", "collectives list", "--help"]
)
def test_a_full_standard_output_is_named(line: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*WEFT, *line.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr == (
        "weft: standard output: cannot be written: No space left on device; free some space, or"
        " redirect it\n"
    )


@pytest.mark.parametrize(
    "line", ["run --fabric tofino-4 -n 4 --json x.json /bin/true", "fabric plot tofino-4 -o x.png"]
)
def test_a_directory_that_has_vanished_is_named(tmp_path: Path, line: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = subprocess.run(
        ["/bin/sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh", *WEFT, *line.split()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == ("weft: the working directory no longer exists; change to another one\n")


def test_a_lost_store_json_is_said_how_to_write(write: Write, tmp_path: Path) -> None:
    runs = '\n[[runs]]\nprogram = "latency"\nfabric = "tofino-4"\nranks = 4\nbytes = "4B"\n'
    file = write(head() + runs)
    assert campaign("run", str(file)).status == 0
    about = tmp_path / "small.runs" / "store.json"
    before = about.read_text()
    about.unlink()
    for command in ("plan", "run", "status"):
        refused = campaign(command, str(file))
        assert refused.status == 2
        assert "small.runs: has runs/, but store.json is missing" in refused.stderr
        assert before in refused.stderr
    about.write_text(json.dumps(json.loads(before)))
    assert campaign("status", str(file)).status == 0
