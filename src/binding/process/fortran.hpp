// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran's files, of each rank its own.
 *
 * libgfortran numbers the units of a process, and refuses to open a file twice in it; ranks are processes on a real
 * machine, and here parts of one. So each rank's units get numbers of their own on the way into libgfortran, and files
 * look different to it from one rank to another. Units 0, 5 and 6 are the process's, until a rank opens a file as such.
 *
 * The layouts are libgfortran 5's (GCC 8 and later): libgfortran/io/io.h, gcc/fortran/ioparm.def.
 */
#pragma once

namespace weft {

/** Write what C's and Fortran's buffers hold. */
void flush_output();

} // namespace weft
