// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

/** Marks a function that Fortran calls, and that interposes on SMPI's of the same name. */
#define WEFT_FORTRAN __attribute__((visibility("default")))

/** Variables of Fortran whose addresses represent C's constants.
 *
 * mpif.h and the module mpi use those of SMPI's library; mpi_f08 uses others, since gfortran refuses a source that uses
 * both modules if two variables share one linker name. */
namespace weft::fortran {

bool is_bottom(const void* address);
bool is_in_place(const void* address);
/** MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. */
bool is_status_ignore(const void* address);
bool is_unweighted(const void* address);
bool is_weights_empty(const void* address);
/** MPI_ARGV_NULL or MPI_ARGVS_NULL. */
bool is_argv_null(const void* address);
bool is_errcodes_ignore(const void* address);

} // namespace weft::fortran
