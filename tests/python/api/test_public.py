# SPDX-License-Identifier: LGPL-2.1-only
"""`import weft`: public names, single runs and comparisons, errors about invalid calls."""

import ast
import asyncio
import inspect
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import weft
from tests.support import simulated
from tests.support.places import ROOT
from weft.api import arguments
from weft.base import extras, inputs

LATENCY = ROOT / "examples" / "allreduce_latency.c"
SIZES = "4,1024"
CRASH = '#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void) { MPI_Init(0, 0); puts("here"); fflush(stdout); abort(); }\n'  # noqa: E501
SAY = (
    "#include <mpi.h>\n#include <stdio.h>\nint main(void) { MPI_Init(0, 0); char word[9];"
    ' scanf("%8s", word); printf("read %s\\n", word); MPI_Finalize(); }\n'
)
FOREVER = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); for (volatile int on = 1; on;); }\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile into a cache of the tests instead of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def latency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weft.compile(LATENCY, tmp_path_factory.mktemp("programs") / "latency")


# ---- Public names


def test_importing_weft_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import weft; print(*set(sys.modules) - before)"
    command = [sys.executable, "-S", "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    ended = subprocess.run(command, env=environment, text=True, capture_output=True, check=True)
    assert ended.stdout.split() == ["weft"]


def test_type_checkers_editors_and_python_see_the_same_names() -> None:
    tree = ast.parse((ROOT / "python/weft/__init__.py").read_text("utf-8"))
    imported = {
        (alias.asname or alias.name): node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module not in ("importlib", "weft.base.extras")
        for alias in node.names
    }
    assert sorted(weft._NAMES) == sorted(weft.__all__)
    assert imported == weft._NAMES | extras.calls()
    assert imported.keys() <= set(dir(weft))
    for name in imported:
        assert getattr(weft, name) is not None
    with pytest.raises(AttributeError, match="module 'weft' has no attribute 'rum'"):
        weft.rum  # noqa: B018


def public() -> Iterator[tuple[str, Any]]:
    """Yield the functions of the API and the methods of its classes."""
    for name in (*weft.__all__, *extras.calls()):
        value = getattr(weft, name)
        if inspect.isclass(value) and value.__module__.startswith(("weft.api", "weft_testbed")):
            for method, function in vars(value).items():
                if inspect.isfunction(function) and (method == "__init__" or method[0] != "_"):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(value):
            yield name, value


def test_public_functions_are_typed_without_any_and_documented() -> None:
    seen = dict(public())
    assert len(seen) > 60
    for name, function in seen.items():
        signature = inspect.signature(function)
        own = {key: one for key, one in signature.parameters.items() if key != "self"}
        if name.endswith("__init__") and not function.__doc__:  # a data class: its fields
            continue
        annotations = [one.annotation for one in own.values()]
        if not name.endswith("__init__"):
            annotations.append(signature.return_annotation)
        assert inspect.Parameter.empty not in annotations, name
        assert not any("Any" in str(one) for one in annotations), name
        doc = inspect.getdoc(function) or ""
        assert doc, name
        described = doc.partition("Args:")[2]
        lacking = [key for key in own if f"    {key}:" not in described] if len(own) > 1 else []
        assert lacking == [], name


def test_the_types_are_shipped() -> None:
    assert (ROOT / "python/weft/py.typed").exists()


@pytest.mark.slow
def test_strict_type_checkers_take_a_users_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "import polars as pl\n"
        "import weft\n"
        "record: weft.Record = weft.run('a.c', ['1', 2, Path('x')], fabric='tofino-4', ranks=4,\n"
        "    set={'switch.slots': 64, 'link.bandwidth': '400Gbps'}, offload='auto')\n"
        "time: int | float = record.check().simulated_time_s\n"
        "frame: pl.DataFrame = record.frame('links')\n"
        "gain: float | None = weft.compare('a', ranks=4, fabric=weft.Fabric('x')).speed_up\n"
        "done = weft.Campaign('c', programs={'a': 'a.c', 'b': weft.Program(path='b')},\n"
        "    axes={'fabric': 'tofino-4', 'ranks': [2, 4]}).run(progress=print).frame()\n"
        "best: pl.DataFrame = done.sort('simulated_time_s')\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull]
    own = ["--cache-dir", str(tmp_path / "cache"), str(script)]
    good = subprocess.run([*command, *own], text=True, capture_output=True, check=False)
    assert good.returncode == 0, good.stdout
    script.write_text("import weft\nweft.run('a', rank=4)\nweft.run('a', ranks='4')\n")
    bad = subprocess.run([*command, *own], text=True, capture_output=True, check=False)
    assert bad.stdout.count("error:") == 2, bad.stdout


# ---- One run, two runs, traces


def test_a_run_has_the_record_of_the_command_line(latency: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    command = simulated.weft_command(latency, SIZES, "2", options=("--json", str(file)))
    assert simulated.run_command([*command]).status == 0
    free_clocks = {"smpi/wtime": 0}
    record = weft.run(latency, [SIZES, 2], fabric="tofino-4", ranks=4, cfg=free_clocks)
    theirs = weft.read_record(file)
    for one in (record, theirs):
        one.wall_time_s = one.cpu_time_s = one.peak_memory_bytes = 0
        one.command = []
    assert record == theirs
    assert "latency_us" in record.output
    record.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == theirs.to_json()


def test_a_source_is_compiled_and_options_arrive(tmp_path: Path) -> None:
    lines: list[str] = []
    record = weft.run(
        LATENCY,
        [SIZES, 1],
        fabric=weft.Fabric("tofino-16", {"link.bandwidth": "400Gbps"}),
        set={"switch.slots": 64},
        ranks=8,
        ppn=2,
        offload="message",
        fallback="mpich-4",
        cfg={"smpi/wtime": 0},
        privatize=False,
        timeline=tmp_path / "timeline.json",
        on_line=lines.append,
    ).check()
    assert record.fabric.changes == ["link.bandwidth=400Gbps", "switch.slots=64"]
    assert (record.ranks, record.ppn, record.offload) == (8, 2, "message")
    assert (record.fallback, record.config) == ("mpich-4", ["smpi/wtime:0"])
    assert json.loads((tmp_path / "timeline.json").read_text())
    assert lines == record.output.splitlines()
    assert str(record).startswith("collective")
    assert record.program == weft.run(LATENCY, [SIZES, 1], fabric="tofino-4", ranks=2).program


def test_a_program_in_the_cache_is_no_output_of_a_call(tmp_path: Path) -> None:
    """Calls in other threads may replace the program, whose inode may then be reused."""
    source = tmp_path / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    weft.compile(source)
    with inputs.observed("the call") as uses:
        assert weft.compile(source).is_file()
        assert uses.written == {}
        weft.compile(source, tmp_path / "program")
        weft.compile(source, tmp_path / "program")
        assert [path for path, _ in uses.written.values()] == [tmp_path / "program"]


def test_the_lists_of_a_record_are_data_frames(latency: Path) -> None:
    record = weft.run(latency, [SIZES, 2], fabric="tofino-4", ranks=4)
    frame = record.frame()
    (calls,) = frame.filter(pl.col("collective") == "allreduce")["calls"]
    assert calls == 6
    assert frame["way"].to_list()[0] == "stream"
    for part in typing.get_args(inspect.signature(record.frame).parameters["part"].annotation):
        assert len(record.frame(part)) == len(getattr(record, part, None) or ())
    with pytest.raises(weft.WeftError, match="found 'link'; did you mean links"):
        record.frame("link")  # type: ignore[arg-type]


def test_a_program_has_the_input_that_is_given(tmp_path: Path) -> None:
    source, text = tmp_path / "say.c", tmp_path / "text"
    source.write_text(SAY)
    text.write_text("hello")
    record = weft.run(source, fabric="tofino-4", ranks=1, input=text)
    assert record.output == "read hello\n"
    assert weft.run(source, fabric="tofino-4", ranks=1).output != record.output


def test_a_simulated_failure_is_a_record(tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    source.write_text(CRASH)
    record = weft.run(source, fabric="tofino-4", ranks=2)
    assert record.failed
    assert (record.outcome.kind, record.output) == ("signal", "here\n")
    assert "SIGABRT" in str(record)
    assert "SIGABRT" in record._repr_html_()
    with pytest.raises(weft.FailedRunError, match=r"run: rank 0 crashed \(SIGABRT\)") as caught:
        record.check()
    assert caught.value.record is record
    assert str(caught.value).endswith("the last that it printed:\nhere")
    late = tmp_path / "forever.c"
    late.write_text(FOREVER)
    assert weft.run(late, fabric="tofino-4", ranks=1, timeout=1).outcome.kind == "timeout"


def test_records_and_errors_come_back_from_other_processes(tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    source.write_text(CRASH)
    record = weft.run(source, fabric="tofino-4", ranks=2)
    record.extra["newer"] = 1
    again = pickle.loads(pickle.dumps(record))
    assert (again, again.output, again.extra) == (record, "here\n", {"newer": 1})
    error = pickle.loads(pickle.dumps(weft.FailedRunError(record)))
    assert (error.record, str(error)) == (record, str(weft.FailedRunError(record)))


def test_a_comparison_and_a_trace(latency: Path, tmp_path: Path) -> None:
    common: dict[str, Any] = {"arguments": [SIZES, 2], "fabric": "tofino-4", "ranks": 4}
    compared = weft.compare(latency, **common)
    hosts = weft.run(latency, **common, offload="off")
    assert compared.hosts is not None
    assert compared.hosts.simulated_time_s == hosts.simulated_time_s
    assert "latency_us" in compared.hosts.output
    assert compared.frame().filter(pl.col("collective") == "allreduce")["calls"].item() == 6
    assert "times as" in compared._repr_html_()
    printed = str(compared).splitlines()
    assert printed[0] == "Time per rank in all calls, --offload stream and off"
    assert printed[1].split()[0] == "collective"
    assert printed[1].split()[-2:] == ["over", "best"]
    assert any(line.startswith("allreduce") for line in printed)
    assert any(re.match(r"[\d.]+ times as fast \(", line) for line in printed)
    assert repr(compared).startswith("<Comparison: ")
    recording = weft.record_trace(latency, tmp_path / "trace", **common)
    assert (recording.messages, recording.exit_status) == ((), 0)
    replayed = weft.replay(tmp_path / "trace", fabric="tofino-4", offload="off")
    assert replayed.simulated_time_s == pytest.approx(hosts.simulated_time_s, rel=1e-3)
    again = weft.compare(tmp_path / "trace", fabric="tofino-4")
    assert again.speed_up == pytest.approx(compared.speed_up, rel=1e-3)


def test_html_holds_no_markup_of_programs(tmp_path: Path) -> None:
    source = tmp_path / "markup.c"
    source.write_text(CRASH.replace("here", "<script>alert(1)</script>"))
    html = weft.run(source, fabric="tofino-4", ranks=1)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


# ---- Wrong calls


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rank": 4}, "weft.run: no argument 'rank'; did you mean ranks"),
        ({"ranks": "4"}, "ranks: found '4'; allowed is a whole number"),
        ({"ranks": 4000}, "ranks: found 4000 ranks; fabric tofino-4 has 4 hosts of 72 cores"),
        ({"fabric": "tofino-5"}, 'fabric "tofino-5": there is no such file'),
        ({"fabric": 3}, "fabric: found 3; allowed is a text or a path or weft.Fabric"),
        ({"fabric": None}, "name the network to run on: either fabric, a fabric file"),
        ({"offload": "strem"}, "offload: found 'strem'; did you mean stream"),
        ({"set": {"switch.slot": 4}}, '[switch] slot: unknown key; did you mean "slots"'),
        ({"set": {"slots": 4}}, 'found the change "slots=4"; allowed: TABLE.KEY=VALUE'),
        (
            {"set": "switch.slots=4"},
            "set: found 'switch.slots=4'; allowed is a dictionary (its values:",
        ),
        ({"arguments": "4 2"}, "arguments: found '4 2'; allowed is a list (of a text or"),
        ({"timeout": -1}, "timeout: found -1; allowed are seconds, more than 0"),
        ({"cfg": {"smpi/wtme": 1}}, "cfg: found 'smpi/wtme', which is not a SimGrid option"),
        ({"fallback": "rng"}, 'fallback: found "rng", which is neither a selection nor'),
        ({"input": "nowhere"}, "input: found 'nowhere', and there is no such file"),
        ({"ppn": 0}, "ppn: found 0; allowed is a whole number from 1"),
        ({"platform": "p.xml"}, "fabric: found together with platform"),
        ({"host_speed": "-1Gf"}, "host_speed: found '-1Gf'"),
    ],
)
def test_a_wrong_argument_is_one_message(latency: Path, wrong: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"fabric": "tofino-4", "ranks": 4, **wrong}
    with pytest.raises(weft.WeftError) as caught:
        weft.run(latency, **given)
    assert said in str(caught.value)
    assert isinstance(caught.value, TypeError) == ("rank" in wrong)


class Odd:
    """Type that no call accepts."""


def test_every_argument_of_another_kind_is_named() -> None:
    """Types are checked before anything starts; missing arguments are reported before types."""
    tried = 0
    for name, function in public():
        owner = name.partition(".")[0]
        if "." in name and not name.endswith("__init__"):
            continue
        made = getattr(weft, owner) if "." in name else function
        if not hasattr(function, "__wrapped__"):  # a data class
            continue
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        parameters = [
            one for one in inspect.signature(made).parameters.values() if one.kind not in several
        ]
        needed = [one.name for one in parameters if one.default is inspect.Parameter.empty]
        for parameter in parameters:
            given = dict.fromkeys((*needed, parameter.name), Odd())
            with pytest.raises(
                weft.WeftError, match=r"^\w+: found <.*Odd .*; allowed is "
            ) as caught:
                made(**given)
            assert str(caught.value).partition(":")[0] in given
            tried += 1
    assert tried > 150


def test_kinds_are_told_with_their_place() -> None:
    wrong: list[tuple[Any, Any, str]] = [
        (True, int, "x: found True; allowed is a whole number"),
        ("ab", Sequence[str], "x: found 'ab'; allowed is a list (of a text)"),
        ([1, "a"], Sequence[int], "x[1]: found 'a'; allowed is a whole number"),
        (
            {"k": [1.5]},
            Mapping[str, Sequence[int]],
            "x['k'][0]: found 1.5; allowed is a whole number",
        ),
        ("bot", Literal["both", "none"], "x: found 'bot'; did you mean both?"),
        (float("nan"), float, "x: found nan; allowed is a number"),
        ("a\0b", str, "x: found 'a\\x00b'; allowed are texts without the character 0"),
        (3, Callable[[], object] | None, "x: found 3; allowed is a function"),
    ]
    for value, kind, said in wrong:
        with pytest.raises(weft.WeftError) as caught:
            arguments.check("x", value, kind)
        assert str(caught.value) == said
    right: list[tuple[Any, Any]] = [((1, 2), Sequence[int]), (2, float), (Path("a"), os.PathLike)]
    for value, kind in right:
        arguments.check("x", value, kind)
    assert arguments.plain(pl.Series([1, 2])) == [1, 2]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("nothing.c", "source: found 'nothing.c', and there is no such file"),
        ("nothing", "program: 'nothing' is not in PATH and not in this directory"),
        (str(LATENCY.parent), "is a directory; name the program in it"),
        (3, "program: found 3; allowed is a text or a path"),
    ],
)
def test_a_wrong_program_is_one_message(program: Any, said: str) -> None:
    with pytest.raises(weft.WeftError) as caught:
        weft.run(program, fabric="tofino-4", ranks=4)
    assert said in str(caught.value)


