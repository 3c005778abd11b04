# SPDX-License-Identifier: LGPL-2.1-only
"""Writes what derives from MPI's tables: `python -m mpi SOURCES FOLDER [SMPI]`.

SOURCES is weft's src, FOLDER is created, SMPI is SimGrid's smpi/smpi.h; without it, only what the
core needs is written.
"""

import sys
from pathlib import Path

from mpi import (
    c,
    entries,
    fortran_modules,
    fortran_procedures,
    header,
    large_counts,
    tables,
    traced_calls,
)

WIDTH = 120


def core(rows: list[tables.Procedure]) -> dict[str, str]:
    """Return the files of the core by their names."""
    return {"core/trace/traced_calls.hpp": traced_calls.text(rows)}


def binding(rows: list[tables.Procedure], smpi: Path) -> dict[str, str]:
    """Return the files of the binding, in C++ and C, by their names."""
    functions = c.functions(rows, smpi)
    return {
        "include/weft_mpi_functions.h": entries.prototypes(functions.values()),
        "include/mpi/arguments.hpp": entries.arguments(functions.values()),
        "include/mpi/between.hpp": entries.between(functions),
        "include/mpi/timed_calls.inc": entries.timed(functions.values()),
        "include/mpi/persistent_collectives.inc": entries.persistent(functions),
        "include/mpi/neighbor_calls.inc": entries.neighbors(functions.values()),
        "sources/handled_calls.cpp": entries.handled(functions.values()),
        "sources/large_counts.cpp": large_counts.text(functions),
    }


def fortran(rows: list[tables.Procedure], constants: tables.Constants) -> dict[str, str]:
    """Return the files of Fortran's interface by their names."""
    both = tables.with_large_forms(rows)
    small = [row for row in rows if not row.is_large]
    return {
        "fortran/mpi_f08.f90": fortran_modules.f08(both, constants),
        "fortran/small/mpi_f08.f90": fortran_modules.f08(small, constants),
        "fortran/large/mpi_f08.f90": fortran_modules.f08(tables.alone(both), constants),
        "fortran/mpi.f90": fortran_modules.mpi(rows, constants),
        "fortran/mpif.h": fortran_modules.include_file(constants),
        "sources/fortran_procedures.cpp": fortran_procedures.text(rows, constants),
    }


def wrapped(text: str) -> str:
    """Return C or C++ with lines of at most 120 characters, where commas allow."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        rest = line
        while len(rest) > WIDTH and (comma := rest.rfind(", ", len(indent), WIDTH)) > 0:
            lines.append(rest[: comma + 1])
            rest = indent + rest[comma + 2 :]
        lines.append(rest)
    return "\n".join(lines) + "\n"


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files, unless their content is unchanged."""
    for name, written in files.items():
        path = folder / name
        text = wrapped(written) if path.suffix in (".h", ".hpp", ".inc", ".cpp") else written
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def main(sources: Path, folder: Path, smpi: Path | None) -> None:
    """Read the tables and write all files."""
    rows = tables.procedures(sources / "mpi" / "procedures")
    write(folder, core(rows))
    if smpi:
        write(folder, binding(rows, smpi))
        constants = tables.constants(sources / "binding" / "fortran" / "constants")
        write(folder, fortran(rows, constants))
        functions = folder / "include" / "weft_mpi_functions.h"
        programs = header.files(smpi, functions)
        write(folder, {f"programs/{name}": text for name, text in programs.items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
