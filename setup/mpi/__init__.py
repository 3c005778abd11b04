# SPDX-License-Identifier: LGPL-2.1-only
"""Generator of what derives from the table of MPI's procedures (src/mpi/procedures).

`tables` reads the table, `c` derives prototypes in C from it. `traced_calls` writes the calls that
traces know; `entries` the functions that programs call, around SMPI's and before the binding's;
`large_counts` the functions with large counts; `fortran_modules` the modules `mpi_f08` and `mpi`
and `mpif.h`; `fortran_procedures` the C++ functions behind them; `header` the mpi.h of simulated
programs. CMake runs `python -m mpi`.
"""
