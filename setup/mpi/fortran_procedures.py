# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the C++ functions that implement MPI's Fortran procedures.

Each procedure gets a function under the linker name of the module mpi and mpif.h (`mpi_send_`),
where buffers are addresses, and one for mpi_f08, where buffers are descriptors. Procedures without
buffers share one function, because all other arguments are passed in the same way. Converters
(arguments.hpp) convert each argument to C; their destructors pass results back.
"""

from collections.abc import Iterable, Iterator

from mpi.tables import HANDLES, Argument, Constants, Procedure, with_large_forms

_PARAMETERS = {
    **dict.fromkeys(("int", "count", "displacement", "index", "logical", "weights"), "int*"),
    **dict.fromkeys(("aint", "offset", "bigcount"), "std::int64_t*"),
    **dict.fromkeys(("string", "strings"), "char*"),
    "Status": "MPI_Status*",
    "address": "void**",
    "procedure": "Callback",
    **dict.fromkeys(HANDLES, "int*"),
}
_TEXTS = ("string", "strings")
"""Kinds whose length is passed as an additional argument."""
_WIDE = {"aint": "MPI_Aint", "offset": "MPI_Offset", "bigcount": "MPI_Count"}
_ANSWERS = {"double": "double", "aint": "std::int64_t"}
_HEAD = """\
// SPDX-License-Identifier: LGPL-2.1-only
// Written by setup/mpi.
#include "binding/datatypes/fortran_types.hpp"
#include "binding/fortran/arguments.hpp"
#include "binding/fortran/procedures.hpp"
#include "compilers/include/mpi/weft_mpi.h"

