# SPDX-License-Identifier: LGPL-2.1-only
"""MPI's functions in C: SMPI's prototypes where smpi.h has them, else those of the table."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mpi.tables import BUFFERS, HANDLES, Argument, Procedure, with_large_forms

_TYPES = {
    **dict.fromkeys(("int", "count", "displacement", "index", "logical", "weights"), "int"),
    **{"aint": "MPI_Aint", "offset": "MPI_Offset", "bigcount": "MPI_Count", "Status": "MPI_Status"},
    **{kind: f"MPI_{kind}" for kind in HANDLES},
}
_RESULTS = {"": "int", "aint": "MPI_Aint", "double": "double"}
_OF_FORTRAN = ("Sizeof", "F_sync_reg", "Status_f2f08", "Status_f082f")
"""Procedures that C lacks, or has in another form."""
_OF_C = {"Info_create_env": ("int argc", "char** argv", "MPI_Info* info")}
"""Parameters of functions that take more in C than in Fortran."""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a C function; `suffix` follows the name, as in "int ranges[][3]"."""

    type: str
    name: str
    suffix: str = ""

    @property
    def text(self) -> str:
        """Return the declaration."""
        return f"{self.type} {self.name}{self.suffix}"


@dataclass(frozen=True)
class Function:
    """C function of a procedure, without MPI_."""

    row: Procedure
    result: str
    parameters: tuple[Parameter, ...]
    is_smpis: bool
    """True if smpi.h declares it."""

    @property
    def name(self) -> str:
        """Return the name without MPI_."""
        return self.row.name

    @property
    def declared(self) -> str:
        """Return the parameters' declarations."""
        return ", ".join(one.text for one in self.parameters)

    @property
    def passed(self) -> str:
        """Return the parameters' names."""
        return ", ".join(one.name for one in self.parameters)

    def parameter(self, *types: str) -> Parameter | None:
        """Return the first parameter of one of the types, or None."""
        return next((one for one in self.parameters if one.type in types), None)

    def prototype(self, prefix: str) -> str:
        """Return the prototype with a prefix before MPI_, without a semicolon."""
        return f"{self.result} {prefix}MPI_{self.name}({self.declared or 'void'})"


def functions(rows: Iterable[Procedure], smpi: Path) -> dict[str, Function]:
    """Return the functions of the rows and their large-count forms, by name, given smpi.h."""
    theirs = _prototypes(smpi.read_text(encoding="utf-8"))
    table = list(rows)
    found: dict[str, Function] = {}
    removed = (row for row in table if not row.is_in_f08)
    for row in (*with_large_forms(table), *removed, *_large_in_c(table)):
        if not row.is_present or row.mark == "=" or row.result == "none" or row.name in _OF_FORTRAN:
            continue
        known = theirs.get(row.name)
        parameters = known if known is not None else _parameters(row)
        if known is not None and len(known) == len(row.arguments):
            parameters = tuple(
                Parameter(one.type, _name(given), one.suffix)
                for one, given in zip(known, row.arguments, strict=True)
            )
        found[row.name] = Function(row, _RESULTS[row.result], parameters, known is not None)
    return found


def _large_in_c(table: list[Procedure]) -> Iterable[Procedure]:
    """Yield the large-count forms that Fortran lacks, where a count is as wide as an address."""
    for row in table:
        kinds = {one.kind for one in row.arguments}
        if "own_c" in row.ways and "aint" in kinds and not kinds & {"count", "displacement"}:
            arguments = tuple(
                replace(one, kind="bigcount") if one.kind == "aint" else one
                for one in row.arguments
            )
            yield replace(row, name=f"{row.name}_c", arguments=arguments, ways=("own",), roles=None)


def _prototypes(text: str) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of smpi.h's functions."""
    found = re.findall(r"MPI_CALL\(XBT_PUBLIC \w+, MPI_(\w+),\s*\((.*?)\)\);", text, re.DOTALL)
    return {name: _parsed(listed.split(",")) for name, listed in found if "(" not in listed}


def _parsed(declared: Iterable[str]) -> tuple[Parameter, ...]:
    parameters = []
    for text in declared:
        match = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[\w*\])*)", " ".join(text.split()))
        if match is None:  # void
            continue
        kind = match[1].strip().replace(" *", "*")
        if match[3] == "[]":
            parameters.append(Parameter(f"{kind}*", match[2]))
        else:
            parameters.append(Parameter(kind, match[2], match[3]))
    return tuple(parameters)


def _parameters(row: Procedure) -> tuple[Parameter, ...]:
    if row.name in _OF_C:
        return _parsed(_OF_C[row.name])
    return tuple(Parameter(_type(one), _name(one)) for one in row.arguments)


def _name(argument: Argument) -> str:
    return {"assert": "assertion"}.get(argument.name, argument.name)  # a macro of <assert.h>


def _type(argument: Argument) -> str:
    """Return the type that MPI's language-independent description has in C."""
    constant = "const " if argument.is_input else ""
    if argument.kind in BUFFERS:
        return f"{constant}void*"
    if argument.kind == "address":
        return "void*"
    if argument.kind == "string":
        return f"{constant}char*"
    if argument.kind == "procedure":
        return f"{argument.interface}*"
    base = _TYPES[argument.kind]
    if argument.is_array or argument.kind == "Status":
        return f"{constant}{base}*"
    return base if argument.is_input else f"{base}*"
