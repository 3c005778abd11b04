# SPDX-License-Identifier: LGPL-2.1-only
"""docs/fabric-files.md: tables of keys, as defined by the program.

The study measures nothing. The section `[switch]` contains the keys of this table, `topology.star`
the keys of a topology, and `units` the units; the surrounding text is hand-written.
"""

import re
from collections.abc import Sequence

from studies.study import DOCS, Study, markdown
from weft import _core

PAGE = DOCS / "fabric-files.md"

# Quoted texts, lists, tables, MPI names and patterns are marked as code; enclosing alternatives
# come first.
_CODE = re.compile(r'\[\[?[a-z_.]+\]\]?|\[[^\]]*\]|"[^"]*"|\bMPI_\w+|(?<= )\*(?= )|(?<= )\?')
_TABLE = re.compile(r"\[+([a-z_.]+)\]+")
_LITERAL = re.compile(r'"[^"]*"|\[.*\]|\d[\w.]*')
_NOT_ZERO = "more than zero"
_KINDS = {
    "size": "{}; whole bytes",
    "duration": "{}; `m` are minutes, `h` hours, `d` days, `w` weeks",
    "bandwidth": "{}",
    "speed": "{} (floating-point operations a second)",
    "frequency": "{}",
}


def _marked_up(text: str) -> str:
    """Mark code in one of the program's texts, and turn tables into links."""
    return _CODE.sub(lambda match: _code(match[0]), text)


def _code(text: str) -> str:
    table = _TABLE.fullmatch(text)
    if table is None or table[1] not in {one["table"] for one in _core.fabric_schema()}:
        return f"`{text}`"
    return f"[`{text}`](#{table[1].replace('.', '')})"


def _value(option: "_core.Option") -> str:
    """Return a value's type, and the allowed values unless they are all positive values."""
    if option["names"]:
        return ", ".join(f'`"{name}"`' for name in option["names"])
    if option["allowed"] in ("", _NOT_ZERO):
        return option["type"]
    return f"{option['type']}, {option['allowed']}"


def _otherwise(option: "_core.Option") -> str:
    text = option["otherwise"]
    return f"`{text}`" if _LITERAL.fullmatch(text) else _marked_up(text)


def _keys(options: "Sequence[_core.Option]") -> str:
    rows = [
        (
            f"`{option['key']}`{'*' if option['required'] else ''}",
            _value(option),
            _otherwise(option),
            _marked_up(option["meaning"]),
        )
        for option in options
    ]
    return markdown(("key", "value", "default", ""), rows, 4)


def _units() -> str:
    known = _core.units()
    rows = [
        (kind, about.format(", ".join(f"`{name}`" for name, _ in known[kind])))
        for kind, about in _KINDS.items()
    ]
    return markdown(("value", "units"), rows, 2)


def tables(*, of_senders: bool) -> dict[str, str]:
    """Return the tables of keys: those of senders' congestion control, or all others."""
    return {
        f"table: {table['table']}": _keys(table["options"])
        for table in _core.fabric_schema()
        if table["options"] and table["table"].startswith("network.") == of_senders
    }


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    return {"table: units": _units(), **tables(of_senders=False)}


STUDY = Study(
    "fabric-files",
    "the keys of fabric files, as the program knows them",
    measure=lambda: None,
    page=PAGE,
    texts=texts,
)
