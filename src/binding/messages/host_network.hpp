// SPDX-License-Identifier: LGPL-2.1-only
/* Network of host schedules and offloaded calls: executes their events in SimGrid's simulated time. Callbacks run in
 * SimGrid's kernel context. */
#pragma once

#include "binding/platform/core_noise.hpp"
#include "binding/platform/network.hpp"
#include "binding/ranks/actor_map.hpp"
#include "collective/host/engine/execution.hpp"
#include "collective/in_network/call_carrier.hpp"
#include "faults/recovery.hpp"
#include "network/flow_network.hpp"
#include "network/job_traffic.hpp"
#include "packets/packet_network.hpp"

#include <simgrid/kernel/Timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Call or messages that progress only while their ranks are in MPI, if Progress::calls applies. */
class ProgressedCall {
public:
  ProgressedCall()                                 = default;
  ProgressedCall(const ProgressedCall&)            = delete;
  ProgressedCall& operator=(const ProgressedCall&) = delete;
  virtual ~ProgressedCall()                        = default;
  virtual void make_progress(int rank)             = 0;
};

class HostNetwork : public CallCarrier {
  struct Outstanding {
    ProgressedCall* call;
    int rank;
  };
  struct Entries : Due { // entries of actors into MPI
    ActorMap<std::vector<Outstanding>> outstanding;
    void due(std::uint64_t actor) override;
  };
  Entries entries_;
  bool by_calls_                        = false;
  simgrid::kernel::timer::Timer* timer_ = nullptr;     // for the next due event
  std::vector<simgrid::kernel::timer::Timer*> timers_; // of start_timer(), by number
  std::vector<std::uint64_t> idle_timers_;             // free numbers
  bool running_         = false;
  int background_       = 0;                 // number of users that keep events going
  int calls_            = 0;                 // number of calls in progress
  std::size_t messages_ = 0;                 // point-to-point messages and flows of offloaded calls in flight
  std::vector<std::shared_ptr<void>> ended_; // completed calls, kept alive while any part of them runs

  void set_timer();
  void run();
  void enter(aid_t actor);

protected:
  Agenda agenda_;

public:
  const MessageCosts costs;
  /// Ends the job of this world, or the run if there is none, because of a UserError. Called by a rank or SimGrid's
  /// kernel; returns if other jobs continue.
  std::function<void(const std::string& why, std::optional<int> world)> refuse;
  CoreNoise* core_noise                           = nullptr; ///< OS noise of the ranks' cores
  const std::shared_ptr<Execution::Memory> memory = std::make_shared<Execution::Memory>(); ///< memory of the calls

  explicit HostNetwork(MessageCosts its_costs) : costs(std::move(its_costs)) {}

  Seconds now() const override;
  Agenda& agenda() { return agenda_; }
  /** Returns the network for messages whose job is determined by their hosts, if each host has one job. */
  virtual Messages& messages() = 0;
  /** Returns the network for messages of the job of @p world. */
  virtual Messages& messages_of(int /*world*/) { return messages(); }
  std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world,
                                     FlowEnd done) override;
  double left_of_flow(std::uint64_t number) override;
  double cancel_flow(std::uint64_t number) override;
  /** Enables failures of links and switches. @p actual: actual state. @p known: state believed by routing. Both, and @p
   * losses, must outlive the network. */
  virtual Recovery& begin_faults(FabricState& actual, FabricState& known, const RecoveryModel& model,
                                 LinkLosses& losses);
  /** Starts a flow of a file's data between two hosts that also uses storage resources (StorageResources), with a rate
   * of at most @p limit. @p done runs in SimGrid's kernel context when it has ended. */
  virtual void start_storage_flow(VertexId from, VertexId to, const std::vector<int>& storage, Bytes bytes,
                                  BytesPerSecond limit, FlowEnd done);
  /** Returns the work counters of weft's own network. */
  virtual FlowNetwork::Work work() const { return {}; }
  /** Returns the work counters of the packet network; null if messages are flows. */
  virtual const PacketNetwork::Work* packet_work() const { return nullptr; }
  /** Returns whether pending events may wake a rank: events of schedules, and messages other than background traffic.
   * Scans all events. */
  virtual bool has_foreground() const { return true; }
  /** Keeps events going, even without calls and messages of ranks in progress, until end_background(). */
  void begin_background() { ++background_; }
  /** Called by a rank, or while events happen. Without calls and messages, the remaining events never happen. */
  void end_background();
  void call_after(Seconds delay, Due& receiver, std::uint64_t what) override;
  std::uint64_t start_timer(Seconds delay, Due& receiver, std::uint64_t what) override;
  void cancel_timer(std::uint64_t number) override;
  /** Must be called after an addition to the agenda, by a rank or SimGrid's kernel. */
  void wake();
  /** Makes rendezvous messages and non-blocking collectives progress only in MPI calls (Progress::calls). */
  void advance_by_calls();
  bool by_calls() const { return by_calls_; }
  /** Registers @p call, whose make_progress() is called whenever @p actor, its rank @p rank, enters MPI. */
  void begin_progress(aid_t actor, ProgressedCall& call, int rank);
  void end_progress(aid_t actor, const ProgressedCall& call);
  /** Registers the start of a call. */
  void begin() { ++calls_; }
  /** Counts the point-to-point messages and the flows of offloaded calls in flight. */
  void message_leaves() { ++messages_; }
  void message_ends() { --messages_; }
  /** Registers the end of a call on all its ranks; the call is kept alive until no part of it runs. */
  void end(std::shared_ptr<void> call)
  {
    --calls_;
    ended_.push_back(std::move(call));
  }
};

/** Returns the costs set by SMPI's options and a fabric file's [mpi] table. Both must be known. */
MessageCosts message_costs(const Fabric& fabric, const Network& network);

} // namespace weft
