# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the functions that programs call, with the parameters of the table.

Timed functions are wrappers of SMPI's PMPI_… in binding/entries/timed_calls.cpp, whose helpers they
use; persistent and neighbourhood collectives, likewise, are in the files of these names. For each
function that the binding implements as PMPI_…, there is the MPI_… that calls error handlers.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from mpi.c import Function, Parameter

_HEAD = "// SPDX-License-Identifier: LGPL-2.1-only\n// Written by setup/mpi.\n"
_COMPLETIONS = ("waits", "polls")
"""Kinds of calls that complete or test the requests that they take."""


def timed(functions: Iterable[Function]) -> str:
    """Return the wrappers of SMPI's functions, to be included by timed_calls.cpp."""
    return _included(chain.from_iterable(map(_timed, functions)))


def persistent(functions: dict[str, Function]) -> str:
    """Return the initialisations of persistent collectives."""
    return _included(
        line
        for function in functions.values()
        if "persistent" in function.row.ways
        for line in (*_persistent(function), *_handled(function))
    )


def neighbors(functions: Iterable[Function]) -> str:
    """Return the neighbourhood collectives."""
    return _included(
        line
        for function in functions
        for way in function.row.ways
        if way.startswith("neighbors ")
        for line in (*_neighbor(function, way.split()[1]), *_handled(function))
    )


def handled(functions: Iterable[Function]) -> str:
    """Return the MPI_… of the functions that the binding implements as PMPI_…."""
    found = [one for one in functions if "own" in one.row.ways]
    return (
        f'{_HEAD}#include "binding/abi/original.hpp"\n'
        '#include "binding/entries/added/sessions.hpp"\n'
        '#include "binding/entries/frame/mpi_errors.hpp"\n'
        '#include "compilers/include/mpi/weft_mpi.h"\n\n'
        f"{_included(chain.from_iterable(map(_handled, found)), head='')}"
    )


def arguments(functions: Iterable[Function]) -> str:
    """Return the arguments of one-sided calls and of persistent collectives by name."""
    lines: list[str] = []
    for function in functions:
        ways = function.row.ways
        if "persistent" in ways or any(way.startswith("one_sided checked") for way in ways):
            lines += _structure(function)
    return (
        f"{_HEAD}#pragma once\n\n#include <smpi/smpi.h>\n\n"
        "/** Arguments of calls, by the names of MPI's standard. */\n"
        "// NOLINTBEGIN(readability-identifier-naming): MPI's names\n"
        "namespace weft::arguments {\n" + "\n".join(lines) + "\n} // namespace weft::arguments\n"
        "// NOLINTEND(readability-identifier-naming)\n"
    )


def between(functions: dict[str, Function]) -> str:
    """Return the declarations of collectives on intercommunicators, and their blocking forms."""
    lines: list[str] = []
    for name, function in functions.items():
        if function.row.chapter == "Collective Communication" and f"I{_lower(name)}" in functions:
            started = functions[f"I{_lower(name)}"]
            lines += [
                f"int between_{started.name}({started.declared});",
                f"inline int between_{name}({function.declared})",
                "{",
                f"  return between_{started.name}({function.passed}, nullptr);",
                "}",
            ]
    return (
        f"{_HEAD}#pragma once\n\n#include <smpi/smpi.h>\n\n"
        "// NOLINTBEGIN(readability-identifier-naming): MPI's names\n"
        "namespace weft {\n" + "\n".join(lines) + "\n} // namespace weft\n"
        "// NOLINTEND(readability-identifier-naming)\n"
    )


def prototypes(functions: Iterable[Function]) -> str:
    """Return the declarations of the functions that smpi.h lacks."""
    guard = "WEFT_MPI_FUNCTIONS_H"
    lines = [
        f"{one.prototype(prefix)};" for one in functions if not one.is_smpis for prefix in ("", "P")
    ]
    return (
        "/* SPDX-License-Identifier: LGPL-2.1-only */\n"
        "/* MPI functions that SimGrid's mpi.h lacks. Written by setup/mpi. */\n"
        f"#ifndef {guard}\n#define {guard}\n\n" + "\n".join(lines) + "\n\n#endif\n"
    )


def _included(lines: Iterable[str], head: str = _HEAD) -> str:
    body = "\n".join(lines)
    return (
        f"{head}// NOLINTBEGIN(readability-identifier-naming): MPI's names\n"
        f'extern "C" {{\n{body}\n}} // extern "C"\n'
        "// NOLINTEND(readability-identifier-naming)\n"
    )


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(filter(None, arguments))})"


