# SPDX-License-Identifier: LGPL-2.1-only
"""Programs of a campaign file: `[programs.NAME]`."""

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base.options import Options
from weft.base.paths import file_name
from weft.campaign.file.keys import MOST_RANKS, PROGRAM


@dataclass(frozen=True)
class Program:
    """Program: source compiled by weft, binary, jobs file, model or training trace."""

    name: str
    arguments: tuple[str, ...]
    source: Path | None = None
    flags: tuple[str, ...] = ()
    path: Path | None = None
    jobs: Path | None = None
    model: str = ""
    """Training file or preset of a model."""
    trace: Path | None = None
    """Trace of a training iteration."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of the trace reader, by their names in campaign files."""
    build: str = ""
    """Shell command, called in the campaign's folder before the first run."""
    privatize: bool = True
    inputs: tuple[Path, ...] = ()
    """Files that the program reads; their contents are part of a run's digest."""

    @property
    def trains(self) -> bool:
        """True if runs are training iterations."""
        return bool(self.model) or self.trace is not None

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders in the program's arguments."""
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
    if sum(key in table.values for key in ("source", "path", "jobs", "model", "trace")) != 1:
        table.fail(
            "source",
            "write one of source, a file to compile; path, a program; jobs, a jobs file; model, a"
            " training file or preset; trace, a trace of training",
        )
    for key in ("arguments", "privatize"):
        if "jobs" in table.values and key in table.values:
            table.fail(key, "found beside jobs; the jobs file has it for each of its jobs")
    for key in ("arguments", "privatize", "inputs"):
        for its in ("model", "trace"):
            if its in table.values and key in table.values:
                table.fail(key, f"found beside {its}, which is not a program; leave it out")
    readers = ("allgather_size", "process_groups", "logical_dimensions")
    for key, wants in (
        ("flags", "source"),
        ("build", "path"),
        *((key, "trace") for key in readers),
    ):
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
        trace=Path(table.text("trace")) if "trace" in table.values else None,
        reading=_reading(table),
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


def _reading(table: Options) -> dict[str, Any]:
    """Return the options of a trace reader."""
    found: dict[str, Any] = {}
    if "allgather_size" in table.values:
        found["allgather_size"] = table.choice("allgather_size", ("input", "total"), "input")
    if "process_groups" in table.values:
        found["process_groups"] = table.text("process_groups")
    if "logical_dimensions" in table.values:
        sizes = table.values["logical_dimensions"]
        listed = sizes if isinstance(sizes, list) else []
        if not listed or not all(type(one) is int and 0 < one <= MOST_RANKS for one in listed):
            table.fail(
                "logical_dimensions",
                f"found {sizes!r}; write a list of positive sizes, such as [8, 4]",
            )
        found["logical_dimensions"] = listed
    return found


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
