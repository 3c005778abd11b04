// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives on intercommunicators, in which each group receives the data of the opposite group (MPI 5.0, section
 * 6.2.3).
 *
 * Algorithms of MPICH (src/mpi/coll/<collective>/<collective>_inter_*.c, version 4.2), for non-blocking calls too. For
 * Allreduce, Bcast, Reduce and Allgather, Open MPI sends the same messages (ompi/mca/coll/inter/coll_inter_*.c, version
 * 5.0). Steps within a group are the library's algorithms for calls on the local group. */
#pragma once

#include "collective/host/selection/algorithms.hpp"

namespace weft {

/** Returns the algorithm of a collective on an intercommunicator; null if MPI does not define it there. */
const Algorithm* algorithm_between_groups(std::string_view collective);

} // namespace weft
