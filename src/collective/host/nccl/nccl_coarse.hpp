// SPDX-License-Identifier: LGPL-2.1-only
/* Plans of rings with fewer messages, for workloads with millions of calls.
 *
 * NCCL divides a rank's block into chunks and slices, which follow each other on a connection; a coarse plan has one
 * message for all of them. A ring moves the same bytes in as many steps, each of which has its latency once; what is
 * lost is that the first slice of a step may leave before the last one of the step before has come. */
#pragma once

#include "collective/host/nccl/nccl_plan.hpp"

namespace weft {

/** Returns @p plan with one message for each step of a ring; unchanged if it has no rings that pass blocks around. */
NcclPlan coarse(NcclPlan plan, int ranks);

} // namespace weft
