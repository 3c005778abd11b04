// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Algorithms of Allgather and, except the first, of Allgatherv.
/** The library's Gather (or Gatherv) to rank 0, then its Bcast. */
Schedule allgather_linear(const HostCall& call, int rank, Tuning tuning);
Schedule allgather_bruck(const HostCall& call, int rank, Tuning tuning);
Schedule allgather_recursive_doubling(const HostCall& call, int rank, Tuning tuning);
Schedule allgather_ring(const HostCall& call, int rank, Tuning tuning);
Schedule allgather_neighbor(const HostCall& call, int rank, Tuning tuning);
Schedule allgather_two_proc(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
