// SPDX-License-Identifier: LGPL-2.1-only
/* Repetition of an offloaded call by the hosts after a fault: only its timing, since its data is exchanged anyway. */
#pragma once

#include "binding/mechanisms/rank_actors.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/host/engine/execution.hpp"
#include "collective/host/fallback.hpp"
#include "model/collective/call_descriptor.hpp"

#include <functional>
#include <memory>
#include <string>

namespace weft {

/** Owner of such a repetition. Called from SimGrid's kernel. */
class Repeated {
public:
  virtual ~Repeated()                                    = default;
  virtual void repetition_ended(int rank)                = 0;
  virtual void repetition_failed(const std::string& why) = 0;
};

class HostsInstead : RankCallbacks {
  HostNetwork& network_;
  Repeated& call_;
  RankActors actors_;
  HostCall hosts_call_;
  Selection::Choice choice_{};
  Execution execution_;
  const int ranks_;
  int ended_ = 0;
  std::shared_ptr<void> kept_;

  void rank_ended(int rank) override;
  int socket(int rank) const override { return actors_.socket(rank); }
  Seconds with_os_noise(int rank, Seconds start, Seconds work) override
  {
    return actors_.with_os_noise(rank, start, work);
  }
  void call_failed(const std::string& why) override { call_.repetition_failed(why); }
  void call_refused(const std::string& why) override { actors_.refuse(why); }

public:
  /** All arguments must outlive this object. Throws UserError if the hosts' algorithm cannot execute the call. */
  HostsInstead(RunContext& context, const Communicator& communicator, const CallDescriptor& call, Repeated& repeated);

  /** Starts the call on all ranks; @p kept, its owner, is kept alive until no part of it runs. */
  void start(std::shared_ptr<void> kept);
};

} // namespace weft
