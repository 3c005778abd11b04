# SPDX-License-Identifier: LGPL-2.1-only
"""Files read by commands and calls are never overwritten, whatever name they were given by.

Every parameter that takes a text either has a type that declares the files it names, or is listed
here: with a command that reads a file through the parameter, or as a parameter that names no file.
The same applies to the API.
"""

import inspect
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import weft
from tests.python.cli.test_file_options import ALL, COMPILERS
from tests.support.compiled import example
from tests.support.simulated import WEFT, weft_says
from weft.api import input_checks
from weft.base import extras, paths
from weft.base.errors import WeftError
from weft.cli import files

RUN = "run --fabric tofino-4 -n 4"
# By parameter: a command that reads a file of the fixture `here` through the parameter, and writes
# to the same file.
READ_BY = {
    "fallback": f"{RUN} --fallback ./sel.toml --json sel.toml -- ./latency 4 1",
    "modes": "bench allreduce --fabric tofino-4 -n 4 --sizes 4 --modes ./sel.toml --csv sel.toml",
    "mode": "validate t.csv --fabric tofino-4 --mode ./sel.toml --json sel.toml --ranks 4",
    "model": "train model.toml --fabric dgx-h100 --json model.toml",
    "config": f"{RUN} --cfg smpi/comp-adjustment-file:sel.toml --json sel.toml -- ./latency 4 1",
}
# Texts that do not name files.
NO_FILE = {
    *("changes", "sizes", "percentiles", "cube", "hash_name", "switch", "ways", "hashes", "chunk"),
    *("destinations", "column", "keys", "fit_", "segments", "size", "collective", "algorithm"),
    *("segment", "bandwidth", "latency", "switch_latency", "name", "topic", "transport", "threads"),
    *("buffer", "link", "memory_bytes", "host_speed", "p4runtime", "experiment", "chassis"),
    *("baseline", "pair", "caches", "end", "up_as", "listen", "benchmark", "ppn", "command"),
    *("ended", "bytes_", "tunings", "job", "source", "target", "test", "version"),
    *("oversubscription", "logical_dimensions", "slowdown", "model_changes", "gpu", "nccl"),
    "word",
}
MORE = [
    "replay layers.conf --fabric dgx-h100 --json layers.conf",
    "replay layers.conf --fabric dgx-h100 --csv layers.conf",
    f"{RUN} --fallback openmpi-5.0+rules.conf --json rules.conf -- ./latency 4 1",
    f"{RUN} --fallback ./sel.toml,bcast=binomial --trace sel.toml -- ./latency 4 1",
    f"{RUN} --json in.toml -- ./latency --input=in.toml",
    "replay tr --fabric tofino-4 --fallback ./sel.toml --json sel.toml",
    "run --platform p.xml -n 2 --json in.toml -- ./latency 4 1",
    "collectives show bcast -n 4 --selection ./sel.toml --csv sel.toml",
    "bench --like osu.txt --fabric tofino-4 -n 4 --csv osu.txt",
    "campaign report c.toml -o c.toml",
    "campaign report c.toml -o f.toml",
    "campaign report c.toml -o latency.c",
    "campaign report c.toml -o sel.toml",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(paths.installed("presets", "mpi", "mpich-4.toml"), "sel.toml")
    shutil.copy(paths.installed("fabrics", "tofino-4.toml"), "f.toml")
    shutil.copy(paths.example("allreduce_latency.c"), "latency.c")
    shutil.copy(example("allreduce_latency"), "latency")
    Path("rules.conf").write_text("0\n")
    Path("model.toml").write_text(
        'like = "llama-3-8b"\n[parallel]\ntensor = 8\n[batch]\nsequence = 4096\nglobal = 1\n'
        '[train]\ngpu = "h100-sxm"\n'
    )
    Path("layers.conf").write_text(
        "MICRO all_gpus: 8\n1\nlayer -1 1000 NONE 0 0 NONE 0 0 ALLREDUCE 1024 0\n"
    )
    Path("in.toml").write_text("x\n")
    Path("osu.txt").write_text(
        "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n4 5\n"
    )
    Path("p.xml").write_text('<platform version="4.1"><include file="in.toml"/></platform>')
    Path("t.csv").write_text("bytes,time_us\n4,5\n8,6\n16,7\n32,8\n")
    Path("c.toml").write_text(
        '[campaign]\nname = "own"\n[programs.own]\nsource = "latency.c"\narguments = ["4", "1"]\n'
        '[[runs]]\nprogram = "own"\nfabric = "f.toml"\nranks = 4\nfallback = "./sel.toml"\n'
    )
    made = weft_says(*RUN.split(), "--record", "tr", "--", "./latency", "4", "1")
    assert made.returncode == 0, made.stderr
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".runs" not in str(path)
    }


def texts() -> Iterator[tuple[str, click.Parameter]]:
    """Yield the parameters of all commands that take a text without declaring files."""
    for name, one in ALL.items():
        for param in one.params if name not in COMPILERS else ():
            declared = isinstance(param.type, (*files.INPUTS, *files.OUTPUTS))
            numbers = (click.types.IntParamType, click.types.FloatParamType)
            other = isinstance(param.type, (*numbers, click.types.BoolParamType, click.Choice))
            if not declared and not other:
                yield name, param


def test_of_every_text_it_is_known_whether_it_names_files() -> None:
    for name, param in texts():
        own = str(param.name)
        assert own in READ_BY or own in NO_FILE or own.startswith("topology_"), (
            f"{name} {own}: add a command that reads a file by it, or say that it names none"
        )


