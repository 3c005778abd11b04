# SPDX-License-Identifier: LGPL-2.1-only
"""Facts about a file are recomputed if and only if the file has changed."""

from pathlib import Path

import pytest

from weft.base.file_cache import kept


def test_a_file_is_looked_at_again_when_it_is_another_one(tmp_path: Path) -> None:
    asked: list[str] = []

    @kept
    def first(path: Path, letters: int) -> str:
        asked.append(path.name)
        return path.read_text()[:letters]

    file = tmp_path / "file"
    file.write_text("abc")
    assert [first(file, 1), first(file, 1), first(file, 2)] == ["a", "a", "ab"]
    assert len(asked) == 2
    beside = tmp_path / "beside"
    beside.write_text("xyz")  # same length, and possibly the same time stamp
    beside.replace(file)
    assert first(file, 1) == "x"
    file.unlink()
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            first(file, 1)
    assert len(asked) == 5
