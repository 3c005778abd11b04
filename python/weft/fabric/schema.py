# SPDX-License-Identifier: LGPL-2.1-only
"""Tables and keys of fabric files, all of them or those that a word names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft import _core
from weft.base.errors import WeftError, named

if TYPE_CHECKING:
    from weft._core import Option, Table


def tables(word: str | None = None) -> "Sequence[Table]":
    """Return the tables of fabric files; with a word, the table of this name and those within it.

    If no table has this name, the tables contain only the keys whose name or meaning contains the
    word.

    Raises:
        WeftError: No table and no key matches.
    """
    every = _core.fabric_schema()
    if word is None:
        return every
    sought = word.strip("[]").lower()
    if whole := [one for one in every if f"{one['table']}.".startswith(f"{sought}.")]:
        return whole
    kept = [(table, _matching(table["options"], sought)) for table in every]
    found: list[Table] = [{**table, "options": options} for table, options in kept if options]
    if not found:
        names = ", ".join(table["table"] for table in every)
        raise WeftError(
            f"{named('word')}: found '{word}', which is in no table and no key; tables are {names}"
        )
    return found


def _matching(options: "Sequence[Option]", word: str) -> "list[Option]":
    return [one for one in options if word in one["key"] or word in one["meaning"].lower()]
