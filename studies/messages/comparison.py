# SPDX-License-Identifier: LGPL-2.1-only
"""A library counts, weft compares, the table is written."""

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
    """Ranks, and how they are spread over hosts."""

    ranks: int
    hosts: int = 0
    """How many; 0: one for each rank."""
    in_turn: bool = False
    """Rank r runs on host r modulo hosts; else each host has a row of ranks."""

    @property
    def name(self) -> str:
        """What tables say: `8`, or `8/2` in rows on two hosts, or `8%2` in turn on them."""
        return (
            f"{self.ranks}{'%' if self.in_turn else '/'}{self.hosts}"
            if self.hosts
            else str(self.ranks)
        )

    def host_of_ranks(self) -> list[int] | None:
        """Return each rank's host: rows differ by one rank at most, and the first are longer."""
        if not self.hosts:
            return None
        if self.in_turn:
            return [rank % self.hosts for rank in range(self.ranks)]
        length, longer = divmod(self.ranks, self.hosts)
        return [host for host in range(self.hosts) for _ in range(length + (host < longer))]


@dataclass(frozen=True)
class Library:
    """An MPI library as the comparison needs it."""

    head: str
    """Of its tables: which library, and how it was counted."""
    compile: Sequence[str]
    """The compiler, the source that counts, and what it links with."""
    launch: Callable[[Setting], Sequence[str]]
    """The command before the program."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """How a library is started, and what is compared with it."""

    selection: str
    table: Path
    settings: Sequence[Setting]
    grid: Callable[[Setting], Iterator[Case]]
    options: Sequence[str] = ()
    """More of the command before the program."""

    def expected(self, case: Case, setting: Setting) -> list[Message]:
        """Return what weft takes the library's messages to be."""
        return messages(self.selection, case, setting.ranks, setting.host_of_ranks())

    def counted(self, setting: Setting) -> dict[Case, dict[str, object]]:
        """Return what the table keeps of a setting's calls, as summary() says it."""
        return {
            Case(
                *(row["call"], int(row["count"]), row["type"], int(row["root"])),
                *(row["operation"], int(row["uneven"])),
            ): {"messages": int(row["messages"]), "bytes": int(row["bytes"]), "crc32": row["crc32"]}
            for row in _rows(self.table)
            if row["ranks"] == setting.name
        }

    def different(self, setting: Setting) -> list[Case]:
        """Return the calls of which the table has other messages than weft."""
        table = self.counted(setting)
        assert list(table) == list(self.grid(setting))
        return [case for case in table if summary(self.expected(case, setting)) != table[case]]


@cache
def _rows(table: Path) -> list[dict[str, str]]:
    return read_table(table)


def compare(library: Library, setups: Sequence[Setup]) -> int:
    """Run, compare, write; 1 where a message differs."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "messages"
        compiler, *rest = library.compile
        command = [compiler, "-O1", "-rdynamic", str(SOURCE), *rest, "-o", str(program)]
        subprocess.run(command, check=True)
        return 1 if sum(_compare(library, setup, program) for setup in setups) else 0


def _compare(library: Library, setup: Setup, program: Path) -> int:
    """Write a setup's table; return how many of its calls have other messages in weft."""
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
    setup.table.write_text("\n".join(lines) + "\n")
    return different


def measure(
    library: Library, setup: Setup, program: Path, setting: Setting, grid: list[Case]
) -> Mapping[Case, list[Message]]:
    """Return the messages that the library sends."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "cases"
        # Calls before those that are counted: libraries make communicators in the first.
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
