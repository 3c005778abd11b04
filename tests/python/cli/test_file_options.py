# SPDX-License-Identifier: LGPL-2.1-only
"""Commands never overwrite their inputs, under any name, and `-` is exclusive to one output."""

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.support.places import ROOT
from tests.support.simulated import weft_says
from weft.base import inputs, output
from weft.base.errors import WeftError
from weft.cli import files
from weft.cli.root import weft

PINGPONG = "bytes,median_us\n" + "".join(f"{1 << k},{1 + k / 4}\n" for k in range(20))
COMPILERS = ("weft cc", "weft cxx", "weft f90")
# Pattern for help texts that mention files; TABLE.KEY refers to fabric files.
_SPEAKS_OF_FILES = re.compile(
    r"file|directory|plan|trace|table(?!\.KEY)|engine|inventory|program", re.I
)


def commands(
    group: click.Command = weft, name: str = "weft"
) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands except groups."""
    if not isinstance(group, click.Group):
        yield name, group
        return
    context = click.Context(group)
    for one in group.list_commands(context):
        found = group.get_command(context, one)
        assert found is not None
        yield from commands(found, f"{name} {one}")


ALL = dict(commands())


def test_all_commands_check_their_files() -> None:
    assert len(ALL) > 40
    assert {name for name, one in ALL.items() if not isinstance(one, files.Command)} == {*COMPILERS}


@pytest.mark.parametrize("name", [name for name in ALL if name not in COMPILERS])
def test_every_option_that_names_a_file_says_whether_it_is_read_or_written(name: str) -> None:
    for param in ALL[name].params:
        declared = isinstance(param.type, files.INPUTS + files.OUTPUTS)
        is_path = isinstance(param.type, click.Path | click.File)
        metavar = param.metavar or (param.name if isinstance(param, click.Argument) else "")
        speaks = _SPEAKS_OF_FILES.search(metavar or "") is not None
        assert declared or not (is_path or speaks), (
            f"{name} {param.name}: use a type of cli/files.py"
        )


def pairs() -> Iterator[tuple[str, str, str, str]]:
    for name, one in ALL.items():
        read = [p for p in one.params if isinstance(p.type, files.INPUTS)]
        written = [p for p in one.params if isinstance(p.type, files.Output)]
        for source, target in itertools.product(read, written):
            text = "key:{}" if isinstance(source.type, files.Setting) else "{}"
            yield name, str(source.name), text, str(target.name)


@pytest.mark.parametrize("link", ["same", "hard", "soft"])
def test_no_command_writes_what_it_reads(tmp_path: Path, link: str) -> None:
    source = tmp_path / "input.toml"
    source.write_text("precious")
    target = tmp_path / ("input.toml" if link == "same" else "other.toml")
    if link == "hard":
        os.link(source, target)
    elif link == "soft":
        target.symlink_to(source)
    for name, read, text, written in pairs():
        refused = pytest.raises(WeftError, match=r"is a file that .* names to be read")
        with refused, inputs.observed("the command"):
            files.check_files(ALL[name], {read: text.format(source), written: target})
    assert source.read_text() == "precious"


def test_nor_does_the_writing_itself(tmp_path: Path) -> None:
    source = tmp_path / "tables.json"
    source.write_text("precious")
    with inputs.observed("the command"):
        inputs.declare_inputs({source: "PLAN names"})
        for write in (output.whole_file, output.whole_path):
            with pytest.raises(WeftError, match="PLAN"), write("-o", source):
                pass
    assert source.read_text() == "precious"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.toml").write_text((ROOT / "fabrics" / "tofino-4.toml").read_text())
    (tmp_path / "p.csv").write_text(PINGPONG)
    shutil.copy("/bin/true", tmp_path / "ring")
    (tmp_path / "tr").mkdir()
    (tmp_path / "tr" / "actions.txt").write_text("0 finalize\n")
    (tmp_path / "tr" / "manifest.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "run --fabric tofino-4 -n 4 --json ring -- ./ring",
        "run --fabric tofino-4 -n 4 --trace ring -- ./ring",
        "run --fabric tofino-4 -n 4 --json p.csv -- ./ring p.csv",
        "run --fabric f.toml -n 4 --json f.toml -- ./ring",
        "calibrate p2p p.csv -o p.csv",
        "calibrate p2p p.csv --base f.toml -o f.toml",
        "calibrate cpu --base f.toml -o f.toml",
        "replay tr --fabric tofino-4 --json tr/actions.txt",
        "fabric plot tofino-4 --record p.csv -o p.csv",
        "testbed fabric p.csv -o p.csv",
        "testbed show p.csv --picture p.csv",
        "cache jobs p.csv --csv p.csv",
    ],
)
def test_the_commands_refuse_it(here: Path, line: str) -> None:
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    result = weft_says(*line.split())
    assert result.returncode == 2
    assert re.fullmatch(r"weft: .*names to be read; choose another output file\n", result.stderr)
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_plan_in_the_directory_of_its_tables_stays(here: Path) -> None:
    made = weft_says("testbed", "plan", "topocloud-64", "star-8", "-o", "tables.json")
    assert made.returncode == 0, made.stderr
    before = (here / "tables.json").read_bytes()
    result = weft_says("testbed", "tables", "tables.json", "-o", ".")
    assert result.returncode == 2
    assert "PLAN names to be read" in result.stderr
    assert (here / "tables.json").read_bytes() == before
    assert not (here / "init.txt").exists()


# ---- Standard output -----------------------------------------------------------------------------


def test_a_file_on_standard_output_is_alone_there(here: Path) -> None:
    for line in ("cache capacity --sizes 2 --csv -", "cache capacity --sizes 2 --csv /dev/fd/1"):
        result = weft_says(*line.split(), stdout=subprocess.PIPE)
        assert result.returncode == 0
        assert all(row.startswith("#") or "," in row for row in result.stdout.splitlines())
        assert result.stdout.startswith("# Capacity misses")
        assert result.stderr.startswith("Capacity misses")


def test_a_plan_on_standard_output_is_alone_there(here: Path) -> None:
    result = weft_says(
        "testbed", "plan", "topocloud-64", "star-8", "-o", "-", stdout=subprocess.PIPE
    )
    assert json.loads(result.stdout)["format"].startswith("weft-testbed-plan")
    assert "star-8: 8 servers" in result.stderr


def test_standard_output_that_is_a_file_is_known_by_any_name(here: Path) -> None:
    with (here / "out.csv").open("w") as file:
        result = weft_says("cache", "capacity", "--sizes", "2", "--csv", "out.csv", stdout=file)
    assert result.returncode == 0
    assert all("," in row for row in (here / "out.csv").read_text().splitlines())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run --fabric tofino-4 -n 2 --json - --trace - -- ./ring", "standard output, as --"),
        ("testbed diff p.csv f.toml --json - --script /dev/stdout", "standard output, as --"),
        ("run --fabric tofino-4 -n 2 --record - -- ./ring", "--record: found '-'"),
        ("demo --out -", "--out: found '-'"),
        ("fabric plot tofino-4 -o -", "-o: found 'standard output'"),
        ("fabric export tofino-4 -o -", "-o: found 'standard output'"),
    ],
)
def test_what_cannot_go_there_is_refused(here: Path, line: str, message: str) -> None:
    result = weft_says(*line.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr


# ---- Checks before the work, and full disks ------------------------------------------------------


@pytest.mark.parametrize("line", ["demo --out", "validate --figures", "testbed tables p.csv -o"])
def test_a_directory_that_cannot_be_made_is_known_before(here: Path, line: str) -> None:
    result = weft_says(*line.split(), "/proc/none/at/all")
    assert result.returncode == 2
    assert re.match(r"weft: (--out|--figures|-o): cannot write /proc/none/at/all", result.stderr)


def test_a_directory_in_the_way_of_a_file_is_known_before(here: Path) -> None:
    (here / "demo" / "errors_4x1.csv").mkdir(parents=True)
    result = weft_says("demo", "--out", "demo")
    assert result.returncode == 2
    assert "errors_4x1.csv is a directory" in result.stderr


def test_on_a_full_disk_the_table_is_printed_all_the_same(here: Path) -> None:
    for line in ("cache capacity --sizes 2", "progress-engine memory bluefield-3-dpa"):
        result = weft_says(*line.split(), "--csv", "/dev/full")
        assert result.returncode == 2
        assert len(result.stdout.splitlines()) > 2
        assert "weft: --csv: cannot write /dev/full: No space left" in result.stderr


def test_options_that_hold_one_value_are_given_once() -> None:
    result = CliRunner().invoke(
        weft, ["fabric", "new", "star", "--hosts", "4", "--hosts", "8", "-o", "x.toml"]
    )
    assert result.exit_code == 2
    assert "--hosts: given 2 times; give it once" in result.output
    line = [
        "run",
        "-n",
        "4",
        *("--fabric", "a", "--cfg", "a:1", "--cfg", "b:2", "--fabric"),
        "b",
        "x",
    ]
    result = CliRunner().invoke(weft, line)
    assert "--fabric: given 2 times; give it once" in result.output


def test_spellings_of_the_number_of_ranks_by_launchers_count_ranks() -> None:
    shown = [
        weft_says("collectives", "show", "bcast", spelling, "8").stdout
        for spelling in ("-n", "-np", "--np")
    ]
    assert shown[0] and shown == shown[:1] * 3
    both = weft_says("run", "--fabric", "star-8", "-n", "4", "-np", "2", "--", "./ring")
    assert "-n: given 2 times; give it once" in both.stderr
    wrong = weft_says("run", "--fabric", "star-8", "-np", "four", "--", "./ring")
    assert "'-n'" in wrong.stderr and "'four'" in wrong.stderr
