# SPDX-License-Identifier: LGPL-2.1-only
"""The project's own checks in `make lint`: openings of doc comments, titles of commits."""

import subprocess
import sys
from pathlib import Path

import pytest
from checks import commit_titles, doc_comments

from tests.support.places import ROOT

LONG = "x" * 73


# ---- Doc comments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        ("a.hpp", "/** Whether it is. */\nbool is();\n", 1),
        ("a.hpp", "int n; ///< How many there are.\n", 1),
        ("a.hpp", "/// Of two ranks.\nint n;\n", 1),
        ("a.hpp", "/**\n * What a rank gives.\n */\nint n;\n", 2),
        ("a.cpp", "// SPDX-License-Identifier: X\n// What is in here.\n", 2),
        ("a.c", "/* SPDX-License-Identifier: X */\n/* Who sends. */\n", 2),
        ("a.cpp", "/* SPDX-License-Identifier: X */\n/*\n * It is a file.\n */\n", 3),
        ("a.py", '"""That of a module."""\n', 1),
        ("a.py", 'def f() -> None:\n    """By which it works."""\n', 2),
        ("a.py", 'class C:\n    """\n    Those of a class.\n    """\n', 2),
    ],
)
def test_comments_that_hide_their_subject_are_found(path: str, source: str, line: int) -> None:
    assert [found.line for found in doc_comments.findings(path, source)] == [line]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.hpp", "/** Returns whether it is. */\nbool is();\n"),
        ("a.hpp", "/// Ranks of a host,\n/// Of which one leads.\nint n;\n"),
        ("a.hpp", "int n; ///< Ranks of a host,\n       ///< What each gives.\n"),
        ("a.cpp", "int f() {\n  // What follows is no doc comment.\n}\n"),
        ("a.cpp", 'auto text = "/** Of a string */";\n'),
        ("a.hpp", "/** Offset of a part, Itself named so, Whatever. */\nint n;\n"),
        ("a.py", 'def f() -> str:\n    """Return what it is."""\n    return "What"\n'),
        ("a.py", "# What a plain comment says.\n"),
        ("a.py", ""),
    ],
)
def test_other_comments_pass(path: str, source: str) -> None:
    assert list(doc_comments.findings(path, source)) == []


# ---- Titles of commits ---------------------------------------------------------------------------


def git(where: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.hooksPath="]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=where, check=True, capture_output=True, text=True
    ).stdout


def commit(where: Path, title: str) -> None:
    git(where, "commit", "-q", "--allow-empty", "-m", title, "-m", LONG)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Return a repository with a long title before the check, and two after it, one of a merge."""
    where = tmp_path / "repository"
    where.mkdir()
    git(where, "init", "-q")
    commit(where, f"before {LONG}")
    hook = where / commit_titles.HOOK
    hook.parent.mkdir()
    hook.touch()
    git(where, "add", ".")
    commit(where, "add the check")
    commit(where, "short")
    commit(where, LONG)
    return where


def test_titles_count_after_the_commit_that_added_the_check(history: Path) -> None:
    assert commit_titles.newest_titles(history) == [LONG, "short"]


def test_a_shallow_clone_checks_what_it_has(history: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", history.as_uri(), "shallow")
    assert commit_titles.newest_titles(tmp_path / "shallow") == []
    git(tmp_path, "clone", "-q", "--depth", "2", history.as_uri(), "deeper")
    assert commit_titles.newest_titles(tmp_path / "deeper") == [LONG]


def test_no_repository_has_no_titles(tmp_path: Path) -> None:
    assert commit_titles.newest_titles(tmp_path) == []


@pytest.mark.parametrize(
    ("title", "refused"),
    [
        ("x" * 72, False),
        (LONG, True),
        (f"Merge branch {LONG}", False),
        (f"fixup! {LONG}", False),
    ],
)
def test_the_hook_refuses_long_titles(tmp_path: Path, title: str, refused: bool) -> None:
    message = tmp_path / "message"
    message.write_text(f"# Git's comment\n\n{title}\n\n{LONG}\n")
    hook = subprocess.run(
        [ROOT / commit_titles.HOOK, message],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
    )
    assert (hook.returncode, f"at most {commit_titles.LONGEST}" in hook.stderr) == (
        int(refused),
        refused,
    )
