// SPDX-License-Identifier: LGPL-2.1-only
/* Rank of a process in a communicator and the communicator's group, memoized: SMPI's MPI_COMM_WORLD is one object that
 * represents all programs', and each query goes through SMPI's data about the rank. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

struct Place {
  int rank;
  int size; ///< ranks in the communicator
};

/** Returns the current rank's place in @p comm. The rank must be between MPI_Init and MPI_Finalize. */
Place place_in(MPI_Comm comm);

/** Returns the group of @p comm. The rank must be between MPI_Init and MPI_Finalize. */
MPI_Group group_of(MPI_Comm comm);

/** Returns whether the current rank is between MPI_Init and MPI_Finalize. */
bool is_in_mpi();
/** Records that the current rank finalizes. */
void leaves_mpi();

} // namespace weft
