# SPDX-License-Identifier: LGPL-2.1-only
"""Kinds of files that are not traces, for error messages."""

import json
from pathlib import Path

from weft.base.errors import printable

_START = 1 << 12
_MAGIC = (
    (b"\x7fELF", "a compiled program or library; `weft run` runs programs"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"%EventDef", "a timeline in Paje's form"),
    (b"<?xml", "an XML file, such as a platform of SimGrid"),
    (b"#!", "a script"),
)
_SUFFIXES = {
    ".def": "a part of an OTF2 trace; name its .otf2 file",
    ".evt": "a part of an OTF2 trace; name its .otf2 file",
    ".et": "an execution trace of Chakra",
    ".toml": "a TOML file, such as a fabric or a jobs file",
    ".csv": "a table",
    ".c": "a source in C; compile it with `weft cc`",
    ".cpp": "a source in C++; compile it with `weft cxx`",
    ".f90": "a source in Fortran; compile it with `weft f90`",
    ".bin": "a binary file; of GOAL, weft reads the text form",
}


def kind_of(path: Path) -> str:
    """Return a description of a path, with its article."""
    if path.is_dir():
        return _kind_of_directory(path)
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return f"it is {_kind_of_content(path, start)}" if start else "it is empty"


def _kind_of_directory(path: Path) -> str:
    if not any(path.iterdir()):
        return "it is an empty directory"
    return (
        "it is a directory with neither the manifest.json of `weft run --record` nor the actions"
        " of a time-independent trace of SimGrid"
    )


def _kind_of_content(path: Path, start: bytes) -> str:
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    if path.suffix in _SUFFIXES:
        return _SUFFIXES[path.suffix]
    if b"\0" in start:
        return "a binary file"
    if start.lstrip().startswith((b"{", b"[")):
        return _kind_of_json(path)
    first = start.decode("utf-8", errors="replace").strip().partition("\n")[0]
    return f"text that begins with '{printable(first[:60])}'"


def _kind_of_json(path: Path) -> str:
    try:
        schema = json.loads(path.read_text(encoding="utf-8")).get("schema")
    except (OSError, ValueError, AttributeError):
        schema = None
    if schema == "weft-run/1":
        return "the record of a run"
    return "a JSON file" + (f" of schema '{printable(str(schema)[:60])}'" if schema else "")
