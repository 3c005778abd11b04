# SPDX-License-Identifier: LGPL-2.1-only
"""Refuses doc comments whose first word hides their subject.

A doc comment begins with what the thing is or does: a noun phrase or a verb in the third person.
Comments that begin with "Of", "Whether" or "How" make the reader guess, so `make lint` refuses them
in C and C++ (`/** …`, `/// …`, `///< …` and heads of files) and in Python's docstrings.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_SUFFIXES = (".cpp", ".hpp", ".c", ".h")

_OPENER = re.compile(r"(?:Of|That of|Those|What|Whether|Who|Whose|How|By which|It)\b")
_LINE_COMMENT = re.compile(r"///<?|//!<?")
_BLOCK_COMMENT = re.compile(r"/\*[*!]<?(?!/)")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@dataclass(frozen=True)
class Finding:
    """Doc comment with a refused first word."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """Return the finding in the format of compilers."""
        return f"{self.path}:{self.line}: doc comment opens with '{self.text[:50].rstrip()}…'"


def c_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and first words of each doc comment, and of the head of the file."""
    lines = source.splitlines()
    head = 1 if lines and "SPDX-License-Identifier" in lines[0] else 0
    inside = False  # inside a multi-line comment whose first line has been seen
    for index, raw in enumerate(lines):
        line = _STRING.sub('""', raw)
        found = _LINE_COMMENT.search(line)
        block = _BLOCK_COMMENT.search(line)
        if index == head and line.startswith(("//", "/*")):
            yield _first_words(lines, index, re.sub(r"^/[/*]+[!<]*", "", line))
            inside = line.startswith("//")
        elif block:
            yield _first_words(lines, index, line[block.end() :])
            inside = False
        elif found:
            if not inside:
                yield _first_words(lines, index, line[found.end() :])
            inside = True
        else:
            inside = False


def _first_words(lines: list[str], index: int, rest: str) -> tuple[int, str]:
    """Return line and text of a comment's start, which may be on the line after the marker."""
    if not rest.strip() and index + 1 < len(lines):
        return index + 2, lines[index + 1].strip().lstrip("/*!<").strip()
    return index + 1, rest.strip()


def python_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text.splitlines()[0]


def findings(path: str, source: str) -> Iterator[Finding]:
    """Yield the findings of a file."""
    comments = python_comments(source) if path.endswith(".py") else c_comments(source)
    for line, text in comments:
        if _OPENER.match(text):
            yield Finding(path, line, text)


def sources() -> list[str]:
    """Return the sources that Git tracks or would track; empty without Git."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    paths = sorted(set(listing.stdout.splitlines()))
    return [p for p in paths if p.endswith((*C_SUFFIXES, ".py")) and (ROOT / p).is_file()]


def main() -> int:
    """Print the findings; return 1 if there are any."""
    refused = [
        found
        for path in sources()
        for found in findings(path, (ROOT / path).read_text(encoding="utf-8"))
    ]
    for found in refused:
        print(found)
    if refused:
        print("lint: begin a doc comment with what the thing is (a noun) or does (a verb)")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
