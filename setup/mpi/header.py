# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the mpi.h of simulated programs from the declarations of SimGrid and weft.

SimGrid's mpi.h includes its own headers, <unistd.h> and others, and redefines `assert`. The header
written here declares only MPI: every name begins with MPI_ or PMPI_, or is reserved for
implementations. Predefined handles are addresses of objects, which C and C++ accept in the
initializers of static variables. MPI functions are ordinary, strong references, so that linkers
find wrappers for them in archives.

smpi/smpi.h contains SimGrid's declarations beyond MPI: sampling, shared memory, execution of
operations.
"""

import re
from pathlib import Path

OWN = Path(__file__).parent.parent.parent / "src/compilers/include/mpi"
OPAQUE = {
    name: f"struct MPI_weft_{name.lower()}"
    for name in ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Op", "Request", "Win")
}
"""Opaque types behind handles, which only weft defines in C and C++."""
OTHERS = {  # variables, calls or synonyms in SimGrid, or missing there: handle, symbol
    "MPI_COMM_WORLD": ("Comm", "weft_comm_world"),
    "MPI_COMM_SELF": ("Comm", "weft_comm_self"),
    "MPI_INFO_ENV": ("Info", "weft_info_env"),
    "MPI_ERRORS_ABORT": ("Errhandler", "weft_errors_abort"),
    "MPI_2DOUBLE_PRECISION": ("Datatype", "weft_2double_precision"),
    "MPI_2INTEGER": ("Datatype", "weft_2integer"),
    "MPI_2REAL": ("Datatype", "weft_2real"),
    "MPI_CHARACTER": ("Datatype", "weft_character"),
    "MPI_COMPLEX": ("Datatype", "weft_complex"),
    "MPI_COMPLEX8": ("Datatype", "weft_complex8"),
    "MPI_COMPLEX16": ("Datatype", "weft_complex16"),
    "MPI_COMPLEX32": ("Datatype", "weft_complex32"),
    "MPI_DOUBLE_COMPLEX": ("Datatype", "weft_double_complex"),
    "MPI_DOUBLE_PRECISION": ("Datatype", "weft_double_precision"),
    "MPI_INTEGER": ("Datatype", "weft_integer"),
    "MPI_INTEGER1": ("Datatype", "weft_integer1"),
    "MPI_INTEGER2": ("Datatype", "weft_integer2"),
    "MPI_INTEGER4": ("Datatype", "weft_integer4"),
    "MPI_INTEGER8": ("Datatype", "weft_integer8"),
    "MPI_LOGICAL": ("Datatype", "weft_logical"),
    "MPI_LOGICAL1": ("Datatype", "weft_logical1"),
    "MPI_LOGICAL2": ("Datatype", "weft_logical2"),
    "MPI_LOGICAL4": ("Datatype", "weft_logical4"),
    "MPI_LOGICAL8": ("Datatype", "weft_logical8"),
}
MISSPELT = {  # SimGrid's symbols for constants that its header names differently
    "MPI_CXX_FLOAT_COMPLEX": "smpi_MPI_CXX_FLOAT_COMPLEX",
    "MPI_CXX_DOUBLE_COMPLEX": "smpi_MPI_CXX_DOUBLE_COMPLEX",
    "MPI_CXX_LONG_DOUBLE_COMPLEX": "smpi_MPI_CXX_LONG_DOUBLE_COMPLEX",
}
REMARKS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ENUM = re.compile(r"(?:typedef\s+)?enum\s*(\w*)\s*\{([^}]*)\}\s*\w*;")
CONSTANT = re.compile(r"#define (MPI_\w+) SMPI_PREDEFINED_POINTER\(MPI_(\w+), (\w+)\)")


def without_remarks(text: str) -> str:
    """Return C code without comments, and with every directive on one line."""
    return REMARKS.sub(" ", text).replace("\\\n", " ")


def enumerators(body: str) -> str:
    """Return the constants of an enumeration as macros."""
    lines, value = [], -1
    for word in filter(None, (part.strip() for part in body.split(","))):
        name, _, given = (part.strip() for part in word.partition("="))
        value = int(given) if given else value + 1
        lines.append(f"#define {name} {value if value >= 0 else f'({value})'}")
    return "\n".join(lines)


def predefined(handle: str, symbol: str) -> str:
    """Return the declaration of a predefined object, whose name in programs is reserved."""
    name = f"MPI_weft_{symbol.removeprefix('smpi_MPI_').removeprefix('weft_')}"
    return f'extern {OPAQUE[handle]} {name} __asm__("{symbol}");'


def constant(name: str, handle: str, symbol: str) -> str:
    """Return the declaration of a predefined handle."""
    declaration = predefined(handle, symbol)
    return f"{declaration}\n#define {name} (&{declaration.split()[3]})"


def of_mpi(text: str) -> str:
    """Return SimGrid's declarations of MPI in the names of programs."""
    errors = re.search(r"#define FOREACH_ERROR\(ERROR\)(.*)\n", text)
    assert errors
    names = ",".join(re.findall(r"ERROR\((\w+)\)", errors[1]))
    text = re.sub(r"#define (FOREACH_ERROR|GENERATE_\w+|SMPI_PREDEFINED_POINTER)\b.*\n", "", text)
    text = re.sub(r"enum ERROR_ENUM \{[^}]*\};", f"enum {{{names}}};", text)
    text = ENUM.sub(lambda found: enumerators(found[2]), text)
    text = re.sub(r"(?<!\w)extern SMPI_\w+ \w+;\n", "", text)
    text = CONSTANT.sub(
        lambda found: constant(found[1], found[2], MISSPELT.get(found[1], found[3])), text
    )
    for name in (*OTHERS, "MPIO_Request"):
        text = re.sub(rf"(XBT_PUBLIC_DATA MPI_Comm {name};|#define {name} .*)\n", "", text)
    text = re.sub(
        r"MPI_CALL\(XBT_PUBLIC\s+([\w ]+?\**),\s*(MPI_\w+),\s*(\((?:[^;])*\))\s*\);",
        r"\1 \2\3;\n\1 P\2\3;",
        text,
    )
    for name, tag in OPAQUE.items():
        text = re.sub(rf"\bSMPI_{name}\b", tag, text)
    text = re.sub(r"\bNULL\b", "0", text.replace("ptrdiff_t", "__PTRDIFF_TYPE__"))
    text = re.sub(
        r"#define (MPI_\w+) \((?!\()(\w[\w ]*\*+)\) ?(-?\w+)", r"#define \1 ((\2)\3)", text
    )
    return re.sub(r"#define (MPI_\w+) +(-\d+)", r"#define \1 (\2)", text)


