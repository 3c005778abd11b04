// SPDX-License-Identifier: LGPL-2.1-only
/* The network as the schedules of hosts see it: what is due to them comes to pass in SimGrid's time. */
#pragma once

#include "binding/platform/core_noise.hpp"
#include "binding/platform/network.hpp"
#include "binding/ranks/actor_map.hpp"
#include "collective/host/engine/execution.hpp"

#include <simgrid/kernel/Timer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/** A call in progress that goes on only while its ranks are in MPI. */
class ProgressedCall {
public:
  ProgressedCall()                                 = default;
  ProgressedCall(const ProgressedCall&)            = delete;
  ProgressedCall& operator=(const ProgressedCall&) = delete;
  virtual ~ProgressedCall()                        = default;
  virtual void make_progress(int rank)             = 0;
};

class HostNetwork {
  struct Outstanding {
    ProgressedCall* call;
    int rank;
  };
  struct Entries : Due { // of actors into MPI
    ActorMap<std::vector<Outstanding>> outstanding;
    void due(std::uint64_t actor) override;
  };
  Entries entries_;
  bool by_calls_                        = false;
  simgrid::kernel::timer::Timer* timer_ = nullptr; // for what is due next
  bool running_                         = false;
  int calls_                            = 0; // in progress
  std::vector<std::shared_ptr<void>> ended_; // calls, while something of them runs

  void set_timer();
  void run();
  void enter(aid_t actor);

protected:
  Agenda agenda_;

public:
  const MessageCosts costs;
  /// Told the UserError of a rank that is to do what cannot be done; does not return.
  std::function<void(const std::string& why)> refuse;
  CoreNoise* core_noise                           = nullptr;                               ///< of the ranks' cores
  const std::shared_ptr<Execution::Memory> memory = std::make_shared<Execution::Memory>(); ///< of the calls

  explicit HostNetwork(MessageCosts its_costs) : costs(std::move(its_costs)) {}
  HostNetwork(const HostNetwork&)            = delete;
  HostNetwork& operator=(const HostNetwork&) = delete;
  virtual ~HostNetwork()                     = default;

  Agenda& agenda() { return agenda_; }
  virtual Messages& messages() = 0;
  /** Something has been added to the agenda. From a rank, or from SimGrid's kernel. */
  void wake();
  /** Collectives that do not block go on only in calls of MPI (Progress::calls). */
  void advance_by_calls();
  bool by_calls() const { return by_calls_; }
  /** @p call is told from now on when @p actor, its rank @p rank, enters MPI. */
  void begin_progress(aid_t actor, ProgressedCall& call, int rank);
  void end_progress(aid_t actor, const ProgressedCall& call);
  /** A call begins. */
  void begin() { ++calls_; }
  /** It has ended for all its ranks; it is kept until nothing runs. */
  void end(std::shared_ptr<void> call)
  {
    --calls_;
    ended_.push_back(std::move(call));
  }
};

/** What SMPI's options and a fabric file's [mpi] table mean. To be asked once both are known. */
MessageCosts message_costs(const Fabric& fabric, const Network& network);

/** One whose messages are SimGrid's. */
std::unique_ptr<HostNetwork> make_simgrid_host_network(const Network& network, MessageCosts costs);

} // namespace weft