def _timed(function: Function) -> Iterator[str]:
    """Yield the wrapper of a function that SMPI implements; nothing for others."""
    for kind, way, *hidden in (way.split() for way in function.row.ways if " " in way):
        if kind == "neighbors":
            continue
        name = function.name
        yield ""
        yield f"WEFT_INTERPOSED {function.prototype('P')}"
        yield "{"
        yield f'  static const auto THEIRS = original<decltype(&PMPI_{name})>("PMPI_{name}");'
        shown = "false" if hidden else "true"
        yield f'  static MpiFunction function{{"MPI_{name}", CallKind::{kind}, {shown}}};'
        yield "  const TimedCall timed(function);"
        completes = kind in _COMPLETIONS and _requests(function) is not None
        # No captures where none are needed: they would make each rank's stack larger.
        yield f"  const auto call = {'[&](auto...)' if completes else '[](auto... all)'} {{"
        yield from (f"    {line}" for line in _body(function, kind, way, completes))
        yield "  };"
        recorded = _call(f"recorded<trace::calls::{name}>", "call", function.passed)
        yield "  if (is_recorded(timed))"
        yield f"    return {recorded};"
        yield f"  return call({function.passed});"
        yield "}"


def _requests(function: Function) -> Parameter | None:
    return function.parameter("MPI_Request*", "MPI_Request")


def _body(function: Function, kind: str, way: str, completes: bool) -> Iterator[str]:
    """Yield the statements that make the call."""
    name = function.name
    passed = function.passed if completes else "all..."
    if way == "checked":
        yield f"return checked(arguments::{name}{{{passed}}}, THEIRS);"
        return
    requests = _requests(function)
    if completes and requests is not None:
        counts = [one.name for one in function.parameters if one.name in ("count", "incount")]
        count = counts[0] if counts else "1"
        status = function.parameters[-1].name
        most = count if status == "array_of_statuses" else "1"
        address = requests.name if requests.type.endswith("*") else f"&{requests.name}"
        yield f"const PersistentScope scope({count}, {address}, {most}, {status});"
    if kind == "collectives":
        yield "if (intercommunicator_of(communicator_among(all...))) [[unlikely]]"
        yield f"  return between_{name}({passed});"
    if way == "theirs":
        yield f"return THEIRS({passed});"
    else:
        yield f"return {way}_{name}(THEIRS, {passed});"


def _structure(function: Function) -> Iterator[str]:
    yield f"struct {function.name} {{"
    yield f'  static constexpr const char* NAME = "{function.name}";'
    yield from (f"  {one.text};" for one in function.parameters)
    yield "  /** Calls a function of MPI's signature. */"
    yield "  template <class Function> auto pass_to(const Function& function) const"
    yield f"  {{ return function({function.passed}); }}"
    yield "};"


def _persistent(function: Function) -> Iterator[str]:
    name = function.name
    base = name.removesuffix("_init")
    start = ", ".join(one.name for one in function.parameters[:-2])  # without info and request
    yield ""
    yield f"WEFT_INTERPOSED {function.prototype('P')}"
    yield "{"
    yield f'  static MpiFunction function{{"MPI_{name}", CallKind::collectives, false}};'
    yield f"  return own_function<trace::calls::{name}>("
    yield f"      function, [&] {{ return check(arguments::{name}{{{function.passed}}}); }},"
    yield (
        f"      [&] {{ return make_persistent_collective(&PMPI_I{_lower(base)},"
        f" request, {start}); }},"
    )
    yield f"      {function.passed});"
    yield "}"


def _neighbor(function: Function, way: str) -> Iterator[str]:
    name = function.name
    yield ""
    yield f"WEFT_INTERPOSED {function.prototype('P')}"
    yield "{"
    yield f'  static MpiFunction function = is_collective("MPI_{name}");'
    yield f"  return {way}<trace::calls::{name}>(function, {function.passed});"
    yield "}"


def _handled(function: Function) -> Iterator[str]:
    """Yield the MPI_… of a PMPI_…, which reports errors to the handler of the call's object."""
    comm = function.parameter("MPI_Comm")
    session = function.parameter("MPI_Session", "MPI_Session*")
    handler, holder = "handled", comm.name if comm else "MPI_COMM_WORLD"
    if session:
        handler = "handled_by_session"
        pointed = f"{session.name} ? *{session.name} : nullptr"
        holder = pointed if session.type.endswith("*") else session.name
    name = function.name
    yield ""
    yield f"WEFT_INTERPOSED {function.prototype('')}"
    yield "{"
    yield f'  return weft::{handler}({holder}, "MPI_{name}", PMPI_{name}({function.passed}));'
    yield "}"
