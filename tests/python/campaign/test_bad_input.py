# SPDX-License-Identifier: LGPL-2.1-only
"""External errors of campaigns: one error message, exit status 2, and no lost results."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import weft as api
from tests.support import simulated
from tests.support.campaign_files import LATENCY, Write, head, weft
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.paths import file_name

TEXT = (
    head("own")
    + """
[[runs]]
program = "own"
fabric = "tofino-4"
ranks = 4
bytes = "1KiB"
switch.slots = { from = 8, to = 57, plus = 1 }
"""
)
SOURCE = f'source = "{LATENCY}"'
COMMANDS = ("plan", "run", "status", "export")


def refused(file: Path, said: str, *, commands: tuple[str, ...] = COMMANDS) -> None:
    """Assert that all commands refuse the file with one error message."""
    for command in commands:
        more = ["-o", "-"] if command == "export" else []
        ended = weft(command, str(file), *more)
        assert ended.status == 2, command
        assert ended.stdout == ""
        assert ended.stderr.startswith("weft: ")
        assert said in ended.stderr, command
        assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ranks = 4", "rank = 4", "[[runs]] ranks: is missing"),
        ("ranks = 4", "ranks = 4\nofload = 'off'", "did you mean offload?"),
        ("name =", "nam =", "[campaign] nam: no such key; did you mean name?"),
        ('"small"', '"small"\nmemory = "2 apples"', "[campaign] memory: found '2 apples'"),
        ('"small"', '"small"\nmemory = 2', "[campaign] memory: found 2; write a text"),
        ('"small"', '"small"\ntimeout = "0s"', "[campaign] timeout: found '0s'"),
        ("to = 57", "to = 7", "switch.slots: found { from = 8, to = 7"),
        ("to = 57", "to = 9999999", "which has more than 10,000 values"),
        ('"small"', '"small"\nmost_runs = 49', "makes 50 combinations; allowed are at most 49"),
        (SOURCE, 'path = "none"', "[programs.own] path: program: cannot read"),
        (SOURCE, 'path = "small.toml"', "is not a compiled program"),
        (SOURCE, 'path = "none"\nbuild = "echo no; exit 3"', "ended with status 3:\nno"),
        (SOURCE, 'source = "none.c"', "none.c cannot be read: No such file or directory"),
        (SOURCE, 'source = "none.rs"', "source: found 'none.rs'; allowed are files of .c,"),
        ('"tofino-4"', '"tofino-5"', "no combination can be run: fabric"),
    ],
)
def test_a_wrong_file_is_refused_by_all_commands(
    write: Write, old: str, new: str, said: str
) -> None:
    assert old in TEXT
    refused(write(TEXT.replace(old, new, 1)), said)


def test_a_program_that_fails_to_build_fails_before_anything_is_run(
    write: Write, tmp_path: Path
) -> None:
    (tmp_path / "bad.c").write_text("int main(void) { return nothing; }\n", encoding="utf-8")
    file = write(TEXT.replace(str(LATENCY), "bad.c"))
    refused(file, "program own: ")
    assert "nothing" in weft("run", str(file)).stderr
    assert not list(tmp_path.glob("small.runs/runs/*/*"))


def test_stores_of_a_newer_weft_of_another_campaign_and_none_at_all(
    write: Write, tmp_path: Path
) -> None:
    file = write(TEXT)
    assert weft("status", str(file)).status == 3
    about = tmp_path / "small.runs" / "store.json"
    kept = about.read_text(encoding="utf-8")
    about.write_text(json.dumps({**json.loads(kept), "version": 2}), encoding="utf-8")
    refused(file, "has version 2, and this weft knows 1; use the weft that wrote it, or a newer")
    about.write_text(kept.replace('"small"', '"other"'), encoding="utf-8")
    refused(file, "belongs to the campaign 'other', and this is 'small'; name another folder")
    about.write_text("{", encoding="utf-8")
    refused(file, "is not valid JSON")
    about.unlink()
    refused(file, "has runs/, but store.json is missing")
    (tmp_path / "afile").write_text("x", encoding="utf-8")
    for store in ("afile", "afile/store"):
        ended = weft("run", str(file), "--store", str(tmp_path / store))
        assert (ended.status, "Not a directory" in ended.stderr) == (2, True), ended.stderr


def test_two_files_of_one_folder_do_not_share_a_store(write: Write, tmp_path: Path) -> None:
    write(TEXT).rename(tmp_path / "first.toml")
    second = write(TEXT.replace('"small"', '"second"'))
    assert weft("status", str(tmp_path / "first.toml")).status == 3
    assert weft("status", str(second)).status == 3
    mixed = weft("run", str(second), "--store", str(tmp_path / "first.runs"))
    assert mixed.status == 2
    assert "belongs to the campaign 'small', and this is 'second'" in mixed.stderr


FULL = """
set -e
mount -t tmpfs -o size=$2 tmpfs "$1"
cd "$1"
echo mounted
set +e
$4 run "$3" --store "$1/store"; echo "status $?"
find . -name '.*json*'; find . -name '*.json' -size 0
$4 status "$3" --store "$1/store"; echo "status $?"
mount -o remount,size=64m "$1"
$4 run "$3" --store "$1/store"; echo "status $?"
"""


@pytest.mark.parametrize("size", ["16k", "200k"])
def test_a_full_disk_is_said_and_the_same_command_goes_on(
    write: Write, tmp_path: Path, size: str
) -> None:
    """The disk becomes full once while writing the program, and once while writing results."""
    folder = tmp_path / "full"
    folder.mkdir()
    command = " ".join([*simulated.WEFT, "campaign"])
    shell = ["sh", "-c", FULL, "sh", str(folder), size, str(write(TEXT)), command]
    ended = subprocess.run(
        ["unshare", "--mount", "--map-root-user", *shell],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "mounted" not in ended.stdout:
        pytest.skip(f"no file system can be mounted here: {ended.stderr.strip()}")
    assert "Traceback" not in ended.stderr
    assert "No space left on device" in ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[-2:] == ["small: 50 runs: 50 done", "status 0"]
    assert lines[1] == "status 2"
    if size == "200k":
        assert "cannot write" in ended.stderr
        assert "free some space" in ended.stderr
        done = int(lines[2].split(": ")[2].split()[0])  # small: 50 runs: 17 done, 33 to do
        assert 0 < done < 50
        assert lines[2] == f"small: 50 runs: {done} done, {50 - done} to do"
        assert lines[3] == "status 3"


def test_several_that_begin_one_store_at_a_time_all_do(write: Write) -> None:
    command = [*simulated.WEFT, "campaign", "status", str(write(TEXT))]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for child in several:
        out, _ = child.communicate(timeout=120)
        assert (child.returncode, out) == (3, "small: 50 runs: 0 done, 50 to do\n")


# ---- Names that become paths ---------------------------------------------------------------------

AXES: Mapping[str, str | int] = {"fabric": "tofino-4", "ranks": 4}
BAD_NAMES = (
    *("../../../c.toml", "/etc/passwd", "a/b", ".", "..", "", " ", "-o", "a\\b", "C:x", "a\nb"),
    *(
        "a\0b",
        "\x1b[2J",
        "x" * 101,
        "\u00e9" * 51,
        "..\\..\\c.toml",
        "~",
        "a*",
        "$(id)",
        "a\u202eb",
    ),
)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_never_leads_out_of_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeftError, match="which becomes a file name; allowed are letters"):
        file_name("place", name)
    inside = tmp_path / "a" / "b" / "c"
    inside.mkdir(parents=True)
    (tmp_path / "c.toml").write_text("precious")
    (inside / "d.toml").write_text(f"name = {json.dumps(name)}")
    with pytest.raises(WeftError) as refusal:
        api.Campaign("own", programs={name: LATENCY}, axes=AXES, folder=inside)
    assert "becomes a file name" in str(refusal.value) or "\0" in name
    with pytest.raises(WeftError):
        api.Campaign(name, programs={"own": LATENCY}, axes=AXES, folder=inside)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"c.toml", "d.toml"}


@pytest.mark.parametrize("name", ["own", "v1.2", "a b", "größe", "x-1,y=2", "tofino-4#2"])
def test_usual_names_are_taken(name: str) -> None:
    assert file_name("place", name) == name


def test_a_programs_name_in_a_file_is_refused_by_all_commands(write: Write, tmp_path: Path) -> None:
    text = TEXT.replace("[programs.own]", '[programs."../../../c.toml"]')
    (tmp_path / "c.toml").write_text("precious")
    refused(write(text), "[programs]: found '../../../c.toml', which becomes a file name")
    assert (tmp_path / "c.toml").read_text() == "precious"


def test_a_fabrics_name_leads_iterations_nowhere_else(tmp_path: Path) -> None:
    text = (paths.installed("fabrics", "star-8.toml")).read_text()
    (tmp_path / "f.toml").write_text(text.replace('"star-8"', '"x/../../../../precious"', 1))
    with pytest.raises(WeftError, match="becomes a file name"):
        api.testbed_iterate("topocloud-64", [tmp_path / "f.toml"], ["true"], directory=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["f.toml"]


# ---- Folders that cannot be written --------------------------------------------------------------


def test_who_only_looks_needs_no_folder_to_write_in(write: Write, tmp_path: Path) -> None:
    file = write(TEXT)
    for command, status in (("plan", 0), ("status", 3)):
        ended = weft(command, str(file), "--store", "/proc/none/at/all")
        assert (ended.status, ended.stderr) == (status, ""), command
        assert "50 runs: 0 done, 50 to do" in ended.stdout
    refusal = weft("run", str(file), "--store", "/proc/none/at/all")
    assert refusal.status == 2
    assert "--store: cannot write /proc/none/at/all" in refusal.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_a_plan_says_the_same_with_a_store_and_without(write: Write, tmp_path: Path) -> None:
    file = write(TEXT.replace("to = 57", "to = 9"))
    assert weft("run", str(file)).status == 0
    before = weft("plan", str(file), "--list").stdout
    elsewhere = weft("plan", str(file), "--list", "--store", "/proc/none").stdout
    assert elsewhere == before.replace("ended", "to do").replace("2 done", "0 done, 2 to do")
