# SPDX-License-Identifier: LGPL-2.1-only
"""Checks of scripts for simple_switch_CLI against their program.

Commands, their numbers of words, and the lookup of names follow p4lang/behavioral-model,
tools/runtime_CLI.py: tables and actions are found by short names, value sets only by full ones.
"""

import re
from collections import Counter
from collections.abc import Iterable

from weft.base.errors import WeftError, suggestion
from weft_testbed.p4.declarations import Field, Program

# Least and most arguments of each command.
_WORDS = {
    "table_add": (3, 64), "table_clear": (1, 1), "pvs_add": (2, 2), "pvs_remove": (2, 2),
    "mc_mgrp_create": (1, 1), "mc_node_create": (1, 64), "mc_node_update": (1, 64),
    "mc_node_associate": (2, 2), "mc_node_dissociate": (2, 2), "shell": (1, 64),
}  # fmt: skip
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.I)


def check(lines: Iterable[str], program: Program, source: str) -> Counter[str]:
    """Check a script against a program; return the number of commands of each kind."""
    script = _Script(program, source)
    for number, line in enumerate(lines, 1):
        if words := line.partition("#")[0].split():
            script.take(number, words)
    return script.commands


class _Script:
    def __init__(self, program: Program, source: str) -> None:
        self.program, self.source = program, source
        self.commands: Counter[str] = Counter()
        self.entries: dict[str, set[tuple[str, ...]]] = {name: set() for name in program.tables}
        self.line = 0

    def fail(self, problem: str) -> None:
        raise WeftError(f"{self.source}:{self.line}: {problem}")

    def take(self, number: int, words: list[str]) -> None:
        """Check one command."""
        self.line = number
        command, rest = words[0], words[1:]
        if command not in _WORDS:
            self.fail(
                f"simple_switch_CLI has no command '{command}'; {suggestion(command, _WORDS)}"
            )
        least, most = _WORDS[command]
        if not least <= len(rest) <= most:
            self.fail(f"{command} takes {least} words or more, at most {most}; found {len(rest)}")
        self.commands[command] += 1
        if command == "table_add":
            self._table_add(rest)
        elif command == "table_clear":
            self._table(rest[0])
            self.entries[rest[0]].clear()
        elif command.startswith("pvs_"):
            self._value(rest)
        elif command.startswith("mc_"):
            for word in rest:
                self._fits(Field(command, 32), word)

    def _table(self, name: str) -> None:
        if name not in self.program.tables:
            self.fail(f"there is no table '{name}'; {suggestion(name, self.program.tables)}")

    def _table_add(self, words: list[str]) -> None:
        name, action, *rest = words
        self._table(name)
        table = self.program.tables[name]
        if action not in table.actions:
            self.fail(f"table {name} has no action '{action}'; {suggestion(action, table.actions)}")
        if "=>" not in rest:
            self.fail("'=>' is missing between key and parameters")
        at = rest.index("=>")
        self._all_fit(f"table {name}", table.key, rest[:at])
        self._all_fit(
            f"action {action}", self.program.action(table, action).parameters, rest[at + 1 :]
        )
        key = tuple(rest[:at])
        if key in self.entries[name]:
            self.fail(f"table {name} has an entry for {' '.join(key)} already")
        self.entries[name].add(key)
        if len(self.entries[name]) > table.size:
            self.fail(f"table {name} takes {table.size} entries, and this is one more")

    def _value(self, words: list[str]) -> None:
        sets = {one.full_name: one for one in self.program.value_sets.values()}
        if words[0] not in sets:
            self.fail(f"there is no set of values '{words[0]}'; {suggestion(words[0], sets)}")
        self._fits(Field(words[0], sets[words[0]].width), words[1])

    def _all_fit(self, what: str, fields: tuple[Field, ...], words: list[str]) -> None:
        if len(fields) != len(words):
            names = ", ".join(one.name for one in fields) or "nothing"
            self.fail(f"{what} takes {len(fields)} values ({names}); found {len(words)}")
        for one, word in zip(fields, words, strict=True):
            if one.match not in ("", "exact"):
                self.fail(f"{what}: {one.name} is matched {one.match}, which no script here writes")
            self._fits(one, word)

    def _fits(self, one: Field, word: str) -> None:
        if one.width == 48 and _MAC.fullmatch(word):
            return
        if not word.isdecimal() or int(word) >= 1 << one.width:
            self.fail(f"{one.name} has {one.width} bits; found '{word}'")
