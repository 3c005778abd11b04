// SPDX-License-Identifier: LGPL-2.1-only
/* Neighbourhood collectives: messages to and from all neighbours at once. Algorithms of Open MPI
 * (ompi/mca/coll/basic/coll_basic_neighbor_*.c, ompi/mca/coll/libnbc/nbc_ineighbor_*.c, version 5.0)
 *  and MPICH (src/mpi/coll/ineighbor_*, version 4.2, for blocking calls too).
 *
 * Messages between two ranks match in the order in which they are sent. In a Cartesian topology with
 * a periodic dimension of one or two ranks, the neighbours in both directions are the same rank, and
 * a block sent in one direction belongs to the receiver's opposite direction (MPI 4.1, section 8.6).
 * Open MPI has a tag for each direction; MPICH, and all algorithms here, exchange the two receives of
 * each dimension. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

/** Posts all receives, then all sends. */
Schedule neighbor_linear(const HostCall& call, int rank, Tuning tuning);

/** Posts the receive from each neighbour together with the send to it, like Open MPI's Neighbor_allgather; same as
 * neighbor_linear() if the neighbours are directed. */
Schedule neighbor_alternating(const HostCall& call, int rank, Tuning tuning);

/** Returns a call of a neighbourhood collective on a periodic one-dimensional Cartesian topology, for tables and tests.
 * Other calls are returned unchanged. */
HostCall on_a_ring(HostCall call);

/** Posts all sends, then all receives, as MPICH does. */
Schedule neighbor_sends_first(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
