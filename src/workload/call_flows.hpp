// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives as one flow each, for workloads with too many messages. The flow uses all links of the call's messages at
 * once, in proportion to the bytes on each.
 *
 * A plan is executed once, alone, on the links of the first group that calls it. The time of this execution limits the
 * rate of its flows. Where other traffic uses the links, or messages of the group meet on them, a flow gets the rate
 * that the most loaded link leaves. That is exact for a ring, which is as fast as its slowest step once blocks wait
 * there, since the wait hides the latencies of all other steps; an Alltoall behaves so on average. The flow begins when
 * the last rank enters. The ranks finish at the same times relative to each other as if all had entered at once. */
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
  FlowRoute way; ///< over all links of its messages
  std::shared_ptr<const std::vector<double>>
      after; ///< by rank: seconds from the end of the flow to the end of the rank
};

/** Route over loaded links. */
struct LoadedWay {
  FlowRoute way;      ///< lists each link in proportion to its load, if the flow carries `volume` bytes
  double seconds = 0; ///< time on the limiting link, without other traffic
  double uses    = 1; ///< number of uses of the limiting link
};

/** Returns a route over resources with these loads in bytes, without latency, bound and penalty. */
LoadedWay way_of_loads(const std::map<int, double>& loads, const std::vector<double>& capacities);

/** Returns a call executed as one flow; @p network, @p agenda and @p flow must outlive it. */
std::unique_ptr<GroupCall> make_flow_call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                          FlowNetwork& network, Agenda& agenda, const CallFlow& flow,
                                          GroupCallEnds& ends);

class CallFlows {
  /** Messages of a plan, and the times of a call without other traffic. */
  struct Traffic {
    std::vector<PairBytes> pairs;
    double latency = 0; ///< seconds before its flow shares links
    double seconds = 0; ///< minimum duration of the flow
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
  /** @p capacities by resource; @p vertices as for FlowNetwork. All referents, and the plans of all calls, must outlive
   * the object. @p routes must not depend on the message. */
  CallFlows(Agenda& agenda, FlowNetwork& network, MessageRoutes& routes, const std::vector<double>& capacities,
            const MessageCosts& costs, int vertices);
  /** Returns a call executed as one flow; this object must outlive it. */
  std::unique_ptr<GroupCall> call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                  GroupCallEnds& ends);
};

} // namespace weft
