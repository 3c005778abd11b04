# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the modules `mpi_f08` and `mpi`, and of `mpif.h`.

Neither module contains code: gfortran only reads the modules. Procedures of `mpi_f08` are declared
as procedures of submodules, whose linker names begin with `__mpi_f08_MOD_`. Procedures with a
large-count form are generic, and gfortran's errors about generic procedures do not name the
argument; `weft f90` then compiles again with modules `mpi_f08` that contain only one form, to
obtain better errors. Buffers that are still in use after the call returns are passed as C
descriptors, because gfortran 12 copies some array sections for its own descriptors. Procedures that
the simulator's MPI lacks are declared as constants, so that calls do not compile.

In `mpi`, buffers and arrays are not checked (NO_ARG_CHECK): programs pass scalars as arrays of one
element.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from mpi.tables import HANDLES, SCALARS, Argument, Constants, Procedure

_KINDS = {"MPI_ADDRESS_KIND": 8, "MPI_OFFSET_KIND": 8, "MPI_COUNT_KIND": 8, "MPI_INTEGER_KIND": 4}
_CONSTANTS_OF_A_KIND = {"MPI_DISPLACEMENT_CURRENT": "MPI_OFFSET_KIND"}
_INTENTS = {"": ", intent(in)", ">": ", intent(out)", "=": ", intent(inout)"}
_WITH_F08_TYPES = ("Status_f2f08", "Status_f082f")
_SENTINELS = ("MPI_BOTTOM", "MPI_IN_PLACE")
_STATUSES_IGNORE = ("MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE")
_WEIGHTS = ("MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY")
_SPAWN = {
    "MPI_ARGV_NULL": ("character(len=1)", "(1)"),
    "MPI_ARGVS_NULL": ("character(len=1)", "(1, 1)"),
    "MPI_ERRCODES_IGNORE": ("integer", "(1)"),
}
"""Sentinels of MPI_Comm_spawn, with types and shapes."""
_OF_SIMGRID = (
    *("smpi_execute_flops", "smpi_execute_flops_benched"),
    *("smpi_execute", "smpi_execute_benched"),
)
# Handles with attributes, and the names used for them in callbacks.
_HANDLE_CALLBACKS = (("Comm", "comm"), ("Datatype", "type"), ("Win", "win"))
_WIDTH = 100


def f08(table: Iterable[Procedure], constants: Constants) -> str:
    """Return the module mpi_f08."""
    rows = [row for row in table if row.is_in_f08]
    present = [row for row in rows if row.is_present]
    absent = [row.name for row in rows if not row.is_present]
    lines = [
        "module mpi_f08",
        "  use, intrinsic :: iso_c_binding, only: c_ptr",
        "  implicit none",
        "  private :: c_ptr",
        *_numbers(constants, subarrays=True),
        *_types(),
        *(
            f"  type(MPI_{kind}), parameter :: {name} = MPI_{kind}({number})"
            for name, (kind, number) in constants.handles.items()
        ),
        *_sentinels("type(MPI_Status)", "", "_f08_"),
        *_callbacks(),
        *_operators(),
        "  interface",
        *(
            line
            for row in present
            if row.mark != "=" and not row.specific
            for prefix in ("", "P")
            for line in _f08_procedure(row, prefix)
        ),
        "  end interface",
        *_generic(row for row in present if row.specific),
        *(
            f"  procedure({_interface(row)}) :: MPI_{row.name}"
            for row in present
            if row.mark == "="
        ),
        "  ! What is not in the simulator's MPI: names that cannot be called.",
        *(f"  integer, parameter :: MPI_{name} = 0" for name in absent),
        "end module mpi_f08",
    ]
    return _file(lines)


