// SPDX-License-Identifier: LGPL-2.1-only
/* Predefined handles as constants of programs. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Records the world that SMPI creates, for a program that is loaded before MPI_COMM_WORLD is set. */
void remember_world(MPI_Comm world);

/** Returns the world that SMPI created last. */
MPI_Comm latest_world();

} // namespace weft
