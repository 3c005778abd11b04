# SPDX-License-Identifier: LGPL-2.1-only
"""`pip install .` in a checkout, with and without SimGrid, as pip does it, but without a network.

The build dependencies are already installed, and weft's run-time dependencies are not requested.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.places import ROOT
from weft import _core
from weft.base import paths

pytestmark = pytest.mark.slow

SYSTEM = [Path(folder) / "include" / "simgrid" for folder in ("/usr", "/usr/local")]
COMPLETE = (
    *("include/simgrid/s4u.hpp", "include/simgrid/version.h", "lib/libsimgrid.so"),
    *("bin/smpicc", "bin/smpicxx", "bin/smpif90"),
)


def pip_install(
    target: Path, prefix: Path | None, *settings: str, before: Sequence[str] = ()
) -> tuple[int, str]:
    """Run `pip install .` into a folder; return the exit status and the output."""
    environment = {key: value for key, value in os.environ.items() if key != "SIMGRID_PREFIX"}
    if prefix is not None:
        environment["SIMGRID_PREFIX"] = str(prefix)
    options = ["--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    words = [word for setting in settings for word in ("--config-settings", setting)]
    command = [sys.executable, "-m", "pip"]
    done = subprocess.run(
        [*before, *command, "install", *options, *words, "--target", str(target), "."],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def fake(folder: Path, without: str = "", version: str = "4.1.0") -> Path:
    """Make an imitation of an installed SimGrid, optionally without one of its files."""
    for name in COMPLETE:
        if name != without:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("."), strict=True)
    text = "".join(f"#define SIMGRID_VERSION_{name} {number}\n" for name, number in numbers)
    (folder / "include" / "simgrid" / "version.h").write_text(text, encoding="utf-8")
    return folder


def test_without_simgrid_it_says_what_to_do_and_what_it_was_told_last_counts(
    tmp_path: Path,
) -> None:
    """The build folder of a failed attempt does not hide the SimGrid named in the next attempt."""
    if any(folder.exists() for folder in SYSTEM):
        pytest.skip("the system has a SimGrid, which would be found")
    nowhere, old = tmp_path / "nowhere", fake(tmp_path / "old", version="3.36.0")
    no_fortran = fake(tmp_path / "no-fortran", without="bin/smpif90")
    for prefix, said in {
        None: "SimGrid was not found, and SIMGRID_PREFIX is not set",
        nowhere: f"there is no SimGrid in SIMGRID_PREFIX={nowhere}",
        no_fortran: f"the SimGrid in {no_fortran} has no bin/smpif90",
        old: f"the SimGrid in {old} is 3.36.0, and weft needs SimGrid 4.0 or 4.1",
    }.items():
        status, text = pip_install(tmp_path / "target", prefix, f"build-dir={tmp_path / 'build'}")
        assert status != 0
        assert f"weft: {said}" in text, text
        assert re.search(r"^ +SIMGRID_PREFIX=/path/of/simgrid pip install \.$", text, re.MULTILINE)
        assert "`setup/simgrid` builds one" in text
        around = text.partition("lines of output]")[2].partition("[end of output]")[0]
        assert len([line for line in around.splitlines() if line.strip()]) <= 12, "one message"
        assert "Traceback" not in text
        assert not (tmp_path / "target").exists()


def test_with_a_simgrid_it_installs_what_runs(tmp_path: Path) -> None:
    """The installation uses the checkout's build folder, because its objects are the same."""
    target, program, record = (tmp_path / name for name in ("target", "sum", "record.json"))
    status, text = pip_install(target, paths.simgrid_prefix(), before=("flock", "setup"))
    assert status == 0, text
    assert "Successfully installed weft-" in text

    def weft(*words: str) -> str:
        """Run the installed weft instead of the checkout's weft, which a `.pth` file would find."""
        return subprocess.run(
            [sys.executable, "-S", str(target / "bin" / "weft"), *words],
            env={**os.environ, "PYTHONPATH": f"{target}:{sysconfig.get_path('purelib')}"},
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    version, *_ = weft("--version").splitlines()
    assert version == f"weft {_core.version}, with SimGrid {_core.simgrid_version}"
    weft("cc", str(ROOT / "tests" / "smpi" / "latency.c"), "-o", str(program))
    options = ["-n", "4", "--json", str(record)]
    weft("run", "-q", "--fabric", "tofino-4", *options, "--", str(program), "1024", "2")
    (called,) = json.loads(record.read_text(encoding="utf-8"))["collectives"]
    assert called["path"] == "stream"
    assert (target / "weft" / "docs" / "guide.md").exists(), "`weft help` reads it"