def test_a_source_that_does_not_compile_is_the_compilers_words(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(weft.WeftError, match=r"nothing.* undeclared"):
        weft.run(source, fabric="tofino-4", ranks=4)


def test_what_only_the_simulator_finds_out_is_said_whole(latency: Path, tmp_path: Path) -> None:
    platform = tmp_path / "odd.xml"
    weft.Fabric("tofino-4").export(platform)
    platform.write_text(platform.read_text().replace("max_ports", "max_prts"))
    with pytest.raises(weft.WeftError) as caught:
        weft.run(latency, [SIZES, 1], platform=platform, ranks=4)
    assert "max_p" in str(caught.value)
    assert not str(caught.value).startswith("weft:")


def test_what_a_bench_is_refused_for_is_said_too() -> None:
    """The message comes from the library, which writes it to a file instead of standard error."""
    drops = [{"receiver": 7, "probability": 0.5}]
    with pytest.raises(weft.WeftError, match=r"\[multicast.drops\] receiver: found 7"):
        weft.bench(
            "allgather",
            "tofino-16",
            2,
            sizes="4KiB",
            modes=["multicast"],
            set={"multicast.drops": drops},
        )


# ---- Several at a time, and ends


def test_runs_may_go_on_at_once_from_threads_and_tasks(latency: Path) -> None:
    def one(slots: int) -> float:
        changed = {"switch.slots": slots}
        record = weft.run(latency, [SIZES, 2], fabric="tofino-4", ranks=4, set=changed)
        assert record.fabric.changes == [f"switch.slots={slots}"]
        return record.check().simulated_time_s

    slots = [32, 64, 128, 256]
    expected = [one(number) for number in slots]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, slots)) == expected

    async def together() -> list[float]:
        return list(await asyncio.gather(*(asyncio.to_thread(one, number) for number in slots)))

    assert asyncio.run(together()) == expected


def children_of(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(above) == parent and state != "Z":
            found.append(int(stat.parent.name))
    return found


def test_ctrl_c_ends_the_simulator_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "forever.c"
    source.write_text(FOREVER)
    program = weft.compile(source, tmp_path / "forever")
    work = Path(tempfile.mkdtemp(prefix="api-", dir="/tmp"))
    script = (
        "import signal, sys, weft\n"
        # Shells start background jobs with SIGINT ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n"
        f"    weft.run({str(program)!r}, fabric='tofino-4', ranks=2, on_line=print)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(work)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        until = time.monotonic() + 60
        while len(children_of(child.pid)) < 2 and time.monotonic() < until:  # one is the cleaner
            time.sleep(0.05)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        try:
            assert child.stdout.readline() == "interrupted\n"
            assert children_of(child.pid) == []
            assert list(work.iterdir()) == []
            child.communicate("")
        finally:
            child.kill()
    shutil.rmtree(work)
