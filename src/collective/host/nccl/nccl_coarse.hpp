// SPDX-License-Identifier: LGPL-2.1-only
/* Plans of rings with fewer messages, for workloads with millions of calls.
 *
 * NCCL divides a rank's block into chunks and slices, which follow each other on a connection; a coarse plan has one
 * message for all of them. Its latency is such that a step takes as long as with slices: a rank passes on the first one
 * when it has come, and has sent the last one by then, or not. What the last message of a call takes longer is in the
 * call's end. */
#pragma once

#include "collective/host/nccl/nccl_plan.hpp"

namespace weft {

/** Route between two GPUs. */
struct NcclWay {
  Seconds latency{};
  BytesPerSecond rate{}; ///< of its narrowest link; 0: unlimited
};

/** Routes between neighbours of a ring. */
struct NcclWays {
  NcclWay within{};  ///< a node
  NcclWay between{}; ///< nodes
};

/** Returns @p plan with one message for each step of a ring; unchanged if it has no rings that pass blocks around. */
NcclPlan coarse(NcclPlan plan, int ranks, const NcclWays& ways);

} // namespace weft
