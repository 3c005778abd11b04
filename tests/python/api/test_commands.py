# SPDX-License-Identifier: LGPL-2.1-only
"""Every command of `weft` has a call in the API, with an argument for each of its options."""

import inspect
import os
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import weft
from tests.python.documents.test_markdown import COMMANDS, Step, blocks, run_step, write_files
from tests.support.places import ROOT
from weft.api.running import NetworkOptions, RunOptions
from weft.base import extras
from weft.runs.options import SHORTCUTS, run_options
from weft.study.bench.benchmarks import BENCHMARKS

PAGE = ROOT / "docs" / "python.md"
FOR_SHELLS = {
    "weft completion": "completes what is typed in a shell",
    "weft help": "shows pages of the documentation in a terminal",
}
"""Commands that are only useful in a shell, with the reason."""
# Option names that differ from the call's parameter; display and output options that the call
# replaces by returning the data.
OTHERWISE = {
    **{one.field: one.name for one in run_options()},
    **{one.field: "set" for one in SHORTCUTS},
    **{"size": "bytes", "type_": "type"},
    **{"fit_": "fit", "bytes_": "bytes", "hashes": "hash"},
    **{"hash_name": "hash", "ended": "end", "out": "directory", "file": "campaign"},
    **{
        "p4runtime": "switch",
        "p4info": "switch",
        "config_": "switch",
        "tls": "switch",
        "output": "path",
    },
}
SHOWN = {
    *(
        "csv_file",
        "json_file",
        "errors_file",
        "plot",
        "figure",
        "picture",
        "quiet",
        "listed",
        "documents",
    ),
    *("document", "figures", "script_file", "new_plan", "apply", "netns", "format_", "full"),
}
# Options by command that are values of a call's argument, or separate calls.
VALUES = {
    **{
        f"weft bench nccl-{test}": {"version": "modes"}
        for test in (
            *("all_reduce", "all_gather", "reduce_scatter", "alltoall"),
            *("broadcast", "reduce"),
        )
    },
    "weft calibrate host": {"here": "weft.calibrate_here"},
    "weft run": {
        "compare": "weft.compare",
        "no_intervals": "weft.compare",
        "record": "weft.record_trace",
        "jobs": "weft.run_jobs",
        "tolerance": "check_flows",
    },
    "weft schema": {"output": "weft.schema"},
    "weft train": {"compare": "weft.compare_training", "timeline": "weft.train"},
    "weft replay": {"compare": "weft.compare", "no_intervals": "weft.compare"},
    "weft cache hash": {"switch": "HashProof.tags"},
    "weft testbed diff": {"given": "self", "name": "change_to", "p4runtime": "change_to"},
    "weft testbed status": {"plan_output": "weft.testbed_running"},
    "weft testbed plan": {"output": "save"},
    "weft testbed up": {"config": "switch"},
    "weft testbed iterate": {"name": "up_as"},
    "weft testbed probe": {"tables": "files"},
}


def rows() -> dict[str, list[str]]:
    """Return the calls in the page's table, by command."""
    found = re.findall(r"^\| `(weft [^`]+)` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    table = {command: re.findall(r"`(weft\.[\w.]+)`", calls) for command, calls in found}
    benchmarks = [*BENCHMARKS, "osu_allgather", "osu_bcast"]
    generated = {f"weft bench {name}": ["weft.bench"] for name in benchmarks}
    return generated | table


def leaves() -> Iterator[tuple[str, click.Command]]:
    for name, command in COMMANDS.items():
        if not isinstance(command, click.Group) and not name.startswith("weft fabric new "):
            yield name, command


def found(call: str) -> Any:
    value: Any = weft
    for word in call.split(".")[1:]:
        value = getattr(value, word)
    return value


def arguments(call: str) -> set[str]:
    """Return the parameters of a call; for a method, including the parameters of its class."""
    names = set()
    owner = found(call.rpartition(".")[0]) if call.count(".") > 1 else None
    for function in (found(call), *([owner.__init__] if owner is not None else [])):
        for name, parameter in inspect.signature(function).parameters.items():
            options = parameter.kind is inspect.Parameter.VAR_KEYWORD
            names |= _options(parameter) if options else {name}
    if owner is weft.Results:
        names |= arguments("weft.Campaign")
    if owner is weft.TestbedPlan:
        names |= {"plan"}
    return names


def _options(parameter: inspect.Parameter) -> set[str]:
    kind = typing.get_args(parameter.annotation)
    known = {RunOptions, NetworkOptions}.intersection(kind)
    return set(known.pop().__annotations__) if known else {parameter.name}


def test_every_command_has_a_call() -> None:
    table = rows()
    lacking = [name for name, _ in leaves() if name not in {*table, *FOR_SHELLS}]
    assert lacking == [], "docs/python.md, Commands and calls: a row, with the call"
    own = {name for name, _ in leaves()} | {"weft fabric new", "weft --version"}
    assert set(table) - own == set()
    for command, calls in table.items():
        assert calls, command
        for call in calls:
            assert callable(found(call)) or isinstance(found(call), str), call


def test_every_option_has_an_argument() -> None:
    table = rows()
    lacking = []
    for name, command in leaves():
        if name in FOR_SHELLS or name.split()[1] in ("cc", "cxx", "f90"):
            continue
        known = set().union(*map(arguments, table[name]))
        for parameter in command.params:
            own = parameter.name or ""
            wanted = OTHERWISE.get(own, own)
            elsewhere = own in SHOWN or own in VALUES.get(name, {}) or own == "help"
            if not {own, wanted} & known and not elsewhere:
                lacking.append(f"{name}: {own}")
    assert lacking == []


def test_all_that_is_public_is_in_the_reference() -> None:
    pages = [path.read_text("utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")]
    named = re.findall(r"^::: (weft\.\w+)$", "\n".join(pages), re.MULTILINE)
    assert len(named) == len(set(named))
    public = {*weft.__all__, *extras.calls()} - {"__version__"}
    known = {f"weft.{name}" for name in public}
    assert set(named) == known


@pytest.mark.slow
def test_the_pages_blocks_run_in_order(tmp_path: Path) -> None:
    write_files(tmp_path, ROOT / "docs" / "guide.md")  # its program is ring.c
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(PAGE, "python")), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    command = [sys.executable, str(script)]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    saved = run_step(tmp_path, Step("weft campaign status rings.toml", []))
    assert saved == "rings: 8 runs: 8 done\n"
