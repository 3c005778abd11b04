// SPDX-License-Identifier: LGPL-2.1-only
/* State of multicast calls, per communicator and for the whole run. */
#pragma once

#include "binding/mechanisms/multicast/multicast_record.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/multicast/execution/service.hpp"
#include "collective/multicast/plan.hpp"

#include <cstdint>
#include <memory>

namespace weft {

/** State shared by the run's multicast calls. */
struct MulticastRun {
  EngineUse engines;
  MulticastRecord record;

  /** Returns the surroundings of a call that starts now. */
  MulticastService service(RunContext& context);
};

class MulticastState : public CommunicatorState {
  const FabricState& state_;
  MulticastRun& run_;
  const std::shared_ptr<Communicator> speakers_; // the ranks that represent members; null if every rank is a member
  Communicator& all_;
  StateCache<GroupResult> group_;

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
  bool has_memory(std::int64_t chunks) { return run_.engines.has_memory(members().rank_hosts, all_.handle, chunks); }
  void take_memory(std::int64_t chunks) { run_.engines.take_memory(members().rank_hosts, all_.handle, chunks); }
  void release() override { run_.engines.release_memory(all_.handle); }
};

} // namespace weft
