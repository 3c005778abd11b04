// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran I/O units and files, separate for each rank.
 *
 * libgfortran numbers the units of a process and refuses to open a file twice. Since all ranks run
 * in one process, each rank's unit numbers are mapped to unique ones on the way into libgfortran,
 * and a file appears as a different one to each rank. Units 0, 5 and 6 belong to the process until
 * a rank opens a file as such a unit.
 *
 * Layouts are those of libgfortran 5 (GCC 8 and later): libgfortran/io/io.h,
 * gcc/fortran/ioparm.def. */
#pragma once

namespace weft {

/** Flushes all output buffers of C and Fortran. */
void flush_output();

} // namespace weft
