# SPDX-License-Identifier: LGPL-2.1-only
"""Counts a library's messages, compares them with weft's predictions, and writes the table."""

import gzip
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from studies.messages.cases import Case, Message, messages, summary
from studies.study import read_table

SOURCE = Path(__file__).with_name("messages.c")


class Setting(NamedTuple):
    """Number of ranks, and their distribution over hosts."""

    ranks: int
    hosts: int = 0
    """Number of hosts; 0: one host per rank."""
    in_turn: bool = False
    """True for cyclic placement: rank r runs on host r modulo hosts; False for blocks of
    consecutive ranks.
    """

    @property
    def name(self) -> str:
        """Name in tables: `8`, or `8/2` in blocks on two hosts, or `8%2` cyclically on them."""
        return (
            f"{self.ranks}{'%' if self.in_turn else '/'}{self.hosts}"
            if self.hosts
            else str(self.ranks)
        )

    def host_of_ranks(self) -> list[int] | None:
        """Return each rank's host: block sizes differ by at most one, and the first are larger."""
        if not self.hosts:
            return None
        if self.in_turn:
            return [rank % self.hosts for rank in range(self.ranks)]
        length, longer = divmod(self.ranks, self.hosts)
        return [host for host in range(self.hosts) for _ in range(length + (host < longer))]


@dataclass(frozen=True)
class Library:
    """MPI library for the comparison."""

    head: str
    """Head of the library's tables: name, and counting method."""
    compile: Sequence[str]
    """Compiler command, with the counting source and the libraries to link."""
    launch: Callable[[Setting], Sequence[str]]
    """Launcher command before the program."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """Configuration of the library, with its counterpart in weft."""

    selection: str
    table: Path
    settings: Sequence[Setting]
    grid: Callable[[Setting], Iterator[Case]]
    options: Sequence[str] = ()
    """Additional launcher options."""

    def expected(self, case: Case, setting: Setting) -> list[Message]:
        """Return weft's prediction of the library's messages."""
        return messages(self.selection, case, setting.ranks, setting.host_of_ranks())

    def counted(self, setting: Setting) -> dict[Case, dict[str, object]]:
        """Return a setting's calls in the table, in the format of summary()."""
        return {
            Case(
                *(row["call"], int(row["count"]), row["type"], int(row["root"])),
                *(row["operation"], int(row["uneven"])),
            ): {"messages": int(row["messages"]), "bytes": int(row["bytes"]), "crc32": row["crc32"]}
            for row in _rows(self.table)
            if row["ranks"] == setting.name
        }

    def different(self, setting: Setting) -> list[Case]:
        """Return the calls whose messages in the table differ from weft's prediction."""
        table = self.counted(setting)
        assert list(table) == list(self.grid(setting))
        return [case for case in table if summary(self.expected(case, setting)) != table[case]]


@cache
def _rows(table: Path) -> list[dict[str, str]]:
    return read_table(table)


def compare(library: Library, setups: Sequence[Setup]) -> int:
    """Run, compare, write; return 1 if a message differs."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "messages"
        compiler, *rest = library.compile
        command = [compiler, "-O1", "-rdynamic", str(SOURCE), *rest, "-o", str(program)]
        subprocess.run(command, check=True)
        return 1 if sum(_compare(library, setup, program) for setup in setups) else 0


def _compare(library: Library, setup: Setup, program: Path) -> int:
    """Write a setup's table; return the number of calls whose messages differ from weft's."""
    lines = library.head.splitlines()
    lines.append("ranks,call,count,type,root,operation,uneven,messages,bytes,crc32")
    different = 0
    print(setup.table.name)
    for setting in setup.settings:
        grid = list(setup.grid(setting))
        measured = measure(library, setup, program, setting, grid)
        wrong = [one for one in grid if measured[one] != setup.expected(one, setting)]
        different += len(wrong)
        said = f"{len(grid)} calls, {len(wrong)} of other messages"
        print(f"{setting.name} ranks: {said}", flush=True)
        for case in wrong[:5]:
            print("  ", *case)
        for case in grid:
            cells = (setting.name, *case, *summary(measured[case]).values())
            lines.append(",".join(map(str, cells)))
    with setup.table.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    return different


def measure(
    library: Library, setup: Setup, program: Path, setting: Setting, grid: list[Case]
) -> Mapping[Case, list[Message]]:
    """Return the messages sent by the library."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "cases"
        # Warm-up calls before the counted calls, as libraries create communicators in the first
        # call.
        first = list({case.called: case for case in reversed(grid)}.values())
        listed.write_text("".join(" ".join(map(str, case)) + "\n" for case in [*first, *grid]))
        command = [*library.launch(setting), *setup.options]
        command += [str(program), f"{folder}/out", str(listed)]
        subprocess.run(command, check=True, env={**os.environ, **library.environment})
        found: dict[Case, list[Message]] = {case: [] for case in grid}
        for rank in range(setting.ranks):
            for line in Path(f"{folder}/out.{rank}").read_text().splitlines():
                number, *values = map(int, line.split())
                if number >= len(first):
                    found[grid[number - len(first)]].append(Message(rank, *values))
        return found
