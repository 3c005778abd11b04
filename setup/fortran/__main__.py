# SPDX-License-Identifier: LGPL-2.1-only
"""Writes MPI's Fortran interface: `python -m fortran TABLES FOLDER`."""

import sys
from pathlib import Path

from fortran import modules, tables, wrappers


def main(folder: Path, target: Path) -> None:
    """Write the files, unless their content is unchanged."""
    rows = tables.procedures(folder / "procedures")
    constants = tables.constants(folder / "constants")
    both = tables.with_large_forms(rows)
    files = {
        "mpi_f08.f90": modules.f08(both, constants),
        "small/mpi_f08.f90": modules.f08([row for row in rows if not row.is_large], constants),
        "large/mpi_f08.f90": modules.f08(tables.alone(both), constants),
        "mpi.f90": modules.mpi(rows, constants),
        "mpif.h": modules.include_file(constants),
        "wrappers.cpp": wrappers.text(rows, constants),
    }
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
