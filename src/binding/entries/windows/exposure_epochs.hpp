// SPDX-License-Identifier: LGPL-2.1-only
/* Exposure epochs of windows (MPI_Win_post), for MPI_Win_test, which SMPI lacks. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
int exposed_Win_post(decltype(&PMPI_Win_post) next_definition, MPI_Group group, int assertion, MPI_Win win);

} // namespace weft
