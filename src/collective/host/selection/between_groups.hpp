// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives on intercommunicators, in which each group gets what the other gives (MPI 5.0, section 6.2.3).
 *
 * Algorithms of MPICH (src/mpi/coll/<collective>/<collective>_inter_*.c, version 4.2), also for calls that do not
 * block. Those of Allreduce, Bcast, Reduce and Allgather send the same messages in Open MPI
 * (ompi/mca/coll/inter/coll_inter_*.c, version 5.0). Steps within a group are the library's algorithms for calls on
 * the local group. */
#pragma once

#include "collective/host/selection/algorithms.hpp"

namespace weft {

/** Returns the algorithm of a collective on an intercommunicator; null if MPI does not define it there. */
const Algorithm* algorithm_between_groups(std::string_view collective);

} // namespace weft