@pytest.mark.parametrize("link", [False, True])
def test_no_command_replaces_what_it_reads(here: Path, link: bool) -> None:
    assert weft_says("campaign", "run", "c.toml").returncode == 0
    before = contents(here)
    for line in (*READ_BY.values(), *MORE):
        words = line.split()
        if link:  # the output is another name of the input
            at = max(words.index(one) for one in words if one in OUTPUTS) + 1
            os.link(words[at], "other.toml")
            words[at] = "other.toml"
        result = weft_says(*words)
        Path("other.toml").unlink(missing_ok=True)
        assert result.returncode == 2, (line, result.stderr)
        assert " is a file that " in result.stderr, (line, result.stderr)
        assert result.stderr.endswith("; choose another output file\n")
        assert result.stderr.count("\n") == 1, (line, result.stderr)
        assert contents(here) == before, line


OUTPUTS = ("--json", "--trace", "--csv", "-o")


def test_nor_the_file_that_standard_input_comes_from(here: Path) -> None:
    with Path("in.toml").open() as file:
        ended = subprocess.run(
            [*WEFT, *RUN.split(), "--json", "in.toml", "--", "./latency", "4", "1"],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "in.toml is a file that standard input comes from" in ended.stderr
    assert Path("in.toml").read_text() == "x\n"


def test_nor_a_trace_whose_files_are_the_programs_input(here: Path) -> None:
    before = contents(here)
    one = next(Path("tr").iterdir())
    result = weft_says(*RUN.split(), "--record", "tr", "--", "./latency", str(one))
    assert result.returncode == 2, result.stderr
    assert "names to be read" in result.stderr
    assert contents(here) == before


# ---- The API -------------------------------------------------------------------------------------

# Parameters of calls that are not in `input_checks.WRITTEN`: inputs, or texts that do not name
# files.
READ = {
    *("fabric", "fabrics", "program", "arguments", "platform", "fallback", "cfg", "input", "trace"),
    *("traffic", "faults"),
    *("options", "table", "tables", "base", "like", "messages", "records", "record", "campaign"),
    *("programs", "axes", "folder", "store", "cluster", "source", "inventory", "keep", "new"),
    *("tls", "hosts_like", "plan", "engine", "selection", "modes", "mode", "files", "set", "flags"),
    *("command", "leave_out", "file", "from_file", "host_from", "jobs", "hosts"),
    *("model", "process_groups"),
}
NAMES = {
    *("collective", "algorithm", "segment", "bytes", "sizes", "column", "rows", "hash", "pattern"),
    *("replacement", "cube", "transport", "chunk", "buffer", "link", "keys", "fit", "timeout"),
    *("memory", "description", "topology", "host_preset", "nic_preset", "switch_preset", "zip"),
    *("bandwidth", "latency", "switch_latency", "name", "part", "offload", "host_speed", "chassis"),
    *("baseline", "pair", "caches", "end", "switch", "up_as", "experiment", "listen"),
    *("benchmark", "ppn", "tunings", "job", "source", "target", "test", "version", "type", "op"),
    *("on_size", "on_line", "on_turn", "on_step"),
    *("model_changes", "gpu", "nccl", "allgather_size", "detail", "word"),
}


def calls() -> Iterator[tuple[str, Any]]:
    """Yield the functions of the API and the methods of its classes."""
    for name in (*weft.__all__, *extras.calls()):
        one = getattr(weft, name)
        if inspect.isclass(one):
            for method, function in vars(one).items():
                if hasattr(function, "__wrapped__") and inspect.isfunction(function):
                    yield f"{name}.{method}", function
        elif hasattr(one, "__wrapped__"):
            yield name, one


def test_of_every_argument_it_is_known_whether_it_names_files() -> None:
    found = dict(calls())
    assert len(found) > 50
    known = {*input_checks.WRITTEN, *READ, *NAMES}
    unknown = [
        f"{name} {own}"
        for name, function in found.items()
        for own, parameter in inspect.signature(function).parameters.items()
        if own not in known and any(kind in str(parameter.annotation) for kind in ("str", "Path"))
    ]
    assert unknown == [], "are these written (input_checks.WRITTEN), read, or no files' names?"


def test_no_call_replaces_what_it_reads(here: Path) -> None:
    fabric = weft.Fabric("f.toml")
    campaign = weft.Campaign("c.toml")
    results = campaign.run(progress=False)
    shutil.copy("f.toml", "f.png")
    drawn = weft.Fabric("f.png")
    before = contents(here)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: weft.run("./latency", ["4", "1"], ranks=4, fabric=fabric, timeline="f.toml"),
        lambda: weft.run("./latency", ranks=4, fabric="f.toml", timeline="./latency"),
        lambda: weft.run(
            "./latency", ranks=4, fabric=fabric, fallback="./sel.toml", timeline="sel.toml"
        ),
        lambda: weft.run("./latency", ["in.toml"], ranks=4, fabric=fabric, timeline="in.toml"),
        lambda: weft.replay("tr", fabric="f.toml", fallback="./sel.toml", timeline="sel.toml"),
        lambda: weft.compile("latency.c", output="latency.c"),
        lambda: weft.calibrate_cpu(base="f.toml", path="f.toml"),
        lambda: weft.new_fabric("star", "f.toml", hosts=4, like="f.toml"),
        lambda: fabric.export("f.toml"),
        lambda: drawn.plot("f.png"),
        lambda: campaign.report("c.toml"),
        lambda: campaign.report("latency.c"),
        lambda: results.report("sel.toml"),
        lambda: campaign.save("c.toml"),
    )
    for number, attempt in enumerate(attempts):
        print("attempt", number)  # shown on failure
        with pytest.raises(WeftError, match=r"is a file that .*; choose another output file"):
            attempt()
        assert contents(here) == before, number
    plan = weft.testbed_plan("topocloud-64", ["star-8"])
    plan.save("plan.json")
    weft.TestbedPlan("plan.json").save("plan.json")  # saving in place is allowed
