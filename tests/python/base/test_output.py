# SPDX-License-Identifier: LGPL-2.1-only
"""Atomic file writes."""

import os
import stat
from pathlib import Path

import pytest

from weft.base.errors import WeftError
from weft.base.output import (
    STANDARD_OUTPUT,
    check_targets,
    check_writable,
    whole_file,
    whole_path,
)


def test_a_file_appears_when_all_of_it_is_written(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    with whole_file("--json", target) as file:
        file.write("half")
        file.flush()
        assert not target.exists()
    assert target.read_text() == "half"
    assert os.listdir(tmp_path) == ["record.json"]


def test_what_goes_wrong_on_the_way_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file("--json", target) as file:
        file.write("new")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["record.json"]


def test_a_new_file_has_the_permissions_that_the_user_gives_and_an_old_one_keeps_its(
    tmp_path: Path,
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch(mode=0o640)
    umask = os.umask(0o027)
    try:
        for target in (old, new):
            with whole_file("--json", target):
                pass
    finally:
        os.umask(umask)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old, new)] == [0o640, 0o640]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "record.json")
    with whole_file("--json", link) as file:
        file.write("{}")
    assert link.is_symlink()
    assert (tmp_path / "real" / "record.json").read_text() == "{}"


def test_a_full_disk_is_said_in_one_message() -> None:
    with (
        pytest.raises(WeftError, match=r"--json: cannot write /dev/full: No space left.*; free"),
        whole_file("--json", Path("/dev/full")) as file,
    ):
        file.write("{}")


def test_a_path_takes_its_place_only_when_nothing_went_wrong(tmp_path: Path) -> None:
    with whole_path("--plot", tmp_path / "a.png") as path:
        path.write_text("drawn")
    with pytest.raises(RuntimeError), whole_path("--plot", tmp_path / "b.png") as path:
        path.write_text("half")
        raise RuntimeError
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "--json: .* is a directory; name a file in it"),
        ("none/record.json", "--json: cannot write .*: there is no directory .*none; create it"),
        ("file/record.json", "--json: cannot write .*: there is no directory .*file; create it"),
    ],
)
def test_what_cannot_be_written_is_known_before(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WeftError, match=message):
        check_writable("--json", tmp_path / name)


def test_the_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_writable("--json", tmp_path / "record.json")
    check_writable("--json", Path("/dev/stdout"))
    assert os.listdir(tmp_path) == []


def test_a_directory_that_refuses_files_is_known_before() -> None:
    with pytest.raises(WeftError, match=r"json: cannot write /proc/record\.json"):
        check_writable("--json", Path("/proc/record.json"))


def test_two_options_must_not_name_one_file(tmp_path: Path) -> None:
    null = Path("/dev/null")
    check_targets([("--json", null), ("--trace", null)])
    (tmp_path / "b").symlink_to("a")
    two = [("--json", tmp_path / "a"), ("--trace", tmp_path / "b")]
    with pytest.raises(WeftError, match=r"--trace: .* is the file of --json too"):
        check_targets(two)
    (tmp_path / "a").touch()
    (tmp_path / "c").hardlink_to(tmp_path / "a")
    with pytest.raises(WeftError, match=r"--trace: .* is the file of --json too"):
        check_targets([("--json", tmp_path / "a"), ("--trace", tmp_path / "c")])
    with pytest.raises(WeftError, match=r"--trace: standard output goes to .* --json does"):
        check_targets([("--json", STANDARD_OUTPUT), ("--trace", STANDARD_OUTPUT)])
