# SPDX-License-Identifier: LGPL-2.1-only
"""Errors of the API name its fields; the command line substitutes its options."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python.fuzz.options import commands, find
from tests.support.in_process import run as weft
from tests.support.places import ROOT
from weft import _core
from weft.base.errors import WeftError, named
from weft.cli.files import _labels
from weft.runs.launch import prepare
from weft.runs.request import Request
from weft.runs.site import choose_ppn

PACKAGE = ROOT / "python" / "weft"
API = sorted(file for file in PACKAGE.rglob("*.py") if PACKAGE / "cli" not in file.parents)
# Files whose texts belong to records, or to the command line's output of results.
TEXTS_OF_THE_COMMAND_LINE = (
    *("runs/outcome.py", "runs/profile.py", "runs/replay.py", "runs/tables.py"),
    *("study/comparison/views.py", "fabric/defaults.py", "fabric/from_file.py", "entry.py"),
    *(
        "runs/toolchain.py",
        "api/compiling.py",
        "runs/privatization/interpreter.py",
    ),  # a compiler
    *("campaign/cluster/slurm.py", "campaign/cluster/jobs.py"),  # call Slurm
    "runs/options.py",  # declares the command line's names together with the API's
    "benchmarks/placement.py",  # reads the options of launchers
    *(
        "report/data/commands.py",
        "report/data/records.py",
        "api/calibrating.py",
    ),  # write commands that reproduce the result
)
# Options of other programs, and comments in files written by weft.
OTHERS = re.compile(r"--(log|cfg|help|list|help-coll|base)\b|--offload (auto|multicast|{})")


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file except docstrings, with {} for values in them."""
    tree = ast.parse(file.read_text("utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.JoinedStr)
        for part in (node.values if isinstance(node, ast.JoinedStr) else [node.value])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in inner:
            yield node.lineno, str(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, parts))


def test_messages_of_the_api_name_no_option() -> None:
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {text}"
        for file in API
        if str(file.relative_to(PACKAGE)) not in TEXTS_OF_THE_COMMAND_LINE
        for line, text in texts(file)
        if re.search(r"(^|[ (])--[a-z]|^-o$|^-[no]:", OTHERS.sub("", re.sub("`.*?`", "", text)))
    ]
    assert wrong == []


def test_every_field_that_messages_name_is_an_option_of_some_command() -> None:
    calls = re.compile(r"""\bnamed\(['"](\w+)['"]\)""")
    used = {name for file in API for name in calls.findall(file.read_text("utf-8"))}
    there = {name for words in commands() for name in _labels(find(words))}
    assert used
    assert used - there == set()


def test_the_api_speaks_of_fields_and_the_command_line_of_options(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=r"^ranks: found 500 ranks; fabric tofino-4 has"):
        choose_ppn(_core.load_fabric("tofino-4"), 500, None)
    with pytest.raises(WeftError, match=r"^config: found 'x'; .* for example config contexts/"):
        prepare(Request.of(fabric="tofino-4", ranks=4, program="/bin/true", config=("x",)))
    _, _, said = weft(["run", "--fabric", "tofino-4", "-n", "500", "/bin/true"])
    assert said.startswith("weft: -n: found 500 ranks; fabric tofino-4 has")
    _, _, said = weft(["run", "--fabric", "tofino-4", "-n", "4", "--cfg", "x", "/bin/true"])
    assert said.startswith("weft: --cfg: found 'x'; ")
    assert "for example --cfg contexts/" in said


def test_a_field_that_a_command_has_no_option_for_keeps_its_name() -> None:
    error = WeftError(f"{named('ranks')}: found 5; see {named('ppn')}", 3).in_terms_of({"ppn": "P"})
    assert (str(error), error.exit_status) == ("ranks: found 5; see P", 3)
