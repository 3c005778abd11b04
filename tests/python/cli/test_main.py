# SPDX-License-Identifier: LGPL-2.1-only
"""The command line as users see it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import compiled
from tests.support.simulated import weft_says as weft
from weft import _core

WEFT = (sys.executable, "-m", "weft.cli.main")
COMMANDS = [
    "run",
    "bench",
    "bench allreduce",
    "fabric",
    "fabric show",
    "fabric options",
    "progress-engine throughput",
    "demo",
    "cc",
    "cxx",
    "f90",
]
RUN = ("run", "--fabric", "tofino-4", "-n", "4")


@pytest.fixture(scope="module")
def latency() -> str:
    return str(compiled.example("allreduce_latency"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in an empty directory, with a separate directory for temporary files."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def nothing_is_left(here: Path) -> bool:
    return not os.listdir(here) and not os.listdir(here.parent / "tmp")


def test_the_version_names_simgrid_too() -> None:
    result = subprocess.run([*WEFT, "--version"], text=True, capture_output=True, check=True)
    version, on, off = result.stdout.splitlines()
    assert version == f"weft {_core.version}, with SimGrid {_core.simgrid_version}"
    assert on == f"Tunings on: {', '.join(row['name'] for row in _core.tunings())}"
    assert off == "Tunings off: none"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str) -> None:
    result = weft(*command.split(), "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: weft {command}".rstrip())


@pytest.mark.parametrize("command", ["", "run", "bench allreduce", "fabric show", "demo", "cc"])
def test_the_help_has_an_example(command: str) -> None:
    assert "  weft " in weft(*command.split(), "--help").stdout


def test_counts_have_commas_and_papers_names() -> None:
    shown = weft("fabric", "show", "fat-tree-1024").stdout
    assert "fat_tree: 1,024 hosts, 320 switches, 3,072 cables, at most 6 links" in shown
    assert "paper 0" not in weft("fabric", "list").stdout


@pytest.mark.parametrize(
    "command",
    [
        "fabric new --hosts",
        "fabric new --hosts 512",
        "fabric new --hosts 512 --radix",
        "fabric new star --hosts",
        "fabric new --from",
        "run --fabric",
        "run --fabric tofino-4 -n",
        "replay --gpu",
    ],
)
def test_help_is_shown_after_options(command: str) -> None:
    result = weft(*command.split(), "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: weft ")


def test_the_help_of_a_program_is_its_own() -> None:
    result = weft("run", "--fabric", "tofino-4", "-n", "2", "--", "true", "--fabric", "--help")
    assert "Usage: weft" not in result.stdout


def test_the_help_of_new_fabrics_lists_every_command() -> None:
    text = " ".join(weft("fabric", "new", "--help").stdout.split())
    for said in ("sized: the smallest star or fat tree", "--oversubscription DOWN:UP", "from: the"):
        assert said in text


def test_an_ellipsis_is_whole_in_help() -> None:
    text = " ".join(weft("fabric", "new", "fat_tree", "--help").stdout.split())
    assert "switches below each level-2 switch, ... " in text


def test_the_help_names_every_way_to_offload() -> None:
    text = " ".join(weft("run", "--help").stdout.split())
    assert "multicast protocol of the hosts for Bcast and Allgather" in text


def test_a_word_selects_tables_or_keys_of_fabric_files() -> None:
    def listed(word: str) -> list[str]:
        return re.findall(r"^\[(\S+)\] ", weft("fabric", "options", word).stdout, re.MULTILINE)

    assert listed("host") == ["host"]
    assert listed("[noise]") == ["noise", "noise.host", "noise.link"]
    assert {"host", "link", "point_to_point"} <= set(listed("latency"))
    none = weft("fabric", "options", "nothing-has-this")
    assert none.returncode == 2
    assert "found 'nothing-has-this', which is in no table and no key" in none.stderr


def test_all_that_a_fabric_file_can_say_is_listed() -> None:
    lines = weft("fabric", "options").stdout.splitlines()
    for table in _core.fabric_schema():
        assert any(line.startswith(f"[{table['table']}]  ") for line in lines)
        assert all(any(o["meaning"] in line for line in lines) for o in table["options"])
    assert "  switch presets: " in "\n".join(lines)


# Fabrics with presets of devices that were scaled.
SCALED = {"superpod-h100-32", "superpod-b200-32", "gb200-nvl72"}


@pytest.mark.parametrize("name", _core.list_fabrics())
@pytest.mark.slow
def test_every_shipped_fabric_is_listed_and_shown_and_proven(name: str) -> None:
    listed = weft("fabric", "list").stdout.splitlines()
    assert [line for line in listed if line.split()[0] == name]
    for command in ("show", "check"):
        result = weft("fabric", command, name)
        assert result.returncode == 0
        said = f"weft: {name}: not measured: " if name in SCALED else None
        assert not result.stderr or (said and result.stderr.startswith(said))
        assert result.stdout.strip()


@pytest.mark.parametrize("command", ["", "fabric", "bench"])
def test_a_group_alone_shows_its_help(command: str) -> None:
    result = weft(*command.split())
    assert (result.returncode, result.stderr) == (0, "")
    assert "Commands:" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("rnu", "No such command 'rnu'. Did you mean 'run'?"),
        ("run --fabrik x", "No such option"),
        ("run --fabric tofino-4 -n 4", "Missing argument 'PROGRAM'; see `weft run --help`"),
        ("run --fabric tofino-4 -n 0 x", "Invalid value for '-n'"),
        ("run --fabric tofino-4 -n 4 --offload on x", "Invalid value for '--offload'"),
        ("run --fabric tofino-5 -n 4 x", "tofino-5"),
        ("run --fabric tofino-4 -n 400 x", "-n: found 400 ranks"),
        ("run --fabric tofino-4 -n 4 ./none", "program: cannot find ./none"),
        ("run --fabric tofino-4 -n 4 true", "was not compiled for SMPI"),
        ("run --fabric tofino-4 -n 4 --json no/r.json true", "--json: cannot write no/r.json"),
        ("run --fabric tofino-4 -n 4 --json x --trace x true", "--trace: x is the file of --json"),
        ("bench allreduce --fabric tofino-4 -n 4 --sizes 4:x", "--sizes: found 'x'"),
        ("bench allreduce --fabric tofino-4 -n 4 --sizes 6", "--sizes: found 6 bytes"),
        ("bench allreduce --fabric tofino-4 -n 4 --modes strem", "did you mean stream"),
        ("bench allreduce --fabric tofino-4 -n 4 --modes ring,", "--modes"),
        ("bench allreduce --fabric tofino-4 -n 4 --plot a.gif", "--plot: found 'a.gif'"),
        ("fabric show nothing", "nothing"),
        ("demo --out /proc/demo", "/proc/demo"),
    ],
)
def test_bad_input_is_one_message_and_status_2(here: Path, arguments: str, message: str) -> None:
    result = weft(*arguments.split())
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("weft: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert nothing_is_left(here)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(
    here: Path, latency: str, signum: signal.Signals
) -> None:
    command = [*WEFT, *RUN, "--json", "r.json", "--trace", "t.json", latency, "1048576", "100000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not any((here.parent / "tmp").glob("weft-*/engine.log")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signum)
    _, messages = process.communicate(timeout=20)
    assert messages == "weft: interrupted\n"
    assert process.returncode == 128 + signum
    assert nothing_is_left(here)


def test_a_run_that_takes_too_long_is_given_up(here: Path, latency: str) -> None:
    result = weft(*RUN, "--timeout", "0.5", latency, "1048576", "100000")
    assert result.returncode == 124
    assert "weft: the run exceeded its time limit of 0.5 s" in result.stderr
    assert nothing_is_left(here)


def test_a_full_disk_is_one_message(here: Path, latency: str) -> None:
    result = weft(*RUN, "-q", "--json", "/dev/full", latency, "4")
    assert result.returncode == 2
    assert result.stderr.startswith("weft: --json: cannot write /dev/full: No space left")
    assert result.stderr.count("\n") == 1
    assert nothing_is_left(here)


@pytest.mark.parametrize("option", ["--json", "--trace"])
def test_on_a_full_disk_the_table_of_a_run_is_printed(latency: str, option: str) -> None:
    result = weft(*RUN, option, "/dev/full", latency, "4")
    assert result.returncode == 2
    *table, message = result.stderr.splitlines()
    assert message.startswith(f"weft: {option}: cannot write /dev/full: No space left")
    assert any("allreduce" in line for line in table)


def test_a_record_on_standard_output_is_alone_there(latency: str) -> None:
    result = weft(*RUN, "--json", "-", latency, "4")
    assert result.returncode == 0
    assert json.loads(result.stdout)["ranks"] == 4
    assert "latency_us" in result.stderr  # the program's output


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_harm(here: Path, latency: str, closed: str) -> None:
    command = " ".join([*WEFT, *RUN, "--json", "r.json", latency, "4", closed])
    result = subprocess.run(command, shell=True, text=True, capture_output=True, check=False)
    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert (here / "r.json").stat().st_size > 100


@pytest.mark.parametrize("command", ["fabric list", "fabric show tofino-4", "--help"])
def test_a_reader_that_leaves_is_no_error(command: str) -> None:
    script = " ".join([*WEFT, command, "| true"])
    result = subprocess.run(script, shell=True, text=True, capture_output=True, check=False)
    assert result.stderr == ""


def test_the_compilers_get_their_arguments_untouched(here: Path) -> None:
    (here / "a.c").write_text("#include <mpi.h>\nint main(void) { return sizeof(WORDS) - 4; }\n")
    result = weft("cc", "-Wall", '-DWORDS="a b"', "a.c", "-o", "a program")
    assert (result.returncode, result.stderr) == (0, "")
    assert (here / "a program").exists()
    assert weft("cc", "nothing.c").returncode != 0


def test_the_help_of_all_commands_loads_none_of_them() -> None:
    code = """
import sys
from weft.cli.root import weft
weft.main(["--help"], prog_name="weft", standalone_mode=False)
names = [name for name in sys.modules if name.startswith(("weft.cli.", "weft.runs", "msgspec"))]
cli = ["weft.cli.files", "weft.cli.groups", "weft.cli.order", "weft.cli.root"]
runs = ["weft.runs", "weft.runs.value_types", "weft.runs.offload_modes", "weft.runs.options"]
assert sorted(names) == sorted([*cli, *runs])
"""
    found = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert "  run              Run an MPI program on a simulated fabric.\n" in found.stdout


def test_no_command_waits_for_libraries_that_it_does_not_use() -> None:
    """The same applies between commands: a run does not need numpy."""
    code = """
import sys, click
from weft.cli.root import weft
context = click.Context(weft)
def loaded(*heavy): return [name for name in heavy if name in sys.modules]
weft.get_command(context, "run")
assert not loaded("numpy", "weft_testbed.cli", "weft.study.forwarding.forwarding")
assert [weft.get_command(context, name) for name in weft.list_commands(context)]
print(loaded("scipy", "matplotlib", "ortools"))
"""
    found = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert found.stdout == "[]\n"
