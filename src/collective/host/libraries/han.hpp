// SPDX-License-Identifier: LGPL-2.1-only
/* Open MPI's component HAN: collectives in two levels, within hosts and between them
 * (ompi/mca/coll/han, version 5.0).
 *
 * The ranks of a host form one communicator (low), the ranks with the same index on all hosts another (up). The
 * library's own collectives run on both: `tuned` for blocking calls, and `libnbc` for non-blocking calls between hosts.
 * Long vectors are pipelined: one segment crosses hosts while
 * another is processed within them. X. Luo et al.: HAN: a Hierarchical AutotuNed Collective
 * Communication Framework. IEEE Cluster 2020.
 *
 * Non-blocking calls make progress whenever the rank waits within MPI, in any collective
 * (concurrent.hpp). If the placement does not meet HAN's requirements, a call is executed as if each
 * rank had a host of its own, as in HAN.
 */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Algorithms with one leader per host, for any number of ranks on each ...
Schedule han_allreduce(const HostCall& call, int rank, Tuning tuning);
Schedule han_barrier(const HostCall& call, int rank, Tuning tuning);
// ... and algorithms that require the same number of ranks on each host.
Schedule han_allgather(const HostCall& call, int rank, Tuning tuning);
Schedule han_bcast(const HostCall& call, int rank, Tuning tuning);
Schedule han_gather(const HostCall& call, int rank, Tuning tuning);
Schedule han_reduce(const HostCall& call, int rank, Tuning tuning);
Schedule han_scatter(const HostCall& call, int rank, Tuning tuning);

/** Returns whether the placement does not meet HAN's requirements for @p call, which is then executed as if each rank
 * had its own host. */
bool han_ignores_hosts(const HostCall& call);

} // namespace weft
