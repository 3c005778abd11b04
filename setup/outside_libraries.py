# SPDX-License-Identifier: LGPL-2.1-only
"""Writes stub libraries with the symbols that programs need outside the simulator.

A program needs libsimgrid.so and libweft.so by name. In a simulation, both are already loaded. A
program that is started directly finds stub libraries of these names in its DT_RPATH, which only
print how to run MPI programs (src/compilers/outside.cpp). Programs are also linked with the stubs:
they define the functions and data of MPI and SMPI, but not the functions of the C library that
libweft.so replaces.

outside_libraries.py NM LIBRARY SOURCE: the program nm, the simulator's library, and the C++ file to
write.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OF_PROGRAMS = re.compile(
    r"P?MPIX?_|p?mpi_|__mpi\w*_MOD_|A?P?MPI_|SMPI_|smpi_|_?sampi_|simgrid_|_?sg_|_?xbt_|TRACE_|MC_"
    r"|weft_((comm|info|errors|double|2double)_|(character|complex|logical|2?integer|2real)\d*$)"
    r"|_misuse_of_XBT|_ZNK?7simgrid"
)
"""Prefixes of the symbols that programs refer to."""
WRITTEN_BY_HAND = re.compile(
    r"smpi_(main|shared_((malloc|calloc|realloc)_intercept|free)|exit|getpid|u?sleep|nanosleep"
    r"|gettimeofday|clock_gettime|getopt\w*)|P?MPI_(Initialized|Finalized)"
)
"""Symbols of src/compilers/outside.cpp, and smpi_main, which identifies the simulator's library."""
FUNCTIONS, DATA = "TWi", "BDRVu"
ALIGNMENT = 32
"""Alignment of data: the largest that x86-64 compilers use for large variables."""


def symbols(nm: str, library: str) -> Iterator[tuple[str, str, int]]:
    """Yield kind, name and size of the symbols to which programs may refer."""
    command = [nm, "--dynamic", "--defined-only", "--print-size", "--portability", library]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in listed.splitlines():
        name, kind, *numbers = line.split()
        inline = name.startswith("_Z") and kind in "WVu"  # programs have their own copies
        known = OF_PROGRAMS.match(name) and not WRITTEN_BY_HAND.fullmatch(name)
        if known and not inline and kind in FUNCTIONS + DATA:
            yield kind, name, int(numbers[1], 16) if len(numbers) > 1 else 8


def function(name: str) -> str:
    """Return a function that reports its own name."""
    return (
        f".globl {name}\n.type {name}, @function\n{name}:\n"
        f"leaq 1f(%rip), %rdi\njmp weft_refuse_call\n"
        f'.pushsection .rodata\n1: .string "{name}"\n.popsection\n'
    )


def datum(name: str, size: int) -> str:
    """Return a variable of the same size without content."""
    return (
        f".globl {name}\n.type {name}, @object\n.size {name}, {size}\n"
        f'.pushsection .bss,"aw",@nobits\n.balign {ALIGNMENT}\n{name}: .zero {max(size, 1)}\n'
        ".popsection\n"
    )


def main() -> None:
    """Write the source named by the command line."""
    nm, library, source = sys.argv[1:]
    parts = [
        function(name) if kind in FUNCTIONS else datum(name, size)
        for kind, name, size in symbols(nm, library)
    ]
    text = "\n".join(parts)
    Path(source).write_text(f'__asm__(R"(.text\n{text})");\n')


if __name__ == "__main__":
    main()
