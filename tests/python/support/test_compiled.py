# SPDX-License-Identifier: LGPL-2.1-only
"""Test infrastructure: programs that are compiled once, and weft in pytest's process."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS
from tests.support.simulated import WEFT, run_command

# Logs each call and takes a while.
COMPILER = """#!/bin/sh
[ "$1" = --version ] && exit
echo made >>{log}
sleep 0.2
for target; do :; done
echo "$@" >"$target"
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiled, "CACHE", tmp_path / "cache")
    path = tmp_path / "compiler"
    path.write_text(COMPILER.format(log=tmp_path / "log"))
    path.chmod(0o755)
    (tmp_path / "a.c").write_text("1")
    (tmp_path / "a.h").write_text("1")
    return path


def times_made(compiler: Path) -> int:
    return len(compiler.with_name("log").read_text().splitlines())


def test_a_program_is_made_once_however_many_want_it(compiler: Path) -> None:
    def make(_: int) -> Path:
        return compiled.made("a", [compiler.with_name("a.c")], [str(compiler)])

    with ThreadPoolExecutor(8) as pool:
        (found,) = set(pool.map(make, range(8)))
    assert found.read_text().startswith("-o ")
    assert times_made(compiler) == 1


def test_a_program_is_made_anew_when_anything_changes_that_goes_into_it(compiler: Path) -> None:
    def make(*flags: str) -> Path:
        return compiled.made("a", [compiler.with_name("a.c")], [str(compiler), *flags])

    found = {make(), make("-O1")}
    for name in ("a.c", "a.h"):
        compiler.with_name(name).write_text("2")
        found.add(make())
    os.utime(compiler, ns=(1, 1))
    compiled._identity.cache_clear()
    found.add(make())
    assert len(found) == times_made(compiler) == 5


@pytest.mark.parametrize("words", [("rnu",), ("fabric", "show", "tofino-4"), ("--version",)])
def test_weft_says_the_same_in_this_process_as_in_its_own(words: tuple[str, ...]) -> None:
    before = signal.getsignal(signal.SIGINT), sys.stdout, sys.argv
    here = run_command([*WEFT, *words])
    assert before == (signal.getsignal(signal.SIGINT), sys.stdout, sys.argv)
    alone = subprocess.run([*WEFT, *words], text=True, capture_output=True, check=False)
    assert (here.status, here.stdout, here.stderr) == (
        alone.returncode,
        alone.stdout,
        alone.stderr,
    )


def test_a_program_run_in_this_process_prints_where_it_should() -> None:
    program = TESTS / "smpi" / "calls.c"
    command = simulated.weft_command(compiled.program(program), "int-sum")
    here = run_command(command)
    alone = subprocess.run(command, text=True, capture_output=True, check=False)
    assert here.lines == sorted(alone.stdout.splitlines())
    assert here.stderr.splitlines()[:-1] == alone.stderr.splitlines()[:-1]
