// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_coarse.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/** Makes a connection's overhead that of @p messages messages, of which those after the first @p early are late. */
void merge_messages(NcclLane& lane, double messages, double early)
{
  const double usual    = std::min(messages, early);
  lane.between.overhead = lane.between.overhead * usual + lane.late.overhead * (messages - usual);
  lane.late.overhead    = lane.late.overhead * messages;
  lane.within.overhead  = lane.within.overhead * messages;
}

} // namespace

NcclPlan coarse(NcclPlan plan, int ranks)
{
  const bool sums   = plan.collective == NcclCollective::allreduce;
  const bool blocks = plan.collective == NcclCollective::allgather || plan.collective == NcclCollective::reduce_scatter;
  if (plan.choice.algorithm != NcclAlgorithm::ring || not(sums || blocks))
    return plan;
  double most = 1;
  for (NcclLane& lane : plan.lanes) {
    const Bytes block   = plan.vector * lane.share / (sums ? static_cast<double>(ranks) : 1.0);
    const double chunks = std::max(1.0, std::ceil(block / lane.chunk - 1e-9));
    merge_messages(lane, chunks * plan.slices, plan.window);
    most       = std::max(most, chunks * plan.slices);
    lane.chunk = std::max(block, Bytes(1));
  }
  constexpr int LEAST = 2; // a rank waits for its send before it posts the receive after the next one
  plan.window         = std::max(LEAST, static_cast<int>(std::ceil(plan.window / most)));
  plan.slices         = 1;
  return plan;
}

} // namespace weft