def of_weft(file: Path) -> str:
    """Return one of weft's headers without its include guard, with MPI names only."""
    text = without_remarks(file.read_text())
    text = re.sub(r"#(ifndef|define) WEFT_MPI\w*_H\n", "", text)
    text = re.sub(r"#ifdef __cplusplus\s.*?#endif\n", "", text, flags=re.DOTALL)
    text = re.sub(r"#endif\s*$", "", text)
    text = re.sub(r"extern SMPI_\w+ \w+;\n#define MPI_ERRORS_ABORT .*\n", "", text)
    return re.sub(r'#include "(\w+\.h)"\n', "", re.sub(r"\bweft_(\w+)", r"MPI_weft_\1", text))


def header(mpi: str, own: list[Path]) -> str:
    """Return the text of mpi.h."""
    parts = [
        "/* Declarations of MPI for simulated programs; written by setup/mpi. */",
        "#ifndef MPI_INCLUDED\n#define MPI_INCLUDED\n#pragma GCC system_header",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        of_mpi(mpi),
        *(constant(name, *value) for name, value in OTHERS.items()),
        *(of_weft(file) for file in own),
        "#ifdef __cplusplus\n}\n#endif\n#endif",
        "#ifdef TRACE_CALL_LOCATION\n#include <smpi/smpi_extended_traces.h>\n#endif",
    ]
    text = re.sub(r"[ \t]+\n", "\n", "\n".join(parts))
    return re.sub(r"\n{2,}", "\n", text) + "\n"


def extensions(rest: str) -> str:
    """Return the text of smpi/smpi.h: SimGrid's functions beyond MPI."""
    rest = re.sub(r"SG_END_DECL.*", "", rest, flags=re.DOTALL)
    rest = re.sub(r"XBT_PUBLIC [^;]*\b(smx_activity_t|xbt_main_func_t)\b[^;]*;", "", rest)
    rest = rest.replace("XBT_PUBLIC ", "")
    rest = rest.replace("_XBT_CONCAT", "SMPI_CONCAT").replace("_XBT_STRINGIFY", "SMPI_STRINGIFY")
    return f"""/* SimGrid's functions for simulated programs; written by setup/mpi. */
#ifndef SMPI_H
#define SMPI_H
#pragma GCC system_header
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#define SMPI_CONCAT(first, second) first##second
#define SMPI_STRINGIFY(word) #word
#ifdef __cplusplus
extern "C" {{
#endif
void smpi_shared_free(void* data);
{rest}
#ifdef __cplusplus
}}
#endif
#endif
"""


def files(smpi: Path, functions: Path) -> dict[str, str]:
    """Return the headers by their names, given SimGrid's smpi.h and weft_mpi_functions.h."""
    _, _, text = smpi.read_text(encoding="utf-8").partition("SG_BEGIN_DECL")
    mpi, _, rest = text.partition("// smpi functions")
    own = [OWN / "weft_mpi.h", functions, OWN / "weft_mpi_t.h"]
    return {"mpi.h": header(without_remarks(mpi), own), "smpi/smpi.h": extensions(rest)}