def mpi(table: Iterable[Procedure], constants: Constants) -> str:
    """Return the module mpi."""
    lines = [
        "module mpi",
        "  implicit none",
        *_numbers(constants, subarrays=False),
        *(
            f"  integer, parameter :: {name} = {number}"
            for name, (_, number) in constants.handles.items()
        ),
        *_sentinels("integer", "MPI_STATUS_SIZE", "_"),
        *(f"  external :: {name}" for name in _OF_SIMGRID),
        "  interface",
        *(
            line
            for row in table
            if row.is_present and row.name not in _WITH_F08_TYPES and not row.is_large
            for prefix in ("", "P")
            for line in _mpi_procedure(row, prefix)
        ),
        "  end interface",
        "end module mpi",
    ]
    return _file(lines)


def include_file(constants: Constants) -> str:
    """Return mpif.h, which both fixed-form and free-form sources include."""
    numbers = {
        **_KINDS,
        "MPI_SOURCE": 1,
        "MPI_TAG": 2,
        "MPI_ERROR": 3,
        **constants.integers,
        **{name: number for name, (_, number) in constants.handles.items()},
    }
    lines = ["! SPDX-License-Identifier: LGPL-2.1-only", "! Written by setup/mpi."]
    for name, number in numbers.items():
        kind = _CONSTANTS_OF_A_KIND.get(name)
        size = f"(kind={_KINDS[kind]})" if kind else ""
        lines += [f"      integer{size} {name}", f"      parameter ({name}={number})"]
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        lines += [f"      logical {name}", f"      parameter ({name}=.false.)"]
    lines += [
        f"      external {name}" for name in (*_SENTINELS, *_STATUSES_IGNORE, *_WEIGHTS, *_SPAWN)
    ]
    lines += [
        f"      external MPI_{handle}_{what}_FN"
        for handle in ("COMM", "TYPE", "WIN")
        for what in ("NULL_COPY", "DUP", "NULL_DELETE")
    ]
    lines += [f"      external MPI_{what}_FN" for what in ("NULL_COPY", "DUP", "NULL_DELETE")]
    lines += [f"      double precision MPI_{what}" for what in ("WTIME", "WTICK")]
    lines += [f"      external MPI_{what}" for what in ("WTIME", "WTICK")]
    lines += [
        f"      integer(kind={_KINDS['MPI_ADDRESS_KIND']}) MPI_AINT_{what}"
        for what in ("ADD", "DIFF")
    ]
    lines += [f"      external MPI_AINT_{what}" for what in ("ADD", "DIFF")]
    lines += [f"      external {name}" for name in _OF_SIMGRID]
    return "\n".join(lines) + "\n"


def _file(lines: Iterable[str]) -> str:
    head = ("! SPDX-License-Identifier: LGPL-2.1-only", "! Written by setup/mpi.")
    return "\n".join((*head, *(part for line in lines for part in _folded(line)))) + "\n"


def _folded(line: str) -> Iterator[str]:
    """Break a long line between words, as Fortran continues them."""
    while len(line) > _WIDTH:
        place = line.rindex(" ", 0, _WIDTH - 2)
        yield line[:place] + " &"
        line = "      " + line[place + 1 :]
    yield line


