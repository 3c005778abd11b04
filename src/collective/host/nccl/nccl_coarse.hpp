// SPDX-License-Identifier: LGPL-2.1-only
/* Plans of rings with fewer messages, for workloads with millions of calls.
 *
 * NCCL divides a rank's block into chunks and slices, which follow each other on a connection; a coarse plan has one
 * message for all of them. Its latency is chosen such that a step takes as long as with slices, whether or not a rank
 * has sent the last slice when it forwards the first. Additional time of a call's last message is added to the end of
 * the call. */
#pragma once

#include "collective/host/nccl/nccl_plan.hpp"

namespace weft {

/** Route between two GPUs. */
struct NcclWay {
  Seconds latency{};
  BytesPerSecond rate{}; ///< rate of its narrowest link; 0: unlimited
};

/** Routes between neighbours of a ring. */
struct NcclWays {
  NcclWay within{};  ///< within a node
  NcclWay between{}; ///< between nodes
};

/** Returns @p plan with one message for each step of a ring; unchanged if it has no rings that forward blocks. */
NcclPlan coarse(NcclPlan plan, int ranks, const NcclWays& ways);

} // namespace weft
