// SPDX-License-Identifier: LGPL-2.1-only
/* Allgathers between nodes by hardware multicast, as one flow each over a multicast tree: each rank's block crosses
 * every link of the tree once (collective/multicast/plan.hpp). NCCL has no such collective.
 *
 * A call that is alone takes the time of the multicast protocol without losses (collective/multicast/protocol.hpp):
 *
 *   the barrier's rounds, an activation for each further root of the longest chain, and the handshake: a message each
 *   + the latency of the tree
 *   + the time of the busiest link of the tree for all blocks, or of the busiest one for a block, for each root of the
 *     longest chain: a lossless network lets a root send no faster than receivers receive
 *
 * NICs make progress: the call takes no multiprocessors of the GPUs, and progress engines of the fabric file, losses
 * and the buffers of switches are left out. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "network/fabric_routes.hpp"
#include "workload/call_flows.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

class MulticastCalls {
  Agenda& agenda_;
  FlowNetwork& network_;
  const Fabric& fabric_;
  const std::vector<double>& capacities_;
  const FabricState state_; // everything is up
  FabricRoutes routes_;
  std::unordered_map<const PlannedCall*, CallFlow> flows_;

  Seconds longest_message(const PlannedCall& call);

public:
  /** References must outlive the object. Throws UserError if the fabric sprays packets, so that links are pools. */
  MulticastCalls(Agenda& agenda, FlowNetwork& network, const Fabric& fabric, const std::vector<double>& capacities);
  /** Plans a call on tree number @p spread of those that there are; the call's ranks are named @p group in messages.
   * Returns the bytes on each link. Throws UserError if there is no tree. */
  std::vector<std::pair<int, double>> add(const PlannedCall& call, std::size_t spread, const std::string& group);
  /** Returns whether a call has been added. */
  bool carries(const PlannedCall& call) const { return flows_.contains(&call); }
  /** Returns a call that is one flow; the object must outlive it. */
  std::unique_ptr<GroupCall> call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                  GroupCallEnds& ends);
};

} // namespace weft
