// SPDX-License-Identifier: LGPL-2.1-only
/* The streams of an in-network collective: what a packet pipeline really does.
 *
 * Packets climb the tree, are added up in slots or copied, and come down while later packets still climb. On a quiet
 * fabric a collective that starts with its last contribution lasts
 *
 *   base_latency + the longest time that the packets need on the links of one of the tree's switches
 *
 * with base_latency = host overhead + longest way from a member that gives to one that gets (links and switches)
 *                     + (members that share a NIC - 1) x message gap.
 *
 * The time of the packets is that of the busiest link, or that of their lookups at the port where it ends, of the
 * host's own copy, or of the switch that combines all contributions, if that is longer. Where switches compute in slots
 * it is streaming_time(S, line rate, turnaround), with line rate = the speed at which the whole vector passes and
 * turnaround = the switch's own, measured with one switch, + what the tree's round trip is longer than with one. Where
 * other traffic leaves less than that, the solver's share of the busiest link holds instead.
 *
 * Each switch has flows over the links that it owns (the cost of SimGrid's solver grows with the square of a flow's
 * links): one for all links that carry messages of the same size. Each is limited to the rate at which it lasts as long
 * as the busiest link of the whole tree needs: a packet climbs on no sooner than those from below have come, and a
 * switch that ran ahead would take its links from others for nothing.
 */
#pragma once

#include "collective/in_network/traffic.hpp"

#include <vector>

namespace weft {

/** A link of a flow. */
struct FlowLink {
  LinkId link           = 0;
  std::int64_t messages = 0; ///< that cross it, each a flow of its own as far as shares are concerned
  Bytes wire;                ///< of all messages
  double packets = 0;        ///< of all messages
};

struct StreamFlow {
  std::vector<FlowLink> links;
  Bytes wire;                ///< of one message, packets with their overhead; a whole number
  BytesPerSecond rate_limit; ///< of those, never exceeded even when nothing else uses the links
};

/** What one tree switch does. */
struct SwitchPlan {
  std::vector<StreamFlow> flows;
  Bytes reduced;   ///< payload that comes from below to be added up
  Bytes multicast; ///< payload that goes down, all copies
};

struct StreamPlan {
  FabricEpoch epoch = 0; ///< of its tree
  Seconds base_latency;
  Seconds streaming;                ///< of the slowest switch, on a quiet fabric
  std::vector<SwitchPlan> switches; ///< in the tree's order

  Seconds duration() const { return base_latency + streaming; }
};

/** Plan @p call over @p tree. @p host_rate: the host's own copy and conversion rate. */
StreamPlan plan_streams(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call,
                        BytesPerSecond host_rate);

/** How long the packets need on a link, and to be looked up at its end. */
Seconds time_on(const Fabric& fabric, const FlowLink& its);

/** One flow for all @p links whose messages are of one size, each as long as @p duration. */
std::vector<StreamFlow> flows_by_size(const std::vector<FlowLink>& links, Seconds duration);

/** host overhead and copies + longest way + NIC gaps. */
Seconds base_latency(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call);

} // namespace weft