// Each alias takes the parameters of the function that it names.
#pragma GCC diagnostic ignored "-Wattribute-alias"
#define WEFT_ALIAS(name, function) \\
  __attribute__((alias(#function), visibility("default"))) void name(); // NOLINT
"""


def text(table: Iterable[Procedure], constants: Constants) -> str:
    """Return the C++ source."""
    lines = [_HEAD, "namespace weft::fortran {", "", *_checks(constants), *_predefined(constants)]
    lines += ["} // namespace weft::fortran", "", "using namespace weft::fortran;", 'extern "C" {']
    rows = list(table)
    for row in (*with_large_forms(rows), *(one for one in rows if not one.is_in_f08)):
        if row.is_present:
            lines += _functions(row)
    lines += _comparisons()
    lines += ['} // extern "C"']
    return "\n".join(lines) + "\n"


def _checks(constants: Constants) -> Iterator[str]:
    """Yield comparisons of the table's integers with SMPI's values."""
    yield from (f"static_assert({name} == {value});" for name, value in constants.integers.items())
    yield ""


def _predefined(constants: Constants) -> Iterator[str]:
    """Yield conversions of the handles with negative numbers."""
    kinds = dict.fromkeys(kind for kind, _ in constants.handles.values())
    for kind in kinds:
        if kind in ("Message", "Session"):
            continue
        own = {
            constants.objects.get(name, name): number
            for name, (its, number) in constants.handles.items()
            if its == kind and number < -1
        }
        yield f"template <> MPI_{kind} predefined<MPI_{kind}>(int number)"
        yield "{"
        yield "  switch (number) {"
        yield from (f"    case {number}: return {name};" for name, number in own.items())
        yield f"    default: return null_handle<MPI_{kind}>();"
        yield "  }"
        yield "}"
        yield f"template <> int predefined_number<MPI_{kind}>([[maybe_unused]] MPI_{kind} handle)"
        yield "{"
        # If several names denote a handle, the first is used. SMPI creates MPI_COMM_SELF on demand,
        # and no procedure returns it.
        for name, number in own.items():
            if kind != "Comm":
                yield f"  if (handle == {name}) return {number};"
        yield "  return NO_NUMBER;"
        yield "}"
        yield ""


def _functions(row: Procedure) -> Iterator[str]:
    name = f"mpi_{row.name.lower()}"
    specific = f"mpi_{(row.specific or row.name).lower()}"
    module = f"__mpi_f08_MOD_{specific}"
    private = f"__mpi_f08_MOD_p{specific}"
    if any(one.kind == "descriptor" for one in row.buffers):
        yield from _function(row, f"{name}_f08ts", "CDescriptor*")
        yield f"WEFT_ALIAS(p{name}_f08ts, {name}_f08ts)"
        return
    if not row.is_large:
        yield from _function(row, f"{name}_", "void*")
        yield f"WEFT_ALIAS(p{name}_, {name}_)"
    if not row.is_in_f08 or row.mark == "=":
        return
    if row.is_bound_to_c:
        yield from _function(row, f"{name}_f08ts", "CDescriptor*")
        yield f"WEFT_ALIAS(p{name}_f08ts, {name}_f08ts)"
    elif row.buffers or row.is_large or row.name in _DIFFERENT:
        yield from _function(row, module, "FortranDescriptor*")
        yield f"WEFT_ALIAS({private}, {module})"
    else:
        yield f"WEFT_ALIAS({module}, {name}_)"
        yield f"WEFT_ALIAS({private}, {name}_)"


_DIFFERENT = ("Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer")
"""Procedures without buffers whose arguments differ between mpi_f08 and mpi."""


def _function(row: Procedure, symbol: str, buffer: str) -> Iterator[str]:
    parameters = [f"{_PARAMETERS.get(one.kind, buffer)} {one.name}" for one in row.arguments]
    if row.name in _DIFFERENT and buffer == "void*":
        place = next(at for at, one in enumerate(row.arguments) if one.kind == "address")
        parameters[place] = f"[[maybe_unused]] {parameters[place]}"
    lengths = [f"std::size_t {one.name}_length" for one in row.arguments if one.kind in _TEXTS]
    error = ["int* ierror"] if row.has_error else []
    answer = _ANSWERS.get(row.result, "void")
    yield ""
    yield f"WEFT_FORTRAN {answer} {symbol}({', '.join([*parameters, *error, *lengths])})"
    yield "{"
    if row.is_by_hand:
        words = ", ".join(_raw(row, one, buffer) for one in row.arguments)
        call = f"by_hand::{_by_hand(row)}({words})"
    else:
        if buffer == "CDescriptor*":
            yield from _sections(row)
        words = ", ".join(word for one in row.arguments for word in _given(row, one, buffer))
        call = f"MPI_{row.name}({words})"
    if row.has_error:
        yield f"  end(ierror, {call});"
    else:
        yield f"  {'return ' if answer != 'void' else ''}{call};"
    yield "}"


def _by_hand(row: Procedure) -> str:
    """Return the name of a hand-written function."""
    if row.mark == "=":
        for end, name in (("NULL_COPY_FN", "no_copy"), ("DUP_FN", "copy")):
            if row.name.endswith(end):
                return name
        return "no_delete"
    return "sizeof_" if row.name == "Sizeof" else row.name.lower()


def _raw(row: Procedure, one: Argument, buffer: str) -> str:
    """Return an argument of a hand-written function."""
    if one.kind in _TEXTS:
        return f"{one.name}, {one.name}_length"
    if row.name in _DIFFERENT and one.kind == "address" and buffer == "void*":
        return "nullptr"
    if one.kind in ("buffer", "async"):
        return f"buffer_of({one.name})"
    return one.name


def _sections(row: Procedure) -> Iterator[str]:
    """Yield the datatypes of strided buffers that are still in use after the call."""
    for one in row.buffers:
        count, type_ = _size(row, one)
        if type_ is None:
            yield f"  const Whole {one.name}_section({one.name});"
        else:
            pointer = count.name if count and not count.is_array else "nullptr"
            yield f"  const Strided {one.name}_section({one.name}, {pointer}, {type_.name});"
    conditions = " && ".join(f"{one.name}_section.is_usable()" for one in row.buffers)
    yield f"  if (not ({conditions}))"
    yield "    return end(ierror, refuse_section());"


def _size(row: Procedure, buffer: Argument) -> tuple[Argument | None, Argument | None]:
    """Return the count and the datatype that belong to a buffer.

    Both are None if a datatype cannot describe a strided buffer: in reductions, whose operations
    need the elements themselves, and in calls without a single datatype.
    """
    place = row.arguments.index(buffer)
    in_use = row.name.startswith("I") or row.name.removesuffix("_c").endswith("_init")
    reduces = any(one.name == "op" for one in row.arguments) and in_use
    following = []
    for one in row.arguments[place + 1 :]:
        if one.kind not in ("count", "bigcount", "displacement", "Datatype"):
            break
        following.append(one)
    types = [one for one in following if one.kind == "Datatype" and not one.is_array]
    counts = [one for one in following if one.kind in ("count", "bigcount")]
    if reduces or not types or not counts:
        return None, None
    return counts[0], types[0]


def _given(row: Procedure, one: Argument, buffer: str) -> Iterator[str]:
    """Yield the C function's arguments for a Fortran argument."""
    if one.kind in ("buffer", "async"):
        if buffer == "CDescriptor*":
            yield f"{one.name}_section.address()"
        elif buffer == "FortranDescriptor*":
            yield f"Contiguous({one.name}, {str(not one.is_input).lower()})"
        else:
            yield f"buffer_of({one.name})"
        return
    if buffer == "CDescriptor*":
        for other in row.buffers:
            count, type_ = _size(row, other)
            if one == type_:
                yield f"{other.name}_section.type()"
                return
            if one == count and not one.is_array:
                small = f"static_cast<int>({other.name}_section.count())"
                yield f"{other.name}_section.count()" if row.is_large else small
                return
    yield _converted(row, one)


def _converted(row: Procedure, one: Argument) -> str:
    name = one.name
    if one.kind in HANDLES:
        return _handle(row, one)
    if one.kind == "Status":
        return f"status_of({name})"
    if one.kind == "string":
        if not one.is_input:
            length = f", *{one.shape}" if one.shape.islower() else ""
            return f"TextResult({name}, {name}_length{length})"
        word = "Word" if row.name.startswith("Info_") else "Text"
        return f"{word}({name}, {name}_length)"
    if one.kind == "logical" and not one.is_array:
        return f"(*{name} != 0)" if one.is_input else f"LogicalResult({name})"
    if one.kind == "index":
        return f"Positions({name}, outcount)" if one.is_array else f"Position({name})"
    if one.kind == "weights":
        return f"weights_of({name})"
    if one.kind == "address":
        return name
    if one.shape == "3,n":
        return f"reinterpret_cast<int(*)[3]>({name})"
    if one.kind in _WIDE:
        wide = _WIDE[one.kind]
        if one.is_input and not one.is_array:
            return f"static_cast<{wide}>(*{name})"
        return f"reinterpret_cast<{wide}*>({name})"
    return f"*{name}" if one.is_input and not one.is_array else name


def _handle(row: Procedure, one: Argument) -> str:
    type_ = f"MPI_{one.kind}"
    if one.name == "request" and row.name == "Cancel":
        return f"Updated<{type_}>({one.name})"
    if not one.is_array:
        word = {"": "object_of", ">": "Result", "=": "Updated"}[one.intent]
        return f"{word}<{type_}>({one.name})"
    word = {"": "Handles", ">": "HandleResults", "=": "UpdatedHandles"}[one.intent]
    if one.shape != "*":
        count = f"*{one.shape}"
    elif "eighbor_" in row.name:
        count = f"neighbors_in(comm).{'out' if one.name == 'sendtypes' else 'in'}"
    else:
        # Types of sends are not significant for in-place calls.
        place = "sendbuf" if one.name == "sendtypes" else "static_cast<void*>(nullptr)"
        count = f"types_in_all(comm, {place})"
    return f"{word}<{type_}>({one.name}, {count})"


def _comparisons() -> Iterator[str]:
    for word, operator in (("eq", "=="), ("ne", "!=")):
        for name in HANDLES:
            yield ""
            symbol = f"__mpi_f08_MOD_{name.lower()}_{word}"
            yield f"WEFT_FORTRAN int {symbol}(const int* one, const int* other)"
            yield f"{{ return *one {operator} *other ? 1 : 0; }}"
