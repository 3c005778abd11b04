// SPDX-License-Identifier: LGPL-2.1-only
/* The reduction tree of a communicator: what mechanisms over trees of switches keep there, and what a call is to it. */
#pragma once

#include "binding/run/communicator.hpp"
#include "binding/run/simulation.hpp"
#include "collective/in_network/stream.hpp"
#include "collective/in_network/tree_obstacle.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace weft {

class TreeState : public CommunicatorState {
  struct KeptPlan {
    TreeCall call;
    BytesPerSecond host_rate;
    std::shared_ptr<const StreamPlan> plan;
  };
  const int channel_holder_;
  std::vector<Aggregation>& switches_; // by index in the fabric
  std::optional<KeptPlan> kept_plan_;

public:
  std::optional<ReductionTree> tree;
  std::optional<NoTree> no_tree; ///< where there is none: why
  /// Of the tree's switches, each once, in their order; without a tree, of all the fabric's smart switches.
  std::vector<const SwitchModel*> models;

  TreeState(Simulation& simulation, const Communicator& communicator);

  Aggregation& aggregation(std::size_t position);
  /** Whether all switches have a channel for the communicator, or could have one. */
  bool channels_are_free();
  void take_channels();
  void release() override;
  /** The streams of a call. Programs make the same calls over and over, so the last plan is kept. */
  std::shared_ptr<const StreamPlan> plan(const Fabric& fabric, const TreeCall& call, BytesPerSecond host_rate);
};

/** That of a communicator, which is made when it is first asked for. */
TreeState& tree_state(Simulation& simulation, Communicator& communicator);

/** What a call is to the tree: parts and root by member. @p parts are those of the ranks. */
TreeCall tree_call(const Communicator& communicator, const Described& described, const std::vector<double>& parts,
                   const NicModel& nic);

/** What hosts do with the data of an offloaded call. */
struct HostWork {
  BytesPerSecond rate; ///< at which a core copies and converts
  /// Floats become integers, in blocks of so many that share a scale (model/switch/fixed_point.hpp); 0: they do not.
  std::size_t fixed_point_block = 0;
};
HostWork host_work(const Fabric& fabric, const TreeState& state, const Described& described);

} // namespace weft
