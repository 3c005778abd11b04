// SPDX-License-Identifier: LGPL-2.1-only
/* The numbers of communicators. SMPI agrees on one by a Bcast over the communicator that is being made, whatever a
 * Bcast costs; here its members agree in memory, in no time. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** SMPI's number of a communicator, the same at all members: -1 for the MPI_COMM_WORLD of each program, MPI_UNDEFINED
 * while SMPI is still making it. */
int number_of(MPI_Comm comm);

/** Whether SMPI is in the middle of making @p comm: its Bcast over it is the agreement on the number. */
bool is_being_made(MPI_Comm comm);

/** The number of the communicator that the members of @p comm are making; the same at all, new each time. */
int agreed_id(MPI_Comm comm);

} // namespace weft
