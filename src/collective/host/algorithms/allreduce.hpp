// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

Schedule allreduce_linear(const HostCall& call, int rank, Tuning tuning);
/** The library's Reduce to rank 0, then its Bcast. */
Schedule allreduce_nonoverlapping(const HostCall& call, int rank, Tuning tuning);
Schedule allreduce_recursive_doubling(const HostCall& call, int rank, Tuning tuning);
Schedule allreduce_ring(const HostCall& call, int rank, Tuning tuning);
Schedule allreduce_segmented_ring(const HostCall& call, int rank, Tuning tuning);
Schedule allreduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);

/** Returns whether each rank has a segment to forward; otherwise allreduce_segmented_ring is allreduce_ring. */
bool fills_segmented_ring(const HostCall& call, Bytes segment);

} // namespace weft
