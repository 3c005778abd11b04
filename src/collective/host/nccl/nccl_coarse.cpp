// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_coarse.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/** Slices of a step of a ring, as NCCL sends them. */
struct RingSlices {
  double chunks; ///< chunks per block
  double each;   ///< slices per chunk
  Bytes bytes;   ///< size of a slice on the wire
};

/** Returns the time that a rank takes to send a message, limited by the rate of the connection and of the route. */
Seconds sending(const Connection& over, const NcclWay& way, Bytes bytes)
{
  const Seconds carried = way.latency + (way.rate > BytesPerSecond() ? bytes / way.rate : Seconds());
  return over.rate > BytesPerSecond() ? std::max(carried, bytes / over.rate) : carried;
}

/** Returns the time between the starts of two steps: the first slice must have arrived, and the last one must have been
 * sent.
 */
Seconds period(const Connection& over, const NcclWay& way, const RingSlices& slices)
{
  const Seconds one = sending(over, way, slices.bytes);
  return std::max(one * slices.each, one + over.latency) * slices.chunks;
}

/** Returns a connection for one message per step, with the same sender occupancy and arrival time as the step's slices.
 */
Connection connection_of_all(Connection over, const NcclWay& way, const RingSlices& slices)
{
  const double number = slices.each * slices.chunks;
  const Seconds sent  = sending(over, way, slices.bytes) * number;
  over.latency        = std::max(Seconds(), period(over, way, slices) - sent);
  if (sent > Seconds() && slices.bytes > Bytes())
    over.rate = slices.bytes * number / sent;
  return over;
}

/** Sets a connection's overhead to the sum over @p messages messages, of which all after the first @p early are
 * late. */
void merge_messages(NcclLane& lane, double messages, double early)
{
  const double usual    = std::min(messages, early);
  lane.between.overhead = lane.between.overhead * usual + lane.late.overhead * (messages - usual);
  lane.late.overhead    = lane.late.overhead * messages;
  lane.within.overhead  = lane.within.overhead * messages;
}

} // namespace

NcclPlan coarse(NcclPlan plan, int ranks, const NcclWays& ways)
{
  const bool sums   = plan.collective == NcclCollective::allreduce;
  const bool blocks = plan.collective == NcclCollective::allgather || plan.collective == NcclCollective::reduce_scatter;
  if (plan.choice.algorithm != NcclAlgorithm::ring || not(sums || blocks))
    return plan;
  double most = 1;
  Seconds last;
  for (NcclLane& lane : plan.lanes) {
    const Bytes block   = plan.vector * lane.share / (sums ? static_cast<double>(ranks) : 1.0);
    const double chunks = std::max(1.0, std::ceil(block / lane.chunk - 1e-9));
    const double each   = plan.slices;
    const RingSlices slices{chunks, each, block * plan.wire / (chunks * each)};
    const bool one_node     = plan.nodes.number() <= 1;
    const Connection& usual = one_node ? lane.within : lane.between;
    const NcclWay& way      = one_node ? ways.within : ways.between;
    const Seconds rest      = sending(usual, way, slices.bytes) * each + usual.latency;
    last                    = std::max(last, rest - period(usual, way, slices) / chunks);
    lane.within             = connection_of_all(lane.within, ways.within, slices);
    lane.between            = connection_of_all(lane.between, ways.between, slices);
    lane.late               = connection_of_all(lane.late, ways.between, slices);
    merge_messages(lane, chunks * each, plan.window);
    most       = std::max(most, chunks * each);
    lane.chunk = std::max(block, Bytes(1));
  }
  constexpr int LEAST = 2; // a rank waits for its send before it posts the receive after the next one
  plan.window         = std::max(LEAST, static_cast<int>(std::ceil(plan.window / most)));
  plan.slices         = 1;
  plan.end.latency += last;
  return plan;
}

} // namespace weft
