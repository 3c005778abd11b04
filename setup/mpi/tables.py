# SPDX-License-Identifier: LGPL-2.1-only
"""Reader of src/mpi/procedures, and of the table of Fortran's constants."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

REMOVED = "Removed Interfaces"
"""Chapter of procedures that exist only in the module mpi and mpif.h."""
LARGE = "Large Counts"
"""Chapter of large-count forms that differ in more than the kinds of arguments."""
DATATYPES = "Datatypes"
_LARGE_KINDS = {"count": "bigcount", "displacement": "aint"}
SCALARS = {
    **dict.fromkeys(("int", "count", "displacement", "index", "weights"), "integer"),
    "logical": "logical",
    "aint": "integer(MPI_ADDRESS_KIND)",
    "offset": "integer(MPI_OFFSET_KIND)",
    "bigcount": "integer(MPI_COUNT_KIND)",
}
"""Fortran types of the numeric kinds."""
HANDLES = (
    *("Comm", "Datatype", "Errhandler", "File", "Group", "Info"),
    *("Message", "Op", "Request", "Session", "Win"),
)
BUFFERS = ("buffer", "async", "descriptor")
OTHERS = ("string", "strings", "address", "Status")
_ROW = re.compile(
    r"(?P<mark>[ *=-]) (?P<name>\w+)(?P<arguments>.*?)(?: -> (?P<result>\w+))?"
    r"(?: \|(?P<ways>[^|]*))?(?: \|(?P<roles>[^|]*))?"
)
_ARGUMENT = re.compile(
    r"(?P<name>\w+):(?P<kind>\w+)(?:\((?P<interface>\w+)\))?(?:\[(?P<shape>[^]]+)\])?(?P<intent>[>=]?)"
)


@dataclass(frozen=True)
class Argument:
    """Argument of a procedure; the head of the table describes the columns."""

    name: str
    kind: str
    interface: str
    shape: str
    intent: str

    @property
    def is_input(self) -> bool:
        """Return True if the procedure only reads the argument."""
        return not self.intent

    @property
    def is_array(self) -> bool:
        """Return True for arrays; the shape of a string is its length."""
        return bool(self.shape) and self.kind != "string"


@dataclass(frozen=True)
class Procedure:
    """Row of the table: an MPI procedure."""

    chapter: str
    mark: str
    name: str
    arguments: tuple[Argument, ...]
    result: str
    ways: tuple[str, ...] = ()
    """How calls reach their implementation."""
    roles: tuple[str, ...] | None = None
    """Fields of the call's line in a trace; None for a call that traces do not know."""
    specific: str = ""
    """Name of a procedure in mpi_f08 if it shares its generic name with another procedure; else
    empty.
    """

    @property
    def is_present(self) -> bool:
        """Return True if the simulator's MPI has the procedure."""
        return self.mark != "-"

    @property
    def is_by_hand(self) -> bool:
        """Return True if procedures.hpp declares the procedure's implementation."""
        return self.mark in "*="

    @property
    def is_in_f08(self) -> bool:
        """Return True for procedures in mpi_f08."""
        return self.chapter != REMOVED

    @property
    def is_large(self) -> bool:
        """Return True for large-count forms, which exist only in mpi_f08."""
        return self.name.endswith("_c")

    @property
    def generic(self) -> str:
        """Return the name that programs call."""
        return self.name.removesuffix("_c") if self.specific else self.name

    @property
    def has_error(self) -> bool:
        """Return True if the last argument is ierror."""
        return not self.result

    @property
    def buffers(self) -> list[Argument]:
        """Return the choice buffers."""
        return [one for one in self.arguments if one.kind in BUFFERS]

    @property
    def is_bound_to_c(self) -> bool:
        """Return True if mpi_f08 passes the buffers by C descriptors."""
        return any(one.kind in ("async", "descriptor") for one in self.arguments)


@dataclass(frozen=True)
class Constants:
    """Integers by name; handles by name, with their types and numbers."""

    integers: dict[str, int]
    handles: dict[str, tuple[str, int]]
    objects: dict[str, str]
    """C++ expressions for handles that SMPI's mpi.h does not define."""


