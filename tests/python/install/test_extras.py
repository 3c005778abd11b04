# SPDX-License-Identifier: LGPL-2.1-only
"""`pip install weft` without extras: working features, and errors for all other features."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

import pytest

from tests.support import campaign_files, compiled
from tests.support.places import ROOT
from weft.base.extras import PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Hides all packages of extras, loads the whole API, and runs commands.
WITHOUT = """
import json, sys
from weft.base.extras import PACKAGES
hidden = {package for packages in PACKAGES.values() for package in packages}
assert not hidden & {name.partition(".")[0] for name in sys.modules}, "imported with weft"
sys.modules.update(dict.fromkeys(hidden))
import weft
for name in weft.__all__:
    getattr(weft, name)
from tests.support import in_process
print(json.dumps([in_process.run(words) for words in json.loads(sys.argv[1])]))
assert "testbed_plan" not in dir(weft) and not hasattr(weft, "testbed_plan")
try:
    weft.testbed_plan("topocloud-64", ["torus-3x3"])
except weft.WeftError as error:
    print(json.dumps(str(error)))
"""
NEED = {
    "calibrate": "calibrate p2p p2p_alaska_ib -o made.toml",
    "testbed": "testbed plan topocloud-64 torus-3x3 -o plan.json",
    "cluster": "campaign run small.toml --cluster local",
    "traces": "replay traces.otf2 --fabric tofino-4",
    "report": "fabric plot tofino-4 -o fabric.png",
}
"""A command that needs each extra; no command needs the notebook extra."""
WORK = (
    "run --fabric tofino-4 -n 4 --json record.json -- {program} 4 1",
    "run --fabric tofino-4 -n 4 --compare -- {program} 4 1",
    "bench allreduce --fabric tofino-4 -n 4 --sizes 4 --csv bench.csv",
    "bench --like osu.txt --fabric tofino-4 -n 4",
    "demo --out demo",
    "fabric show tofino-4",
    "collectives list",
    "campaign run small.toml",
    "campaign export small.toml -o table.csv",
)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Any]], str]:
    """Run all commands in a Python without extras; also return the error of an API call."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "traces.otf2").touch()
    runs = '\n[[runs]]\nprogram = "latency"\nfabric = "tofino-4"\nranks = 4\nbytes = "4B"\n'
    campaign_files.written(folder, campaign_files.head() + runs)
    (folder / "osu.txt").write_text(
        "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n4  5.1\n"
    )
    program = compiled.example("allreduce_latency")
    commands = [*(line.format(program=program) for line in WORK), *NEED.values()]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, json.dumps([line.split() for line in commands])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results, call = map(json.loads, done.stdout.splitlines())
    return dict(zip([*WORK, *NEED], results, strict=True)), call


@pytest.mark.parametrize("line", WORK)
def test_runs_and_tables_need_no_extra(ended: tuple[dict[str, list[Any]], str], line: str) -> None:
    status, _, errors = ended[0][line]
    assert status == 0, errors


@pytest.mark.parametrize("extra", NEED)
def test_a_command_names_the_extra_that_is_missing(
    ended: tuple[dict[str, list[Any]], str], extra: str
) -> None:
    status, _, errors = ended[0][extra]
    assert status == 2
    assert len(errors.splitlines()) == 1, errors
    assert errors.startswith("weft: ")
    assert errors.endswith(f"needs the extra '{extra}': pip install 'weft[{extra}]'\n")


def test_a_call_names_the_extra_that_is_missing(
    ended: tuple[dict[str, list[Any]], str],
) -> None:
    assert ended[1].endswith("needs the extra 'testbed': pip install 'weft[testbed]'")


def test_extras_bring_the_packages_that_messages_know() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras.pop("all") == [f"weft[{','.join(extras)}]"]
    assert extras.keys() == PACKAGES.keys()
    distributions = packages_distributions()
    for extra, requirements in extras.items():
        brought = {re.split("[=>]", one)[0] for one in requirements}
        known = {name for package in PACKAGES[extra] for name in distributions[package]}
        assert brought <= known, extra
