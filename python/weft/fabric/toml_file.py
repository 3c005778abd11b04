# SPDX-License-Identifier: LGPL-2.1-only
"""In-place editing of fabric files with tomlkit, which preserves comments and layout.

Comments state the sources of values, so they move with the annotated element: a comment on a
value's line with this value, and a comment directly above a table with this table. If two arrays of
tables alternate in a file, tomlkit regroups each array, and the comments above its tables do not
move.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.items import AoT, InlineTable, Item, Table


@dataclass(frozen=True)
class SourcedValue:
    """Value with its source, as a comment on its line."""

    value: str | int | float
    comment: str = ""


Value = str | int | float | list[int] | SourcedValue


def in_toml(value: Any) -> str:
    """Return a value in TOML syntax."""
    return str(tomlkit.item(value).as_string())


def with_values(text: str, table: str, values: Mapping[str, Value]) -> str:
    """Set keys of a table in the text of a fabric file; for an array, in each of its tables.

    Existing keys keep their positions; new keys follow the table's head. An inline table is
    expanded to several lines, which leaves space for comments; a missing table is appended. A
    nested table is written `outer.inner`.
    """
    document = tomlkit.parse(text)
    found: Any = document
    for name in table.split("."):
        found = found.get(name, {})
    if isinstance(found, InlineTable) and "." not in table:
        outer = document.remove(table).as_string()
        lines = "".join(_line(key, part) for key, part in found.items() if key not in values)
        return _with_new_table(outer, table, lines + _lines(values))
    if isinstance(found, AoT):
        for one in found:
            one.update({key: _item(value) for key, value in values.items()})
        return document.as_string()
    if not isinstance(found, Table | OutOfOrderTableProxy | InlineTable):
        return _with_new_table(text, table, _lines(values))
    there = [key for key in values if key in found or isinstance(found, InlineTable)]
    for key in there:
        found[key] = _item(values[key])
    new = {key: value for key, value in values.items() if key not in there}
    return _with_new_keys(document.as_string(), table, new) if new else document.as_string()


def _with_new_keys(text: str, table: str, new: Mapping[str, Value]) -> str:
    names = r"[ \t]*\.[ \t]*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in table.split("."))
    head = re.compile(rf"^[ \t]*\[[ \t]*{names}[ \t]*\].*\n", re.MULTILINE)
    outer = table.partition(".")[0]
    parts = list(_parts(text))
    for number, (name, part) in enumerate(parts):
        if name == outer and (found := head.search(part)):
            parts[number] = (name, part[: found.end()] + _lines(new) + part[found.end() :])
            return "".join(part for _, part in parts)
    for number, (name, part) in enumerate(parts):
        if name == table and not part.lstrip().startswith("["):  # `nic.preset = …`
            keys = "".join(f"{table}.{line}" for line in _lines(new).splitlines(keepends=True))
            parts[number] = (name, part + keys)
            return "".join(part for _, part in parts)
    return _with_new_table(text, table, _lines(new))  # only nested tables exist


def _with_new_table(text: str, table: str, lines: str) -> str:
    gap = "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{table}]\n{lines}"


def _lines(values: Mapping[str, Value]) -> str:
    return "".join(_line(key, _item(value)) for key, value in values.items())


def _line(key: str, item: Any) -> str:
    document = tomlkit.document()
    document.append(key, item)
    return document.as_string().rstrip("\n") + "\n"


def _item(value: Value) -> Item:
    if not isinstance(value, SourcedValue):
        return tomlkit.item(value)
    item = tomlkit.item(value.value)
    if value.comment:
        item.comment(value.comment)
        item.trivia.comment_ws = "  "
    return item


def without_tables(text: str, names: Collection[str]) -> str:
    """Return a fabric file without some of its tables and the comments directly above them."""
    kept: list[str] = []
    above = ""  # trailing comments belong to the next table
    for name, part in _parts(text):
        if name in names:
            if kept:
                kept[-1] = _split_end(kept[-1])[0]
            above = _split_end(part)[1]
        else:
            kept += [above, part]
            above = ""
    return re.sub(r"\n{3,}", "\n\n", "".join([*kept, above]))


def _split_end(part: str) -> tuple[str, str]:
    """Split off the comments at the end of a part."""
    lines = part.splitlines(keepends=True)
    first = len(lines)
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return "".join(lines[:first]), "".join(lines[first:])


def _parts(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the parts of a file in order: tables by name, and the text between them."""
    for key, item in tomlkit.parse(text).body:
        one = tomlkit.document()
        if key is None:
            one.add(item)
        else:
            one.append(key, item)
        yield (None if key is None else key.key), one.as_string()
