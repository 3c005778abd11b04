# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of a campaign file: `[programs.NAME]`."""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.base.options import Options
from weft.base.paths import file_name
from weft.campaign.file.keys import PROGRAM


@dataclass(frozen=True)
class Program:
    """Program: a source compiled by weft, a binary, a jobs file, or a model to train."""

    name: str
    arguments: tuple[str, ...]
    source: Path | None = None
    flags: tuple[str, ...] = ()
    path: Path | None = None
    jobs: Path | None = None
    model: str = ""
    """Training file or preset of a model."""
    build: str = ""
    """Shell command, called in the campaign's folder before the first run."""
    privatize: bool = True
    inputs: tuple[Path, ...] = ()
    """Files that the program reads; their contents are part of a run's digest."""

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders in the arguments."""
        found = (
            field for text in self.arguments for _, field, _, _ in string.Formatter().parse(text)
        )
        return tuple(dict.fromkeys(field for field in found if field))


def read_programs(top: Options) -> Iterator[Program]:
    """Yield the programs of a campaign file."""
    tables = top.part("programs")
    if not tables.values:
        tables.fail("", "names no program; write [programs.NAME] with source or path")
    for name, values in tables.values.items():
        if not isinstance(values, dict):
            tables.fail(name, f"found {values!r}; write a table, [programs.{name}]")
        file_name(f"{top.source}: [programs]", name)
        yield _program(Options(top.source, f"programs.{name}", values), name)


def _program(table: Options, name: str) -> Program:
    table.allow(*PROGRAM)
    if sum(key in table.values for key in ("source", "path", "jobs", "model")) != 1:
        table.fail(
            "source",
            "write one of source, a file to compile; path, a program; jobs, a jobs file; model, a"
            " training file or preset",
        )
    for key in ("arguments", "privatize"):
        if "jobs" in table.values and key in table.values:
            table.fail(key, "found beside jobs; the jobs file has it for each of its jobs")
    for key in ("arguments", "privatize", "inputs"):
        if "model" in table.values and key in table.values:
            table.fail(key, "found beside model, which is not a program; leave it out")
    for key, wants in (("flags", "source"), ("build", "path")):
        if key in table.values and wants not in table.values:
            table.fail(key, f"is allowed only with {wants}; leave it out")
    program = Program(
        name=name,
        arguments=tuple(_texts(table, "arguments")),
        source=Path(table.text("source")) if "source" in table.values else None,
        flags=tuple(_texts(table, "flags")),
        path=Path(table.text("path")) if "path" in table.values else None,
        jobs=Path(table.text("jobs")) if "jobs" in table.values else None,
        model=table.text("model") if "model" in table.values else "",
        build=table.text("build", ""),
        privatize=truth(table, "privatize"),
        inputs=tuple(Path(one) for one in _texts(table, "inputs")),
    )
    try:
        found = program.placeholders
    except ValueError as error:
        table.fail("arguments", f"{error}; write {{KEY}} for a key of [[runs]], {{{{ for a brace")
    for key in found:
        if not key.isidentifier():
            table.fail(
                "arguments", f"found {{{key}}}; a placeholder is one word, such as {{bytes}}"
            )
    return program


def truth(table: Options, key: str) -> bool:
    """Return a boolean key, true by default."""
    found = table.values.get(key, True)
    if not isinstance(found, bool):
        table.fail(key, f"found {found!r}; allowed are true, false")
    return found


def _texts(table: Options, key: str) -> list[str]:
    """Return a list of strings, empty by default."""
    found = table.values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        table.fail(key, f'found {found!r}; write a list of texts, such as ["a", "b"]')
    return found
