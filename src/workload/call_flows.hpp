// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives as one flow each, for workloads whose messages are too many: over all links of the call's messages at
 * once, loaded as these load them.
 *
 * A plan is executed once, alone, on the links of the first group that calls it. Its flows have at most the rate that
 * this time gives. Where others use the links, or messages of the group meet on them, a flow has the rate that the most
 * loaded link leaves it: a ring is as fast as its slowest step once blocks wait there, which hides the latencies of the
 * others, and an Alltoall is so on average. The flow begins when the last rank enters, and the ranks end at the times
 * relative to each other at which they end if all enter at once. */
#pragma once

#include "network/flow_network.hpp"
#include "workload/link_uses.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace weft {

/** Flow of a call. */
struct CallFlow {
  FlowRoute way;                                    ///< over all links of its messages
  std::shared_ptr<const std::vector<double>> after; ///< by rank: seconds from the flow's end to the rank's
};

/** Way over loaded links. */
struct LoadedWay {
  FlowRoute way;      ///< over each link as often as the flow loads it, if it carries `volume` bytes
  double seconds = 0; ///< of the link that limits it, alone
  double uses    = 1; ///< of that link
};

/** Returns a way over resources with these loads in bytes, without latency, bound and penalty. */
LoadedWay way_of_loads(const std::map<int, double>& loads, const std::vector<double>& capacities);

/** Returns a call that is one flow; @p network, @p agenda and @p flow must outlive it. */
std::unique_ptr<GroupCall> make_flow_call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                          FlowNetwork& network, Agenda& agenda, const CallFlow& flow,
                                          GroupCallEnds& ends);

class CallFlows {
  /** Messages of a plan, and the times of a call that is alone. */
  struct Traffic {
    std::vector<PairBytes> pairs;
    double latency = 0; ///< seconds before its flow shares links
    double seconds = 0; ///< of the flow, at least
    std::shared_ptr<const std::vector<double>> after;
  };
  Agenda& agenda_;
  FlowNetwork& network_;
  MessageRoutes& routes_;
  const std::vector<double>& capacities_;
  const MessageCosts& costs_;
  int vertices_;
  std::map<const NcclPlan*, Traffic> traffic_;
  std::unordered_map<const PlannedCall*, CallFlow> flows_;

  Traffic measured(const PlannedCall& call);
  LoadedWay links(const PlannedCall& call, const std::vector<PairBytes>& pairs);
  const CallFlow& flow(const PlannedCall& call);

public:
  /** @p capacities by resource; @p vertices as FlowNetwork's. References must outlive the object, as must the plans of
   * all calls. @p routes do not depend on the message. */
  CallFlows(Agenda& agenda, FlowNetwork& network, MessageRoutes& routes, const std::vector<double>& capacities,
            const MessageCosts& costs, int vertices);
  /** Returns a call that is one flow; the object must outlive it. */
  std::unique_ptr<GroupCall> call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                  GroupCallEnds& ends);
};

} // namespace weft
