# SPDX-License-Identifier: LGPL-2.1-only
"""Shell completion, and `weft help`."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support import in_process
from tests.support.places import ROOT
from weft import _core

SCRIPTS = Path(sysconfig.get_path("scripts"))


def complete(*words: str) -> list[str]:
    """Return bash's completions for the last of the given words."""
    answer = subprocess.run(
        [str(SCRIPTS / "weft")],
        env={
            **os.environ,
            "_WEFT_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["weft", *words]),
            "COMP_CWORD": str(len(words)),
        },
        text=True,
        capture_output=True,
        check=True,
    )
    assert answer.stderr == ""
    return [line.partition(",")[2] for line in answer.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("camp",), ["campaign"]),
        (("run", "--fabric", "tofino-1"), ["tofino-1", "tofino-16"]),
        (("run", "--offl"), ["--offload"]),
        (("run", "--offload", "str"), ["stream"]),
        (
            ("run", "--fallback", "bcast=ring,mpich-"),
            ["bcast=ring,mpich-4", "bcast=ring,mpich-4-ofi"],
        ),
        (("run", "--set", "switch.slo"), ["switch.slots="]),
        (("bench", "allreduce", "--modes", "stream,recursive_d"), ["stream,recursive_doubling"]),
        (("bench", "iallr"), ["iallreduce"]),
        (("bench", "alltoall", "--fo"), ["--format"]),
        (("collectives", "show", "allred"), ["allreduce"]),
        (("collectives", "show", "--selection", "mpich"), ["mpich", "mpich-4", "mpich-4-ofi"]),
        (("help", "fabric-f"), ["fabric-files"]),
        (("completion", "z"), ["zsh"]),
    ],
)
def test_names_are_completed(words: tuple[str, ...], offered: list[str]) -> None:
    assert complete(*words) == offered


def test_algorithms_of_the_collective_are_offered() -> None:
    offered = complete("collectives", "show", "barrier", "--algorithm", "")
    rows = _core.host_algorithms()
    assert offered == sorted({row["name"] for row in rows if row["collective"] == "barrier"})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_the_shells_own(shell: str) -> None:
    status, out, _ = in_process.run(["completion", shell])
    assert status == 0
    assert "_WEFT_COMPLETE" in out
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=out, text=True, check=True)


def test_pages_are_listed_and_shown() -> None:
    _, out, _ = in_process.run(["help"])
    listed = {line.split()[0] for line in out.splitlines()}
    assert listed == {path.stem for path in ROOT.glob("docs/*.md")} - {"README"}
    _, out, _ = in_process.run(["help", "guide", "--markdown"])
    assert out == (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.stem)
def test_pages_are_laid_out_for_reading(page: Path) -> None:
    """Off a terminal too, the output is not raw Markdown with link targets and comments."""
    if page.stem == "README":
        return
    status, out, _ = in_process.run(["help", page.stem])
    assert status == 0
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    assert out.partition("\n")[0].strip() == title.replace("`", "")
    assert "\x1b" not in out
    for markup in ("\n#", "<!--", "](", "```", "\n|--"):
        assert markup not in out, markup
    assert len(out) > len(page.read_text(encoding="utf-8")) / 2


def test_commands_help_is_shown() -> None:
    assert in_process.run(["help", "demo"])[1] == in_process.run(["demo", "--help"])[1]


def test_unknown_page_is_told() -> None:
    status, _, err = in_process.run(["help", "giude"])
    assert status == 2
    assert err == (
        "weft: TOPIC: found 'giude', which is neither a page nor a command; did you mean guide?"
        " (`weft help` lists the pages)\n"
    )
