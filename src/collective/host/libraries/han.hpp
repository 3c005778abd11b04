// SPDX-License-Identifier: LGPL-2.1-only
/* Open MPI's component HAN: collectives in two levels, within hosts and between them (ompi/mca/coll/han, version 5.0).
 *
 * The ranks of a host form one communicator (low), those with the same place on all hosts another (up), and the
 * collectives on them are the library's: `tuned` for calls that block and `libnbc` for those between hosts that do not.
 * Long vectors are cut into segments, of which one crosses hosts while another is dealt with within them. X. Luo et
 * al.: HAN: a Hierarchical AutotuNed Collective Communication Framework. IEEE Cluster 2020.
 *
 * What does not block makes progress whenever the rank waits within MPI, in whichever collective (together.hpp). Where
 * ranks do not share hosts as HAN needs it, a call is executed as if each rank had a host of its own, as HAN does it.
 */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Those that have one leader on each host hold for any number of ranks on them ...
Schedule han_allreduce(const HostCall& call, int rank, Tuning tuning);
Schedule han_barrier(const HostCall& call, int rank, Tuning tuning);
// ... others for as many ranks on each.
Schedule han_allgather(const HostCall& call, int rank, Tuning tuning);
Schedule han_bcast(const HostCall& call, int rank, Tuning tuning);
Schedule han_gather(const HostCall& call, int rank, Tuning tuning);
Schedule han_reduce(const HostCall& call, int rank, Tuning tuning);
Schedule han_scatter(const HostCall& call, int rank, Tuning tuning);

/** Whether ranks share hosts otherwise than HAN needs for @p call, which then is executed as if each had its own. */
bool han_ignores_hosts(const HostCall& call);

} // namespace weft
