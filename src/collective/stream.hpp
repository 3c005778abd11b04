/* The stream of an in-network collective: what a packet pipeline really does.
 *
 * Packets climb the tree, are added up in slots, and the results stream down while later packets still climb. On a
 * quiet fabric a collective of S bytes that starts with its last contribution lasts
 *
 *   base_latency + streaming_time(S, line rate)
 *
 * with base_latency = host overhead + longest way up + processing at each tree switch + longest way down
 *                     + (ranks that share a NIC - 1) x message gap,
 * and the line rate = the slowest tree link's bandwidth / the contributions that cross it. Where other traffic leaves
 * less than that, the solver's share of the busiest link holds instead.
 */
#pragma once

#include "collective/reduction_tree.hpp"

namespace weft {

struct StreamPlan {
  Seconds base_latency;
  Bytes wire;                ///< of one contribution, packets with their overhead; a whole number
  BytesPerSecond rate_limit; ///< of those, never exceeded even when nothing else uses the tree
};

/** Plan an aggregation of @p message bytes (more than zero) over @p tree. */
StreamPlan plan_stream(const Fabric& fabric, const ReductionTree& tree, Bytes message);

/** host overhead + longest way up + processing + longest way down + NIC gaps. */
Seconds base_latency(const Fabric& fabric, const ReductionTree& tree);

} // namespace weft
