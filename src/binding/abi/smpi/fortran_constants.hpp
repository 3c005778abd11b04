// SPDX-License-Identifier: LGPL-2.1-only
/* Variables whose addresses represent C's constants in Fortran (src/smpi/mpi/smpi_f2c.cpp). */
#pragma once

// NOLINTBEGIN(readability-identifier-naming)
extern const int mpi_bottom_;
extern const int mpi_in_place_;
extern const int mpi_status_ignore_;
extern const int mpi_statuses_ignore_;
// NOLINTEND(readability-identifier-naming)
