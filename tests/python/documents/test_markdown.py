# SPDX-License-Identifier: LGPL-2.1-only
"""Checks of statements in documents: commands and their output, links, and tables of names.

A `console` block contains commands (`$ ...`) and their output, including standard error. In the
output, `…` matches anything, and any number of lines if it is alone on a line. A block of source
code that begins with a comment of a file name is the content of this file. Other blocks are not
executed.
"""

import html
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.places import ROOT, TESTS
from weft import _core
from weft.cli.root import weft

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FABRIC_FILES = ROOT / "docs" / "fabric-files.md"
CONGESTION_CONTROL = ROOT / "docs" / "congestion-control.md"
COMMAND_LINE = ROOT / "docs" / "command-line.md"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FIRST_HOUR = ROOT / "docs" / "first-hour.md"
RECORD = ROOT / "docs" / "record.md"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"(?:/\*|#|!|//) ([\w-]+\.(?:c|f90|toml|conf))\b")
_LINK = re.compile(r"\[[^]]*(?:\[[^]]*\])?[^]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def blocks(document: Path, kind: str) -> list[str]:
    text = document.read_text(encoding="utf-8")
    return [match[2] for match in _BLOCK.finditer(text) if match[1] == kind]


# ---- Commands and their output -------------------------------------------------------------------


@dataclass
class Step:
    command: str
    output: list[str]
    status: int = 0
    """Exit status, which a block shows by `$ echo $?` after the command."""


def steps(block: str) -> Iterator[Step]:
    step: Step | None = None
    asked = False
    for line in block.splitlines():
        if line == "$ echo $?":
            asked = True
        elif asked and step:
            step.status, asked = int(line), False
        elif line.startswith("$ "):
            if step:
                yield step
            step = Step(line[2:], [])
        elif step and step.command.endswith("\\"):
            step.command = step.command[:-1] + line
        elif step:
            step.output.append(line)
    if step:
        yield step


def pattern(output: list[str]) -> "re.Pattern[str]":
    lines = (
        r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n"
        for line in output
    )
    return re.compile("".join(lines))


def write_files(directory: Path, document: Path) -> None:
    for kind in ("c", "fortran", "toml", "ini"):
        for block in blocks(document, kind):
            if name := _FILE_NAME.match(block):
                (directory / name[1]).write_text(block)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the documents' files and the guide's compiled program."""
    directory = tmp_path_factory.mktemp("desk")
    for document in DOCUMENTS:
        write_files(directory, document)
    run_step(directory, Step("weft cc -O2 ring.c -o ring", []))
    return directory


def run_step(directory: Path, step: Step) -> str:
    binaries = Path(sys.executable).parent
    result = subprocess.run(
        ["bash", "-c", step.command],
        cwd=directory,
        env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == step.status, f"{step.command}\n{result.stdout}"
    return "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())


def hold_against_document(directory: Path, document: Path, block: str) -> None:
    """Run the commands of a block, and compare their output with the document."""
    for step in steps(block):
        printed = run_step(directory, step)
        said = "".join(f"{line}\n" for line in step.output)
        if not pattern(step.output).fullmatch(printed):
            message = f"{name_of(document)} says\n$ {step.command}\n{said}but it prints\n"
            pytest.fail(message + printed, pytrace=False)


@pytest.mark.parametrize(
    "document", [d for d in DOCUMENTS if blocks(d, "console") and d != FIRST_HOUR], ids=name_of
)
@pytest.mark.slow
def test_commands_print_what_the_document_says(document: Path, desk: Path, tmp_path: Path) -> None:
    """Commands run without other documents' files; the document's own names take precedence."""
    shutil.copytree(desk, tmp_path, dirs_exist_ok=True)
    write_files(tmp_path, document)
    for block in blocks(document, "console"):
        hold_against_document(tmp_path, document, block)


@pytest.mark.slow
def test_the_first_hour_goes_from_an_empty_folder_to_its_end(tmp_path: Path) -> None:
    """All blocks are run in order, with only the files shown so far, and within the time limit."""
    start = time.process_time() + sum(os.times()[2:4])
    for match in _BLOCK.finditer(FIRST_HOUR.read_text(encoding="utf-8")):
        if name := _FILE_NAME.match(match[2]):
            (tmp_path / name[1]).write_text(match[2])
        elif match[1] == "console":
            hold_against_document(tmp_path, FIRST_HOUR, match[2])
    quoted = re.findall(r"(?:^> .*\n)+", FIRST_HOUR.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(quoted) == 2
    for one in quoted:
        said = " ".join(line.removeprefix("> ") for line in one.splitlines())
        assert said in html.unescape((tmp_path / "report.html").read_text())
    assert time.process_time() + sum(os.times()[2:4]) - start < 180


# Reasons why commands in `sh` blocks are not run here, by document.
NOT_RUN = {
    "CONTRIBUTING.md": "targets of the Makefile, which has them",
    "README.md": "targets of the Makefile, which has them",
    "docs/buying.md": "minutes at full size; the blocks beside it run it in small",
    "docs/calibration.md": "a user's measurements; calibrate/test_cluster.py makes some",
    "docs/clusters.md": "a cluster; campaign/test_cluster.py runs one on a Slurm of one node",
    "docs/conformance.md": "sources of the checkout, which test_random_calls.py compiles and runs",
    "docs/cpu-and-memory.md": "minutes, and NAS's sources; studies/cpu_and_memory.py runs them",
    "docs/files.md": "a program of the reader's; binding/files/test_files.py runs some",
    "docs/first-hour.md": "the installation itself",
    "docs/install.md": "installations; install/test_wheel.py and install/test_pip.py make two",
    "docs/multicast.md": "half a minute; studies/multicast runs it",
    "docs/real-programs.md": "NAS's sources from SimGrid's; test_real_programs.py runs them",
    "docs/record.md": "taplo, an editor's tool; api/test_input_schemas.py runs it",
    "docs/testbed.md": "a switch, or root; testbed/tests/test_netns.py runs them where it is root",
    "docs/training-study.md": "minutes of CPU time, for what is in its CSV",
    "docs/trace-files.md": "traces of the reader's; trace/test_foreign.py makes and replays some",
}


def shown_only() -> Iterator[tuple[str, list[str]]]:
    """Yield each command in the blocks that are not run, as words, with its document."""
    for document in DOCUMENTS:
        for block in blocks(document, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                for part in line.split(";"):
                    if words := shlex.split(part, comments=True):
                        yield name_of(document), words


def test_commands_that_are_not_run_have_a_reason() -> None:
    there = {name for name in NOT_RUN if (ROOT / name).exists()}
    assert {document for document, _ in shown_only()} == there


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_stand_in_blocks_that_tests_know(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    unnamed = [body for kind, body in re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text) if not kind]
    assert not re.findall(r"(?m)^(?:\$ )?weft [a-z]+ [-\w.].*", "\n".join(unnamed)), (
        "call the block console"
    )


def test_commands_that_are_not_run_are_ones_at_least() -> None:
    targets = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)
    parsed = 0
    for document, words in shown_only():
        command = [Path(word).name if word.endswith("bin/weft") else word for word in words]
        command = command[1:] if command[0] == "sudo" else command
        if command[0] == "make":
            assert all(word in targets for word in command[1:2]), f"{document}: {words}"
        if command[0] == "weft":
            length = max(n for n in range(1, 5) if " ".join(command[:n]) in COMMANDS)
            name, rest = " ".join(command[:length]), command[length:]
            one = COMMANDS[name]
            context = click.Context(one, info_name=name, **one.context_settings)
            one.make_parser(context).parse_args(rest)
            parsed += 1
    assert parsed > 10


def test_the_page_of_platforms_names_every_variable_that_the_platform_reads() -> None:
    settings = ROOT / "src" / "binding" / "settings" / "settings.hpp"
    read = set(re.findall(r'"(WEFT_\w+)"', settings.read_text(encoding="utf-8")))
    assert len(read) > 5
    page = (ROOT / "docs" / "simgrid-platforms.md").read_text(encoding="utf-8")
    assert [name for name in sorted(read) if f"`{name}" not in page] == []


# ---- Links ---------------------------------------------------------------------------------------


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub derives from the headings."""
    headings = _HEADING.findall(document.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def links(document: Path) -> Iterator[str]:
    text = _BLOCK.sub("", document.read_text(encoding="utf-8"))
    yield from _LINK.findall(text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    for link in links(document):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), f"{link}: there is no {target}"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


# ---- Tables of names -----------------------------------------------------------------------------


def sections(document: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each heading with the rows of the tables below it, as lists of cells."""
    parts = _HEADING.split(_BLOCK.sub("", document.read_text(encoding="utf-8")))
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
        yield heading, [row for row in cells if _CODE.search(row[0])]


def table_name(heading: str) -> str:
    """Return the schema's name of a table: `[[switch.offload]]`, `[topology]` with `kind = …`."""
    spans = _CODE.findall(heading)
    if len(spans) == 2:
        kind = spans[1].split('"')[1]
        return f"topology.{kind}"
    return spans[0].strip("[]") if spans else ""


Keys = set[tuple[str, str, bool]]


def test_the_reference_of_fabric_files_lists_exactly_the_keys() -> None:
    said: Keys = {
        (table_name(heading), _CODE.findall(row[0])[0], row[0].endswith("*"))
        for heading, rows in (*sections(FABRIC_FILES), *sections(CONGESTION_CONTROL))
        if heading.startswith("`[")
        for row in rows
    }
    known: Keys = {
        (table["table"], option["key"], option["required"])
        for table in _core.fabric_schema()
        for option in table["options"]
    }
    assert said == known


def test_the_reference_of_fabric_files_lists_the_presets() -> None:
    ((_, rows),) = [part for part in sections(FABRIC_FILES) if part[0] == "Presets"]
    said = {(row[0].split()[0].lower(), _CODE.findall(row[0])[0]) for row in rows}
    kinds = ("host", "messages", "nic", "progress_engine", "switch")
    assert said == {(kind, name) for kind in kinds for name in _core.list_presets(kind)}


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            if part := command.get_command(context, word):
                yield from commands(part, f"{name} {word}")


COMMANDS = dict(commands(weft, "weft"))


def options_of(command: click.Command) -> set[str]:
    names = (set(parameter.opts) for parameter in command.params if parameter.opts[0][0] == "-")
    return set().union(*names)


def in_text(document: Path) -> Iterator[list[str]]:
    """Yield commands that occur in a document's text, as words."""
    text = _BLOCK.sub("", document.read_text(encoding="utf-8"))
    for span in re.findall(r"(?<!`)`((?:weft|make) [^`]+)`(?!`)", text):
        yield span.replace("\\|", "|").partition(" -- ")[0].split()


def unknown(words: list[str]) -> str:
    """Return the problem with a command in the text; empty if it is valid."""
    if words[0] == "make":
        return "" if f"\n{words[1]}:" in MAKEFILE or "=" in words[1] else f"no target {words[1]}"
    length = max(n for n in range(1, 5) if " ".join(words[:n]) in COMMANDS)
    command = COMMANDS[" ".join(words[:length])]
    if isinstance(command, click.Group) and length < len(words) and words[length].islower():
        return "" if words[length].startswith("-") else f"no command {words[length]}"
    options = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    passed_on = command.context_settings.get("ignore_unknown_options", False)
    lacking = sorted(options - options_of(command) - {"--help", "-h"})
    return f"no option {lacking}" if lacking and not passed_on else ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_in_the_text_are_there(document: Path) -> None:
    wrong = {" ".join(words): why for words in in_text(document) if (why := unknown(words))}
    assert wrong == {}


def documented_options() -> dict[str, set[str]]:
    """Return the options by command, from the sections named after commands."""
    documented: dict[str, set[str]] = {}
    for heading, rows in sections(COMMAND_LINE):
        for name in _CODE.findall(heading):
            cells = (span.split()[0] for row in rows for span in _CODE.findall(row[0]))
            documented[name] = {word for word in cells if word.startswith("-")}
    return documented


@pytest.mark.parametrize("command", sorted(documented_options()))
def test_the_reference_of_the_command_line_lists_exactly_the_options(command: str) -> None:
    help_options = {"--help", "-h"}
    documented = documented_options()[command]
    assert documented - help_options == options_of(COMMANDS[command]) - help_options


def test_the_reference_of_the_command_line_names_every_command() -> None:
    text = COMMAND_LINE.read_text(encoding="utf-8")
    leaves = [name for name, one in COMMANDS.items() if not isinstance(one, click.Group)]
    generated = "weft fabric new "
    lacking = [name for name in leaves if f"`{name}" not in text and not name.startswith(generated)]
    assert not lacking


def fields(value: Any, place: str = "") -> Iterator[str]:
    """Yield the path of every field; entries of a list share a path."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield f"{place}{name}"
            yield from fields(part, f"{place}{name}.")
    elif isinstance(value, list):
        for part in value:
            yield from fields(part, place)


def test_the_reference_of_the_record_lists_exactly_its_fields(desk: Path) -> None:
    crash = "#include <mpi.h>\n#include <stdlib.h>\nint main(void) { abort(); }\n"
    (desk / "crash.c").write_text(crash)
    bcast = (
        "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); int n = 1;"
        " MPI_Comm made; MPI_Comm_dup(MPI_COMM_WORLD, &made);"
        " MPI_Bcast(&n, 1, MPI_INT, 0, made); MPI_Finalize(); }\n"
    )
    (desk / "bcast.c").write_text(bcast)
    file = (
        "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); int n = 1; MPI_File file;"
        ' MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,'
        " &file); MPI_File_write(file, &n, 1, MPI_INT, MPI_STATUS_IGNORE);"
        " MPI_File_close(&file); MPI_Finalize(); }\n"
    )
    (desk / "file.c").write_text(file)
    late = (
        "#include <mpi.h>\n#include <unistd.h>\nint main(void) {"
        " static char out[1 << 17], in[1 << 17];"
        " int me; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &me); MPI_Request all[2];"
        " MPI_Irecv(in, 1 << 17, MPI_CHAR, me ^ 1, 0, MPI_COMM_WORLD, all);"
        " MPI_Isend(out, 1 << 17, MPI_CHAR, me ^ 1, 0, MPI_COMM_WORLD, all + 1);"
        " usleep(9); MPI_Waitall(2, all, MPI_STATUSES_IGNORE); MPI_Finalize(); }\n"
    )
    (desk / "late.c").write_text(late)
    disk = "--set disk.read_bandwidth=1GBps --set disk.write_bandwidth=1GBps"
    run = "weft run -q --fabric tofino-4 -n 4"
    noise = """--set 'noise.link=[{match="*",jitter="1ns",distribution="exponential"}]'"""
    (desk / "one.toml").write_text('[[jobs]]\nname = "a"\nprogram = "./ring"\nranks = 4\n')
    (desk / "others.toml").write_text(
        '[[traffic]]\npattern = "uniform"\nload = "10%"\nhosts = "all"\n'
    )
    (desk / "fault.toml").write_text(
        '[recovery]\ntimeout = "1us"\n'
        + "".join(
            f'[[fault]]\nswitch = "*"\nkind = "state"\nat = "{at}us"\nevery = "1d"\n'
            for at in range(20, 60)
        )
        + "".join(
            f'[[fault]]\nlink = "*"\nat = 0\nuntil = "{end}ns"\nevery = "1d"\n' for end in (1, 2)
        )
    )
    (desk / "gone.toml").write_text(
        '[recovery]\ntimeout = "2us"\nretries = 0\n[[fault]]\nnic = "host-3"\nat = "1us"\n'
    )
    (desk / "ended.toml").write_text(
        '[recovery]\ntimeout = "2us"\nretries = 0\n'
        '[[fault]]\nlink = "host-3"\nat = "20us"\nevery = "1d"\n'
    )
    (desk / "two.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 1\n}\n"
        "rank 1 {\nl1: recv 1000b from 0 tag 1\n}\n"
    )
    (desk / "goal.toml").write_text(
        '[[traffic]]\npattern = "goal"\nfile = "two.goal"\nhosts = "host-[2-3]"\nrepeat = true\n'
    )
    (desk / "training-job.toml").write_text('[[jobs]]\nname = "a"\ntraining = "node.toml"\n')
    (desk / "node.toml").write_text(
        'like = "llama-3-8b"\n[parallel]\ntensor = 8\n[batch]\nsequence = 1024\nglobal = 1\n'
        '[train]\ngpu = "h100-sxm"\n'
    )
    (desk / "goal-job.toml").write_text('[[jobs]]\nname = "a"\ntrace = "two.goal"\n')
    for command in (
        f"{run} {noise} --json whole.json --trace whole.trace -- ./ring",
        "weft cc bcast.c -o bcast",
        f"{run} --offload multicast --json multicast.json --trace made.trace -- ./bcast",
        "weft cc file.c -o file",
        f"{run} {disk} --json file.json -- ./file",
        "weft cc late.c -o late",
        f"{run} --set mpi.preset=openmpi-ucx-infiniband --json late.json -- ./late",
        "weft run -q --fabric tofino-4 --jobs one.toml --alone --compare --json jobs.json",
        "weft run -q --fabric tofino-4 --jobs one.toml --faults fault.toml --budget"
        " --json jobs-budget.json",
        "weft run -q --fabric tofino-4 --jobs goal-job.toml --json goal-job.json",
        "weft run -q --fabric dgx-h100 --jobs training-job.toml --json training-job.json",
        "weft replay -q two.goal --fabric tofino-4 --json goal.json",
        f"{run} --offload off --check-flows --json checked.json -- ./bcast",
        f"{run} --network packets --json packets.json -- ./bcast",
        f"{run} --traffic others.toml --json traffic.json -- ./ring",
        f"{run} --faults fault.toml --budget --json faults.json -- ./ring",
        f"! {run} --faults ended.toml --budget --json ended.json -- ./ring",
        f"{run.replace('-n 4', '-n 2')} --traffic goal.toml --faults gone.toml"
        " --json gone.json -- ./ring",
        f"weft cc {TESTS / 'smpi' / 'crowd.c'} -o crowd",
        f"{run} --set network.resolution=packet --json crowd.json -- ./crowd 8 100000",
        f"weft cc {TESTS / 'smpi' / 'dynamic.c'} -o dynamic",
        f"{run} --json spawned.json -- ./dynamic basic",
        "weft cc crash.c -o crash",
        f"! {run} --json crash.json -- ./crash",
    ):
        run_step(desk, Step(command, []))
    names = (
        *("whole", "multicast", "file", "late", "jobs", "traffic", "faults", "gone", "crowd"),
        *("ended", "jobs-budget"),
        *("crash", "goal", "goal-job", "training-job", "spawned", "checked", "packets"),
    )
    records = [json.loads((desk / f"{name}.json").read_text()) for name in names]
    said = set()
    for heading, rows in sections(RECORD):
        place = f"{_CODE.findall(heading)[0]}." if heading.startswith("`") else ""
        said |= {f"{place}{_CODE.findall(row[0])[0]}" for row in rows}
    found = {field for record in records for field in fields(record)}
    # A job's lists have the format of the record's lists.
    same = re.compile(
        r"jobs\.(outcome|profile|collectives|alone|without_offload|with_best|schedule|training"
        r"|certainty|certainty_over_best|budget)\."
    )
    assert said == {field for field in found if not same.match(field)}


# ---- The papers' pages ---------------------------------------------------------------------------

PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")


def results(document: Path) -> Iterator[str]:
    """Yield the cells of the column `weft` in a page's table of results."""
    rows = iter(document.read_text(encoding="utf-8").splitlines())
    for row in rows:
        if row.startswith(("| | weft | the paper |", "| | weft | the poster |")):
            next(rows)
            for cells in itertools.takewhile(lambda line: line.startswith("| "), rows):
                yield cells.split("|")[2]


@pytest.mark.parametrize("document", PAPERS, ids=name_of)
def test_results_of_a_papers_page_stand_on_the_pages_that_it_links_to(document: Path) -> None:
    linked = {
        document.parent / link.partition("#")[0] for link in links(document) if ":" not in link
    }
    texts = [path.read_text(encoding="utf-8") for path in linked if path.suffix == ".md"]
    known = {number for text in texts for number in _NUMBER.findall(text)}
    said = [number for cell in results(document) for number in _NUMBER.findall(cell)]
    assert len(said) >= 4
    assert [number for number in said if number not in known] == []


def test_there_is_a_page_for_each_paper() -> None:
    papers = (
        (ROOT / "docs" / "sources.md").read_text(encoding="utf-8").split("\nPrograms and data")[0]
    )
    firsts = re.findall(r"^\| (\w+) et al\.", papers, re.MULTILINE)
    assert sorted(name.lower() for name in firsts) == [path.stem for path in PAPERS]
