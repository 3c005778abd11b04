// SPDX-License-Identifier: LGPL-2.1-only
/* Simulation of the host stage (collective/host/host_stage.hpp) of an offloaded call. */
#pragma once

#include "binding/mechanisms/rank_actors.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/host/host_stage.hpp"

#include <memory>
#include <string>

namespace weft {

/** Call to which a stage belongs. Called from a rank or SimGrid's kernel. */
class Staged {
public:
  virtual ~Staged() = default;
  /** Called when the contributions of all ranks of @p member have been combined. */
  virtual void contributed(int member)              = 0;
  virtual void stage_ended(int rank)                = 0;
  virtual void stage_failed(const std::string& why) = 0;
  /** Owner, to be kept alive until no part of the stage runs. */
  virtual std::shared_ptr<void> kept() = 0;
};

class OffloadStage : HostStage::Listener, ProgressedCall {
  HostNetwork& network_;
  const Communicator& communicator_;
  Staged& call_;
  RankActors actors_;
  HostStage stage_;
  int entered_ = 0; // ranks that have entered
  int ended_   = 0; // ranks that have ended

  void contributed(int member) override { call_.contributed(member); }
  void rank_ended(int rank) override;
  bool makes_progress(int rank) const override { return actors_.makes_progress(rank); }
  int socket(int rank) const override { return actors_.socket(rank); }
  Seconds with_os_noise(int rank, Seconds start, Seconds work) override
  {
    return actors_.with_os_noise(rank, start, work);
  }
  void call_failed(const std::string& why) override { call_.stage_failed(why); }
  void call_refused(const std::string& why) override { actors_.refuse(why); }
  void make_progress(int rank) override { stage_.make_progress(rank); }

public:
  /** All arguments must outlive this object. */
  OffloadStage(HostNetwork& network, const Communicator& communicator, HostStageAlgorithms algorithms,
               HostStageCall call, Staged& staged);

  /** The current actor, rank @p rank, enters the call. */
  void enter(int rank, bool blocks);
  /** Reports that the result of @p member has arrived. Called from a rank or SimGrid's kernel. */
  void deliver(int member);
};

/** Creates the stage of @p staged; null if every rank represents only itself. */
std::unique_ptr<OffloadStage> make_stage(RunContext& context, const Communicator& communicator,
                                         const CallDescriptor& call, Staged& staged);

} // namespace weft
