# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the calls that traces know, and the roles of their arguments."""

from collections.abc import Iterable

from mpi.tables import Procedure

_UNRECORDED = ("Untraceable", "Implied", "Unrecorded")
"""Roles of calls that have no line (trace/calls.hpp)."""


def text(table: Iterable[Procedure]) -> str:
    """Return the C++ header."""
    known = [row for row in table if row.roles is not None]
    recorded = [row for row in known if not set(row.roles or ()) & set(_UNRECORDED)]
    others = [row for row in known if row not in recorded]
    return (
        "// SPDX-License-Identifier: LGPL-2.1-only\n"
        "// Written by setup/mpi.\n"
        "#pragma once\n\n"
        "/** X(name without MPI_, roles…) for each recorded function. */\n"
        f"{_list('WEFT_TRACED_CALLS', recorded)}\n"
        "/** X(name without MPI_, reason) for each function that is not recorded. */\n"
        f"{_list('WEFT_UNTRACED_CALLS', others)}"
    )


def _list(macro: str, rows: list[Procedure]) -> str:
    lines = [f"  X({', '.join((row.name, *(row.roles or ())))})" for row in rows]
    return " \\\n".join([f"#define {macro}(X)", *lines]) + "\n"
