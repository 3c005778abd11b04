# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of the MPI Fortran interface from the tables in src/binding/fortran.

`tables` reads these tables; `modules` writes the modules `mpi_f08` and `mpi` and `mpif.h`;
`wrappers` writes the C++ functions that implement the procedures. CMake runs `python -m fortran`.
"""
