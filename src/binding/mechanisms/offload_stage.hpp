// SPDX-License-Identifier: LGPL-2.1-only
/* The hosts' own stage (collective/host/host_stage.hpp) of an offloaded call in the simulation. */
#pragma once

#include "binding/mechanisms/rank_actors.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "collective/host/host_stage.hpp"

#include <memory>
#include <string>

namespace weft {

/** The call that a stage belongs to. From a rank or SimGrid's kernel. */
class Staged {
public:
  virtual ~Staged() = default;
  /** The contributions of all ranks of @p member are together. */
  virtual void contributed(int member)              = 0;
  virtual void stage_ended(int rank)                = 0;
  virtual void stage_failed(const std::string& why) = 0;
  /** Itself, to be kept until nothing of its stage runs. */
  virtual std::shared_ptr<void> kept() = 0;
};

class OffloadStage : HostStage::Listener, ProgressedCall {
  HostNetwork& network_;
  const Communicator& communicator_;
  Staged& call_;
  RankActors actors_;
  HostStage stage_;
  int entered_ = 0; // ranks
  int ended_   = 0; // ranks

  void contributed(int member) override { call_.contributed(member); }
  void rank_ended(int rank) override;
  bool makes_progress(int rank) const override { return actors_.makes_progress(rank); }
  Seconds with_os_noise(int rank, Seconds start, Seconds work) override
  {
    return actors_.with_os_noise(rank, start, work);
  }
  void call_failed(const std::string& why) override { call_.stage_failed(why); }
  void make_progress(int rank) override { stage_.make_progress(rank); }

public:
  /** All must outlive it. */
  OffloadStage(HostNetwork& network, const Communicator& communicator, HostStageAlgorithms algorithms,
               HostStageCall call, Staged& staged);

  /** @p rank, which the current actor is, enters the call. */
  void enter(int rank, bool blocks);
  /** What @p member gets has come to it. From a rank, an actor or SimGrid's kernel. */
  void deliver(int member);
};

/** The stage of a call, which @p staged is; null where nobody speaks for other ranks. */
std::unique_ptr<OffloadStage> make_stage(RunContext& context, const Communicator& communicator,
                                         const CallDescriptor& call, Staged& staged);

} // namespace weft
