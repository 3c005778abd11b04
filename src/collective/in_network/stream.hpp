// SPDX-License-Identifier: LGPL-2.1-only
/* Streams of an in-network collective: the model of its packet pipeline.
 *
 * Packets climb the tree, are combined in slots or copied, and descend while later packets still climb. The duration of
 * a collective on a quiet fabric, after its last contribution, is
 *
 *   base_latency + the longest time that the packets need on the links of one of the tree's switches
 *
 * with base_latency = host overhead + longest route from a sending member to a receiving one (links and switches) +
 * (members that share a NIC - 1) x message gap.
 *
 * The time of the packets is the maximum over the busiest link, their lookups at the port where it ends, the host's own
 * copy, and the switch that combines all contributions. For switches that compute in slots it is streaming_time(S, line
 * rate, turnaround). The line rate is the speed at which the whole vector passes. The turnaround is the switch's own,
 * measured with one switch, plus the difference between the tree's round trip and the round trip over one switch. If
 * other traffic leaves less bandwidth, the solver's share of the busiest link applies instead.
 *
 * Where jobs share slots packet by packet, a fraction of a call's packets finds its slot taken (TreeCall::passed_on).
 * The members send these to one of them, the server: the root, or the first member. The server adds them up, at its
 * host's reduction_rate, and sends the results up to the tree's root, from where they descend like all other results.
 *
 * Each switch has flows over the links that it owns (the cost of SimGrid's solver grows with the square of a flow's
 * links): one for all links that carry messages of the same size. The rate of each is limited such that it lasts as
 * long as the busiest link of the whole tree needs: a packet moves up only after the packets from below have arrived,
 * and a switch that ran ahead would take bandwidth from other traffic without gain.
 */
#pragma once

#include "collective/in_network/traffic.hpp"
#include "network/tree_packets.hpp"

#include <memory>
#include <vector>

namespace weft {

/** Link of a flow. */
struct FlowLink {
  LinkId link           = 0;
  std::int64_t messages = 0; ///< number of messages that cross the link; each counts as a flow when bandwidth is shared
  Bytes wire;                ///< size of all messages
  double packets = 0;        ///< number of packets of all messages
};

struct StreamFlow {
  std::vector<FlowLink> links;
  Bytes wire;                ///< size of one message, including packet overhead; a whole number
  BytesPerSecond rate_limit; ///< upper bound of the messages' rate, even without other traffic
};

/** Work of a switch of the tree. */
struct SwitchPlan {
  std::vector<StreamFlow> flows;
  Bytes reduced;   ///< payload received from below and combined
  Bytes multicast; ///< payload sent down, over all copies
};

struct StreamPlan {
  FabricEpoch epoch = 0; ///< epoch of its tree
  Seconds base_latency;
  Seconds streaming;                               ///< time of the slowest switch on a quiet fabric
  std::vector<SwitchPlan> switches;                ///< in the tree's order
  std::shared_ptr<const TreePackets> packets = {}; ///< of fabrics that simulate packets; null: of parts and blocks

  Seconds duration() const { return base_latency + streaming; }
};

/** Plans @p call over @p tree. @p host_rate: the copy and conversion rate of the host. */
StreamPlan plan_streams(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call,
                        BytesPerSecond host_rate);

/** Returns the packets' time on a link, including lookups at its end. */
Seconds time_on(const Fabric& fabric, const FlowLink& its);

/** Returns one flow per message size on @p links, each lasting @p duration. */
std::vector<StreamFlow> flows_by_size(const std::vector<FlowLink>& links, Seconds duration);

/** Returns the longest route from a sending member to a receiving member. */
Seconds longest_way(const ReductionTree& tree, const TreeCall& call);

/** Returns host overhead and copies + longest route + NIC gaps. */
Seconds base_latency(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call);

} // namespace weft
