// SPDX-License-Identifier: LGPL-2.1-only
/* Where a rank is in a communicator, looked up once: SMPI's MPI_COMM_WORLD is one object that stands for all programs',
 * and each question to it goes by way of what SMPI knows of the rank. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

struct Place {
  int rank;
  int size; ///< of the communicator
};

/** The current rank's. @p comm is a communicator, and the rank is between MPI_Init and MPI_Finalize. */
Place place_in(MPI_Comm comm);

/** Whether the current rank is between MPI_Init and MPI_Finalize. */
bool is_in_mpi();
/** It no longer is: it finalizes. */
void leaves_mpi();

} // namespace weft
