# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the large-count forms of MPI functions (MPI_Send_c and others).

A count that fits an int is passed on. A larger count with a datatype becomes fewer elements of a
larger datatype, and a blocking reduction of one vector is executed in pieces. Counts without a
suitable divisor, and all other reductions of more elements than an int can count, are errors of
class MPI_ERR_COUNT.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mpi.c import Function
from mpi.tables import Argument

IN_PIECES = ("Allreduce", "Reduce", "Scan", "Exscan", "Reduce_local")
"""Reductions with independent elements, which may be executed in pieces."""
ROOT_ONLY = {"Gatherv": "recv", "Scatterv": "send"}
"""Side whose arrays are significant only at the root."""
_COUNTS = ("count", "displacement")
_HEAD = """\
// SPDX-License-Identifier: LGPL-2.1-only
// Large-count forms of MPI functions. Written by setup/mpi.
#include "binding/entries/added/large_counts.hpp"
#include "compilers/include/mpi/weft_mpi.h"

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {
"""
_END = """\
} // extern "C"
// NOLINTEND(readability-identifier-naming)
"""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a large-count form."""

    argument: Argument
    type: str
    name: str

    @property
    def counts(self) -> bool:
        """Return true for a count of elements."""
        return self.argument.kind in _COUNTS and not self.argument.is_array

    @property
    def lists(self) -> bool:
        """Return true for an array of counts or displacements."""
        return self.argument.kind in _COUNTS and self.argument.is_array

    @property
    def sends(self) -> bool:
        """Return true for a parameter of the send side."""
        return self.name.startswith("s")


def text(functions: dict[str, Function]) -> str:
    """Return the C++ source of the forms that the table does not leave to the binding."""
    written = [one for one in functions.values() if "written" in one.row.ways]
    bodies = (
        line
        for large in written
        for prefix in ("", "P")
        for line in _definition(prefix, functions[large.name.removesuffix("_c")], large)
    )
    return _HEAD + "\n".join(bodies) + "\n" + _END


def _definition(prefix: str, small: Function, large: Function) -> Iterator[str]:
    """Yield the lines of a function."""
    parameters = [
        Parameter(argument, one.type, one.name)
        for argument, one in zip(small.row.arguments, large.parameters, strict=True)
    ]
    yield ""
    yield f"WEFT_INTERPOSED {large.prototype(prefix)}"
    yield "{"
    yield from (f"  {line}" for line in _body(prefix, small.name, parameters))
    yield "}"


def _body(prefix: str, name: str, parameters: list[Parameter]) -> Iterable[str]:
    base = re.sub(r"_init$|^I(?=[a-z])", "", name)
    base = base[0].upper() + base[1:]
    names = {one.name for one in parameters}
    kinds = {one.type for one in parameters}
    comm = "comm" if "comm" in names else "MPI_COMM_WORLD"
    lines, arguments, kept, checks = [], [], [], []
    position = 0
    while position < len(parameters):
        one = parameters[position]
        after = parameters[position + 1] if position + 1 < len(parameters) else None
        if one.counts and after and after.type == "MPI_Datatype" and "MPI_Op" not in kinds:
            lines.append(f"const LargeElements {one.name}_({one.name}, {after.name});")
            arguments += [f"{one.name}_.count()", f"{one.name}_.type()"]
            checks.append(f"{one.name}_.fit()")
            kept.append(f"{one.name}_")
            position += 1
        elif one.counts:
            checks.append(f"fits({one.name})")
            arguments.append(f"static_cast<int>({one.name})")
        elif one.lists:
            side = "out" if one.sends else "in"
            of_neighbors = base.startswith("Neighbor")
            number = f"degree_{side}({comm})" if of_neighbors else f"ranks_of({comm})"
            if base == "Reduce_scatter":
                number = f"ranks_of_own_group({comm})"
            if base in ROOT_ONLY and (base == "Gatherv" or one.sends or one.name == "displs"):
                number = f"ranks_at_root({comm}, root)"
            lines.append(f"const SmallNumbers {one.name}_({one.name}, {number});")
            checks.append(f"{one.name}_.fit()")
            arguments.append(f"{one.name}_.data()")
            kept.append(f"{one.name}_")
        else:
            arguments.append(one.name)
        position += 1
    if name in IN_PIECES:
        lines.append(_in_pieces(f"{prefix}MPI_{name}", parameters))
    function = f'"MPI_{name}_c"'
    if checks:
        lines.append(f"if (not({' && '.join(checks)}))")
        lines.append(
            f"  return refuse_count({comm}, {function}, {'true' if not prefix else 'false'});"
        )
    call = f"{prefix}MPI_{name}({', '.join(arguments)})"
    if "MPI_Request*" in kinds and kept:
        keep = "keep_always" if name.endswith("_init") else "keep_until_complete"
        request = next(one.name for one in parameters if one.type == "MPI_Request*")
        lines.append(f"return {keep}({call}, {request}, {', '.join(kept)});")
    else:
        lines.append(f"return {call};")
    return lines


def _in_pieces(function: str, parameters: list[Parameter]) -> str:
    """Return the statement that executes a large reduction in pieces."""
    arguments = [
        "piece" if one.counts else f"at_byte({one.name}, byte)" if "buf" in one.name else one.name
        for one in parameters
    ]
    return (
        "if (not fits(count))\n"
        "    return reduce_in_pieces(count, datatype, [&](MPI_Aint byte, int piece) {\n"
        f"      return {function}({', '.join(arguments)});\n"
        "    });"
    )