def _numbers(constants: Constants, *, subarrays: bool) -> Iterator[str]:
    for name, number in (_KINDS | {"MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3}).items():
        yield f"  integer, parameter :: {name} = {number}"
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        yield f"  logical, parameter :: {name} = .{str(subarrays).lower()}."
    for name, number in constants.integers.items():
        kind = _CONSTANTS_OF_A_KIND.get(name)
        yield f"  integer{f'({kind})' if kind else ''}, parameter :: {name} = {number}"


def _types() -> Iterator[str]:
    for name in HANDLES:
        yield f"  type, bind(C) :: MPI_{name}"
        yield "    integer :: MPI_VAL"
        yield f"  end type MPI_{name}"
    yield "  type, bind(C) :: MPI_Status"
    yield "    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR"
    yield "    integer, private :: count, cancelled"
    yield "  end type MPI_Status"


def _sentinels(status: str, extent: str, end: str) -> Iterator[str]:
    """Yield variables whose addresses are sentinels (src/binding/fortran/sentinels.hpp)."""
    one, many = (f"({extent})", f"({extent}, 1)") if extent else ("", "(1)")
    variables = [
        *(("integer", name, "") for name in _SENTINELS),
        *((status, name, shape) for name, shape in zip(_STATUSES_IGNORE, (one, many), strict=True)),
        *(("integer", name, "(1)") for name in _WEIGHTS),
        *((kind, name, shape) for name, (kind, shape) in _SPAWN.items()),
    ]
    for kind, name, shape in variables:
        yield f"  {kind}, bind(C, name='{name.lower()}{end}') :: {name}{shape}"


def _operators() -> Iterator[str]:
    for operator, word in (("==", "eq"), ("/=", "ne")):
        yield f"  interface operator({operator})"
        yield from (f"    module procedure :: {name}_{word}" for name in HANDLES)
        yield "  end interface"
    names = [f"{name}_{word}" for word in ("eq", "ne") for name in HANDLES]
    yield f"  private :: {', '.join(names)}"
    yield "  interface"
    for word in ("eq", "ne"):
        for name in HANDLES:
            yield f"    elemental module function {name}_{word}(one, other) result(answer)"
            yield f"      type(MPI_{name}), intent(in) :: one, other"
            yield "      logical :: answer"
            yield f"    end function {name}_{word}"
    yield "  end interface"


def _callbacks() -> Iterator[str]:
    yield "  abstract interface"
    for end, kind in (("", "integer"), ("_c", SCALARS["bigcount"])):
        yield from _callback(
            f"MPI_User_function{end}",
            ("invec, inoutvec", "type(c_ptr), value"),
            ("len", kind),
            ("datatype", "type(MPI_Datatype)"),
        )
    for handle, word in _HANDLE_CALLBACKS:
        yield from _callback(
            f"MPI_{word.capitalize()}_copy_attr_function",
            (f"old{word}", f"type(MPI_{handle})"),
            (f"{word}_keyval", "integer"),
            ("extra_state, attribute_val_in, attribute_val_out", SCALARS["aint"]),
            ("flag", "logical"),
            ("ierror", "integer"),
        )
        yield from _callback(
            f"MPI_{word.capitalize()}_delete_attr_function",
            ("datatype" if word == "type" else word, f"type(MPI_{handle})"),
            (f"{word}_keyval", "integer"),
            ("attribute_val, extra_state", SCALARS["aint"]),
            ("ierror", "integer"),
        )
    for handle in ("Comm", "Win", "File", "Session"):
        yield from _callback(
            f"MPI_{handle}_errhandler_function",
            (handle.lower(), f"type(MPI_{handle})"),
            ("error_code", "integer"),
        )
    state = ("extra_state", SCALARS["aint"])
    error = ("ierror", "integer")
    status = ("status", "type(MPI_Status)")
    yield from _callback("MPI_Grequest_query_function", state, status, error)
    yield from _callback("MPI_Grequest_free_function", state, error)
    yield from _callback("MPI_Grequest_cancel_function", state, ("complete", "logical"), error)
    yield "  end interface"


def _interface(row: Procedure) -> str:
    """Return the interface of a callback that MPI provides."""
    handle = row.name.split("_")[0].capitalize()
    return f"MPI_{handle}_{'delete' if 'DELETE' in row.name else 'copy'}_attr_function"


def _callback(name: str, *arguments: tuple[str, str]) -> Iterator[str]:
    yield f"    subroutine {name}({', '.join(names for names, _ in arguments)})"
    yield "      import"
    yield from (f"      {type_} :: {names}" for names, type_ in arguments)
    yield f"    end subroutine {name}"


def _generic(rows: Iterable[Procedure]) -> Iterator[str]:
    """Yield the interfaces of procedures that share generic names."""
    for generic, sharing in groupby(rows, key=lambda row: row.generic):
        alike = list(sharing)
        for prefix in ("", "P"):
            yield f"  interface {prefix}MPI_{generic}"
            for row in alike:
                yield from _f08_procedure(row, prefix)
            yield "  end interface"


def _f08_procedure(row: Procedure, prefix: str) -> Iterator[str]:
    name = f"{prefix}MPI_{row.specific or row.name}"
    symbol = f"{prefix}mpi_{row.name}".lower()
    bound = f" bind(C, name='{symbol}_f08ts')" if row.is_bound_to_c else ""
    kind = "" if bound else "module "
    yield from _procedure(row, name, kind, bound)
    yield from (["      import"] if bound else [])
    yield from (f"      {_f08_declaration(one)}" for one in row.arguments)
    if row.has_error:
        yield "      integer, optional, intent(out) :: ierror"
    yield from _end(row, name)


def _mpi_procedure(row: Procedure, prefix: str) -> Iterator[str]:
    name = f"{prefix}MPI_{row.name}"
    bound = f" bind(C, name='{name.lower()}_f08ts')" if _has_descriptor(row) else ""
    yield from _procedure(row, name, "", bound)
    yield "      import"
    for one in row.arguments:
        yield from (f"      {line}" for line in _mpi_declaration(one))
    if row.has_error:
        yield "      integer, intent(out) :: ierror"
    yield from _end(row, name)


def _has_descriptor(row: Procedure) -> bool:
    return any(one.kind == "descriptor" for one in row.arguments)


def _procedure(row: Procedure, name: str, kind: str, bound: str) -> Iterator[str]:
    names = [*(one.name for one in row.arguments), *(["ierror"] if row.has_error else [])]
    if row.result in ("double", "aint"):
        yield f"    {kind}function {name}({', '.join(names)}) result(answer){bound}"
    else:
        yield f"    {kind}subroutine {name}({', '.join(names)}){bound}"


def _end(row: Procedure, name: str) -> Iterator[str]:
    if row.result in ("double", "aint"):
        type_ = "double precision" if row.result == "double" else SCALARS["aint"]
        yield f"      {type_} :: answer"
        yield f"    end function {name}"
    else:
        yield f"    end subroutine {name}"


def _f08_declaration(one: Argument) -> str:
    dimensions = f"({one.shape.replace(',', ', ')})" if one.is_array else ""
    intent = _INTENTS[one.intent]
    if one.kind == "procedure":
        return f"procedure({one.interface}) :: {one.name}"
    if one.kind in ("buffer", "async", "descriptor"):
        in_use = ", asynchronous" if one.kind == "async" else ""
        return f"type(*), dimension(..){in_use}{intent if one.is_input else ''} :: {one.name}"
    if one.kind == "Status":
        # An output may be MPI_STATUS_IGNORE, which the call does not define.
        return f"type(MPI_Status){intent if one.is_input else ''} :: {one.name}{dimensions}"
    return f"{_f08_type(one)}{intent} :: {one.name}{dimensions}"


def _f08_type(one: Argument) -> str:
    if one.kind in HANDLES:
        return f"type(MPI_{one.kind})"
    if one.kind == "string":
        return f"character(len={one.shape or '*'})"
    if one.kind == "strings":
        return "character(len=*)"
    return "type(c_ptr)" if one.kind == "address" else SCALARS[one.kind]


def _mpi_declaration(one: Argument) -> Iterator[str]:
    intent = _INTENTS[one.intent]
    if one.kind == "procedure":
        yield f"external :: {one.name}"
    elif one.kind == "descriptor":
        yield f"type(*), dimension(..), intent(in) :: {one.name}"
    elif one.kind in ("buffer", "async", "address"):
        yield f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {one.name}"
        yield f"type(*), dimension(*) :: {one.name}"
    elif one.kind == "Status":
        yield f"integer{intent if one.is_input else ''} :: {one.name}{_statuses(one)}"
    elif one.kind == "string":
        yield f"character(len=*){intent} :: {one.name}"
    elif one.kind == "strings":
        yield f"character(len=*){intent} :: {one.name}({one.shape})"
    elif one.is_array:
        yield f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {one.name}"
        yield f"{SCALARS.get(one.kind, 'integer')} :: {one.name}(*)"
    else:
        yield f"{SCALARS.get(one.kind, 'integer')}{intent} :: {one.name}"


def _statuses(one: Argument) -> str:
    return "(MPI_STATUS_SIZE, *)" if one.is_array else "(MPI_STATUS_SIZE)"