def procedures(path: Path) -> list[Procedure]:
    """Read the table of procedures."""
    chapter = ""
    found = []
    for line in _joined(path):
        if line.startswith("## "):
            chapter = line.removeprefix("## ")
            continue
        try:
            found.append(procedure(chapter, line))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return found


def procedure(chapter: str, line: str) -> Procedure:
    """Parse a row, given the chapter's name."""
    row = _ROW.fullmatch(line)
    if not row:
        raise ValueError(f"not a row: {line}")
    return Procedure(
        chapter,
        row["mark"],
        row["name"],
        tuple(map(_argument, row["arguments"].split())),
        row["result"] or "",
        tuple(way.strip() for way in (row["ways"] or "").split(",") if way.strip()),
        None if row["roles"] is None else tuple(row["roles"].split()),
    )


def with_large_forms(rows: list[Procedure]) -> list[Procedure]:
    """Return the rows of mpi_f08 with their large-count forms, which share the generic names."""
    by_hand = {row.name: row for row in rows if row.chapter == LARGE}
    found: list[Procedure] = []
    for row in rows:
        if row.chapter == LARGE or not row.is_in_f08:
            continue
        form = by_hand.pop(f"{row.name}_c", None) or _large_form(row)
        if form and any(one.kind == "procedure" for one in row.arguments):
            # Callback arguments of different kinds do not distinguish procedures with the same
            # generic name.
            found += [row, form]
        elif form:
            found += [replace(row, specific=row.name), replace(form, specific=f"{form.name}_f08")]
        else:
            found.append(row)
    if by_hand:
        raise ValueError(f"forms of no procedure: {', '.join(by_hand)}")
    return found


def alone(rows: list[Procedure]) -> list[Procedure]:
    """Return only the large-count rows, under their generic names."""
    return [
        replace(row, name=row.generic, specific="")
        for row in rows
        if row.is_large or not row.specific
    ]


def _large_form(row: Procedure) -> Procedure | None:
    """Return the large-count form; None if all arguments keep their kinds."""
    if not row.is_present or all(one.kind not in _LARGE_KINDS for one in row.arguments):
        return None
    kinds = _LARGE_KINDS | ({"aint": "bigcount"} if row.chapter == DATATYPES else {})
    arguments = tuple(replace(one, kind=kinds.get(one.kind, one.kind)) for one in row.arguments)
    ways = ("own",) if "own_c" in row.ways else ("written",)
    return replace(row, name=f"{row.name}_c", arguments=arguments, ways=ways, roles=None)


def constants(path: Path) -> Constants:
    """Read the table of constants, and number the handles without a number."""
    part = ""
    integers: dict[str, int] = {}
    handles: dict[str, tuple[str, int]] = {}
    objects: dict[str, str] = {}
    own = -10
    for line in _joined(path):
        words = line.split()
        if words[0] == "##":
            part = words[1]
        elif part == "integers":
            integers[words[0]] = int(words[1])
        elif len(words) == 3 and not words[2].startswith("&"):
            handles[words[1]] = (words[0], int(words[2]))
        else:
            handles[words[1]] = (words[0], own)
            if len(words) == 3:
                objects[words[1]] = words[2]
            own -= 1
    return Constants(integers, handles, objects)


def _joined(path: Path) -> Iterator[str]:
    """Yield the rows, without comments, with continued lines joined."""
    text = path.read_text(encoding="utf-8").replace("\n    ", " ")
    return (line for line in text.splitlines() if line and not re.match(r"#(?!#)", line))


def _argument(text: str) -> Argument:
    found = _ARGUMENT.fullmatch(text)
    known = (*SCALARS, *HANDLES, *BUFFERS, *OTHERS, "procedure")
    if not found or found["kind"] not in known:
        raise ValueError(f"not an argument: {text}")
    return Argument(
        found["name"],
        found["kind"],
        found["interface"] or "",
        found["shape"] or "",
        found["intent"],
    )
