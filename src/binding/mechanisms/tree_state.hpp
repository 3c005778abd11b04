// SPDX-License-Identifier: LGPL-2.1-only
/* The reduction tree of a communicator: what mechanisms over trees of switches keep there. */
#pragma once

#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/in_network/stream.hpp"
#include "collective/in_network/tree_obstacle.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace weft {

/** Tree of a communicator for one epoch of the fabric's state. Calls hold the one that they began with. */
struct CommunicatorTree {
  std::optional<ReductionTree> tree;
  std::optional<NoTree> no_tree; ///< where there is none: why
  /// Of the tree's switches, each once, in their order; without a tree, of all the fabric's smart switches.
  std::vector<const SwitchModel*> models;
};

class TreeState : public CommunicatorState {
  struct KeptPlan {
    TreeCall call;
    BytesPerSecond host_rate;
    std::shared_ptr<const StreamPlan> plan;
  };
  const FabricState& state_;
  const Communicator& communicator_;
  std::vector<Aggregation>& switches_; // by index in the fabric
  std::set<int> held_;                 // switches on which the communicator has taken a channel
  StateCache<CommunicatorTree> tree_;
  std::optional<KeptPlan> kept_plan_;

public:
  TreeState(RunContext& context, const Communicator& communicator);

  /** Returns the tree for what of the fabric is up now. */
  const std::shared_ptr<const CommunicatorTree>& tree();
  Aggregation& aggregation(const TreeSwitch& node) { return switches_[static_cast<std::size_t>(node.index)]; }
  /** Whether all switches have a channel for the communicator, or could have one. */
  bool channels_are_free();
  void take_channels();
  void release() override;
  /** Returns the streams of a call over @p tree. Programs repeat calls, so the last plan is kept. */
  std::shared_ptr<const StreamPlan> plan(const ReductionTree& tree, const TreeCall& call, BytesPerSecond host_rate);
};

/** Returns the state of a communicator, which is made when it is first asked for. */
TreeState& tree_state(RunContext& context, Communicator& communicator);

/** What hosts do with the data of an offloaded call. */
struct HostWork {
  BytesPerSecond rate; ///< at which a core copies and converts
  /// Floats become integers, in blocks of so many that share a scale (model/switch/fixed_point.hpp); 0: they do not.
  std::size_t fixed_point_block = 0;
};
HostWork host_work(const Fabric& fabric, const CommunicatorTree& tree, const CallDescriptor& call);

} // namespace weft
