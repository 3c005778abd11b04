// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_COMM_WORLD in a run of several programs, where SMPI's variable is one object that stands for the world of the
 * current rank (src/smpi/mpi/smpi_comm.cpp). SMPI keeps error handlers, attributes, info and windows in that object,
 * so that programs would share them; here they belong to the rank and to its program's world.
 *
 * SimGrid's kernel, in which the last reference to a request may be dropped, has no world, and SMPI would crash. The
 * world then keeps the reference: it lives as long as its program's ranks anyway. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Returns the world of the current rank for SMPI's object that stands for it, and any other communicator as it is. */
MPI_Comm real_communicator(MPI_Comm comm);

/** Gives @p made the current rank's error handler of @p original, if that stands for the rank's world. */
void inherit_error_handler(MPI_Comm original, MPI_Comm made);

} // namespace weft
