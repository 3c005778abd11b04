// SPDX-License-Identifier: LGPL-2.1-only
/* State of multicast calls, per communicator and for the whole run. */
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

/** State shared by the run's multicast calls. */
struct MulticastRun {
  std::map<VertexId, EngineMemory> memories; ///< memory that communicators hold in the hosts' progress engines
  std::map<VertexId, int> receiving_workers; ///< polling workers of the progress engines, by host
  MulticastRecord record;
};

class MulticastState : public CommunicatorState {
  const FabricState& state_;
  const Fabric& fabric_;
  MulticastRun& run_;
  const std::shared_ptr<Communicator> speakers_; // the ranks that represent members; null if every rank is a member
  Communicator& all_;
  StateCache<GroupResult> group_;

  std::map<VertexId, int> ranks_by_host();

public:
  std::int64_t calls = 0;

  /** @p state and @p run must outlive this object. */
  MulticastState(const FabricState& state, MulticastRun& run, Communicator& communicator);

  /** Returns the ranks' hosts with the trees between them, for the fabric's current state. Calls
   *  hold the result. */
  const std::shared_ptr<const GroupResult>& group();

  /** Ranks that multicast: all, or those that represent members. */
  Communicator& members() { return speakers_ ? *speakers_ : all_; }
  /** Shared ownership of members(), if @p all is the state's own communicator. */
  std::shared_ptr<Communicator> kept_members(const std::shared_ptr<Communicator>& all) const
  {
    return speakers_ ? speakers_ : all;
  }
  /** True if the progress engines have room for a call with receive buffers of @p chunks chunks. */
  bool has_memory(std::int64_t chunks);
  void take_memory(std::int64_t chunks);
  void release() override;
};

} // namespace weft
