/* The streams of an in-network collective: what a packet pipeline really does.
 *
 * Packets climb the tree, are added up in slots, and the results stream down while later packets still climb. On a
 * quiet fabric a collective of S bytes that starts with its last contribution lasts
 *
 *   base_latency + the longest streaming_time(S, line rate, turnaround) of the tree's switches
 *
 * with base_latency = host overhead + longest way up (links, forwarding, processing) + longest way down
 *                     + (ranks that share a NIC - 1) x message gap,
 * line rate = the slowest of a switch's links, each divided by the messages that cross it, and
 * turnaround = the switch's own, measured with one switch, + what the tree's round trip is longer than with one.
 * Where other traffic leaves less than that, the solver's share of the busiest link holds instead.
 *
 * There is one stream a switch, over the links that it owns: the cost of SimGrid's solver grows with the square of a
 * flow's links.
 */
#pragma once

#include "collective/reduction_tree.hpp"

#include <vector>

namespace weft {

/** The stream of one tree switch. */
struct StreamPlan {
  Bytes wire;                ///< of one message, packets with their overhead; a whole number
  BytesPerSecond rate_limit; ///< of those, never exceeded even when nothing else uses the links
};

/** Plan an aggregation of @p message bytes (more than zero) over @p tree: one stream a switch, in the tree's order. */
std::vector<StreamPlan> plan_streams(const Fabric& fabric, const ReductionTree& tree, Bytes message);

/** host overhead + longest way up + longest way down + NIC gaps. */
Seconds base_latency(const Fabric& fabric, const ReductionTree& tree);

} // namespace weft
