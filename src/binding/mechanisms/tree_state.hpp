// SPDX-License-Identifier: LGPL-2.1-only
/* Reduction tree of a communicator, with the per-communicator state of tree mechanisms. */
#pragma once

#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/in_network/stream.hpp"
#include "collective/in_network/tree_obstacle.hpp"
#include "collective/in_network/tree_service.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace weft {

/** Trees of a communicator for one epoch of the fabric's state. Calls keep the trees with which they started. */
struct CommunicatorTree {
  std::optional<ReductionTree> tree;
  std::vector<ReductionTree> others; ///< over further cables of the hosts, one per rail
  std::optional<NoTree> no_tree;     ///< reason, if there is no tree
  /// Distinct models of the trees' switches, in order; without a tree, of all smart switches of the fabric.
  std::vector<const SwitchModel*> models;

  std::size_t trees() const { return (tree ? 1 : 0) + others.size(); }
  const ReductionTree& at(std::size_t number) const { return number == 0 ? *tree : others[number - 1]; }
};

class TreeState : public CommunicatorState {
  struct KeptPlan {
    TreeCall call;
    BytesPerSecond host_rate;
    std::shared_ptr<const StreamPlan> plan;
  };
  const FabricState& state_;
  const Communicator& communicator_;
  const TreeService service_;
  std::set<int> held_; // switches on which the communicator holds a channel
  StateCache<CommunicatorTree> tree_;
  std::vector<std::optional<KeptPlan>> kept_plans_; // by tree

public:
  TreeState(RunContext& context, const Communicator& communicator);

  /** Returns the tree for the fabric's current state. */
  const std::shared_ptr<const CommunicatorTree>& tree();
  const TreeService& service() const { return service_; }
  /** Returns whether the communicator holds or could get a channel on each switch; otherwise the reason for the first
   * switch without one. */
  ChannelGrant channels();
  void take_channels();
  /** Returns @p call as the switches of @p tree would execute it now, under contention with other jobs. */
  TreeCall under_contention(const ReductionTree& tree, TreeCall call) const;
  /** Locks links of @p tree for the communicator's job, where @p call streams and streaming locks links. */
  void lock(const ReductionTree& tree, const TreeCall& call);
  void release() override;
  /** Returns the streams of a call over the tree with index @p number. The last plan of each is cached, since programs
   * repeat calls. */
  std::shared_ptr<const StreamPlan> plan(const ReductionTree& tree, std::size_t number, const TreeCall& call,
                                         BytesPerSecond host_rate);
};

/** Returns the state of a communicator, created on first use. */
TreeState& tree_state(RunContext& context, Communicator& communicator);

/** Work of hosts on the data of an offloaded call. */
struct HostWork {
  BytesPerSecond rate; ///< rate at which a core copies and converts
  /// Number of floats converted to integers with a common scale (model/switch/fixed_point.hpp); 0: no conversion.
  std::size_t fixed_point_block = 0;
};
HostWork host_work(const Fabric& fabric, const CommunicatorTree& tree, const CallDescriptor& call);

} // namespace weft
