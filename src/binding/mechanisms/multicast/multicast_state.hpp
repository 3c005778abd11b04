// SPDX-License-Identifier: LGPL-2.1-only
/* What multicast calls keep: at a communicator, and for the whole run. */
#pragma once

#include "binding/mechanisms/multicast/multicast_record.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/multicast/plan.hpp"
#include "model/nic/engine_memory.hpp"

#include <cstdint>
#include <map>
#include <memory>

namespace weft {

/** What the run's multicast calls share. */
struct MulticastRun {
  std::map<VertexId, EngineMemory> memories; ///< what communicators keep in the hosts' progress engines
  std::map<VertexId, int> receiving_workers; ///< of those, at work
  MulticastRecord record;
};

class MulticastState : public CommunicatorState {
  const FabricState& state_;
  const Fabric& fabric_;
  MulticastRun& run_;
  const std::shared_ptr<Communicator> speakers_; // of the members, where ranks share them
  Communicator& all_;
  StateCache<GroupResult> group_;

  std::map<VertexId, int> ranks_by_host();

public:
  std::int64_t calls = 0;

  /** @p state and @p run must outlive it. */
  MulticastState(const FabricState& state, MulticastRun& run, Communicator& communicator);

  /** Returns the ranks' hosts with the trees between them, for what of the fabric is up now. Calls hold it. */
  const std::shared_ptr<const GroupResult>& group();

  /** Those who multicast: all ranks, or those who speak for members. */
  Communicator& members() { return speakers_ ? *speakers_ : all_; }
  /** The same, to be kept, where @p all is the state's own communicator. */
  std::shared_ptr<Communicator> kept_members(const std::shared_ptr<Communicator>& all) const
  {
    return speakers_ ? speakers_ : all;
  }
  /** Whether the progress engines have room for what a call with receive buffers of so many chunks keeps there. */
  bool has_memory(std::int64_t chunks);
  void take_memory(std::int64_t chunks);
  void release() override;
};

} // namespace weft
