# SPDX-License-Identifier: LGPL-2.1-only
"""Changes to a fault file, TABLE.KEY=VALUE, alongside those to a fabric.

`recovery.KEY` sets a key of [recovery], `fault.KEY` one of each [[fault]] table that it belongs to.
"""

from collections.abc import Sequence
from typing import Any

from weft.base.errors import WeftError, suggestion
from weft.base.options import Options, value_of
from weft.runs.faults.file import ANYWHERE_AT_RANDOM, AT_RANDOM, FAULT, RECOVERY

_FAULT, _RECOVERY = "fault", "recovery"
FAULT_KEYS = {_FAULT: FAULT, _RECOVERY: RECOVERY}
"""Keys of each table."""


def is_of_faults(key: str) -> bool:
    """Return True for a key (or a change) of fault files."""
    return key.partition(".")[0].strip() in FAULT_KEYS


def of_fabric(changes: Sequence[str]) -> tuple[str, ...]:
    """Return the changes to the fabric."""
    return tuple(one for one in changes if not is_of_faults(one))


def of_faults(changes: Sequence[str]) -> tuple[str, ...]:
    """Return the changes to the fault file."""
    return tuple(one for one in changes if is_of_faults(one))


def changed(top: Options, changes: Sequence[str]) -> Options:
    """Return the tables of a fault file with changes. Raises `WeftError`."""
    if not changes:
        return top
    tables = {**top.values}
    for change in changes:
        name, equals, text = (one.strip() for one in change.partition("="))
        table, _, key = name.partition(".")
        if not equals:
            raise WeftError(f"found {change!r}; write {name}=VALUE")
        if key not in FAULT_KEYS[table]:
            raise WeftError(f"{name}: no such key; {suggestion(key, FAULT_KEYS[table])}")
        if table == _RECOVERY:
            tables[_RECOVERY] = {**tables.get(_RECOVERY, {}), key: value_of(text)}
        else:
            tables[_FAULT] = _set(top, tables.get(_FAULT, []), key, value_of(text))
    return Options(f"{top.source} with {', '.join(changes)}", top.table, tables)


def _set(top: Options, tables: list[dict[str, Any]], key: str, value: Any) -> list[dict[str, Any]]:
    wanted = AT_RANDOM if key in ANYWHERE_AT_RANDOM else (key,)
    if not any(has in table for table in tables for has in wanted):
        raise WeftError(
            f"fault.{key}: no table [[fault]] of {top.source} has"
            f" {' or '.join(wanted)}; write it into the tables that it is to change"
        )
    return [
        {**table, key: value} if any(has in table for has in wanted) else table for table in tables
    ]
