# SPDX-License-Identifier: LGPL-2.1-only
"""Writes the large-count forms of MPI functions (MPI_Send_c and others) from their prototypes.

A count that fits an int is passed on. A larger count with a datatype becomes fewer elements of a
larger datatype, and a blocking reduction of one vector is executed in pieces. Counts without a
suitable divisor, and all other reductions of more elements than an int can count, are errors of
class MPI_ERR_COUNT.

large_counts.py INCLUDE_DIRECTORY FOLDER: SimGrid's headers, and where weft_mpi_large.h and
large_counts.cpp go.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADER = ROOT / "src/compilers/include/mpi/weft_mpi.h"
SENDS = ("Send", "Bsend", "Ssend", "Rsend")
COLLECTIVES = (
    *("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Bcast"),
    *("Exscan", "Gather", "Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan"),
    *("Scatter", "Scatterv", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall"),
    *("Neighbor_alltoallv", "Neighbor_alltoallw"),
)
FILE_READS_AND_WRITES = tuple(
    name
    for way in ("read", "write")
    for name in (
        *(f"File_{way}{where}" for where in ("", "_all", "_at", "_at_all", "_shared", "_ordered")),
        *(f"File_i{way}{where}" for where in ("", "_all", "_at", "_at_all", "_shared")),
        *(f"File_{way}{where}_begin" for where in ("_all", "_at_all", "_ordered")),
    )
)
FUNCTIONS = (
    *SENDS,
    *(f"I{name.lower()}" for name in SENDS),
    *(f"{name}_init" for name in SENDS),
    *("Recv", "Irecv", "Recv_init", "Mrecv", "Imrecv"),
    *("Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"),
    *COLLECTIVES,
    *(f"I{name[0].lower()}{name[1:]}" for name in COLLECTIVES),
    *(f"{name}_init" for name in COLLECTIVES),
    *("Put", "Get", "Accumulate", "Get_accumulate"),
    *("Rput", "Rget", "Raccumulate", "Rget_accumulate", "Reduce_local"),
    *FILE_READS_AND_WRITES,
)
IN_PIECES = ("Allreduce", "Reduce", "Scan", "Exscan", "Reduce_local")
"""Reductions with independent elements, which may be executed in pieces."""
ROOT_ONLY = {"Gatherv": "recv", "Scatterv": "send"}
"""Side whose arrays are significant only at the root."""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a prototype, and its type in the large-count form."""

    type: str
    name: str

    @property
    def counts(self) -> bool:
        """Return true for a count of elements."""
        return self.type == "int" and self.name.endswith("count")

    @property
    def lists(self) -> bool:
        """Return true for an array of counts or displacements as ints."""
        return self.type == "const int*"

    @property
    def large_type(self) -> str:
        """Return the type in the large-count form."""
        if self.counts:
            return "MPI_Count"
        if self.lists:
            return "const MPI_Aint*" if "dis" in self.name else "const MPI_Count*"
        return self.type

    @property
    def sends(self) -> bool:
        """Return true for a parameter of the send side."""
        return self.name.startswith("s")


def prototypes(include: Path) -> dict[str, list[Parameter]]:
    """Return the parameters of all functions by name."""
    theirs = (include / "smpi/smpi.h").read_text()
    ours = HEADER.read_text()
    found = re.findall(r"MPI_CALL\(XBT_PUBLIC int, MPI_(\w+),\s*\((.*?)\)\);", theirs, re.DOTALL)
    found += re.findall(r"^int MPI_(\w+)\((.*?)\);", ours, re.DOTALL | re.MULTILINE)
    wanted = {name: text for name, text in found if name in FUNCTIONS}
    return {name: [parameter(one) for one in text.split(",")] for name, text in wanted.items()}


def parameter(text: str) -> Parameter:
    """Parse "const int* recvcounts"."""
    match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\])?", " ".join(text.split()))
    assert match is not None, text
    kind = match[1].strip().replace(" *", "*") + ("*" if match[3] else "")
    return Parameter(kind, match[2])


def declaration(prefix: str, name: str, parameters: list[Parameter]) -> str:
    """Return the function's declaration, without a semicolon."""
    listed = ", ".join(f"{one.large_type} {one.name}" for one in parameters)
    return f"int {prefix}MPI_{name}_c({listed})"


def definition(prefix: str, name: str, parameters: list[Parameter]) -> str:
    """Return the function's definition."""
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
    body = "\n  ".join(lines)
    return f"WEFT_INTERPOSED {declaration(prefix, name, parameters)}\n{{\n  {body}\n}}\n"


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


def main() -> None:
    """Write the header and the source if they have changed."""
    known = prototypes(Path(sys.argv[1]))
    both = [(prefix, name, known[name]) for name in FUNCTIONS for prefix in ("", "P")]
    guard = "WEFT_MPI_LARGE_H"
    declarations = "\n".join(f"{declaration(*one)};" for one in both)
    header = (
        "/* SPDX-License-Identifier: LGPL-2.1-only */\n"
        "/* Large-count forms of MPI functions. */\n"
        f"#ifndef {guard}\n#define {guard}\n\n{declarations}\n\n#endif\n"
    )
    definitions = "\n".join(definition(*one) for one in both)
    used = "\n".join(
        f"int {prefix}MPI_{name}({', '.join(f'{one.type} {one.name}' for one in parameters)});"
        for prefix, name, parameters in both
        if name.endswith("_init") and name.removesuffix("_init") in COLLECTIVES
    )
    source = (
        "// SPDX-License-Identifier: LGPL-2.1-only\n"
        "/* Large-count forms of MPI functions. */\n"
        '#include "binding/entries/added/large_counts.hpp"\n\n'
        "using namespace weft; // NOLINT(google-build-using-namespace): "
        "what these do is all weft's\n\n"
        "// NOLINTBEGIN(readability-identifier-naming): MPI's names\n"
        f'extern "C" {{\n\n{used}\n\n{definitions}\n}} // extern "C"\n'
        "// NOLINTEND(readability-identifier-naming)\n"
    )
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("weft_mpi_large.h", header), ("large_counts.cpp", source)):
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
