// SPDX-License-Identifier: LGPL-2.1-only
/* Context of a run: its jobs, its fabric and the components that execute and observe calls.
 *
 * All layers below the entries from MPI get a reference to the context. SMPI passes none to the functions that it
 * calls, so the entries look it up (binding/entries/frame/current_run.hpp). load_platform() creates the context, which
 * is never deleted, because SMPI frees communicators at the very end.
 */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/observe/record.hpp"
#include "binding/observe/record_file.hpp"
#include "binding/platform/core_noise.hpp"
#include "binding/platform/network.hpp"
#include "binding/run/communicators.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/run/mechanism_selector.hpp"
#include "binding/run/ranks.hpp"
#include "collective/host/fallback.hpp"
#include "collective/host/host_stage.hpp"
#include "fabric/fabric_state.hpp"
#include "faults/call_recovery.hpp"
#include "model/switch/aggregation.hpp"
#include "network/job_traffic.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Hosts of a run on which ranks can be spawned. */
struct HostSupply {
  std::function<int(VertexId)> cores; ///< cores of a host that ranks can use
  /// Returns a host, creating it if SimGrid has none. Called in SimGrid's kernel.
  std::function<simgrid::s4u::Host*(VertexId)> make;
};

class RunContext {
  RecordFile record_file_;
  Ranks ranks_;

  std::unique_ptr<HostNetwork> host_network_;
  std::optional<MessageCosts> costs_;
  std::vector<std::shared_ptr<void>> failed_calls_;

  void check_stacks();
  void write_record();
  void write_durations() const;
  Json jobs_of_record(double now) const;
  Json resolution_of_record() const;
  Json packets_of_record() const;
  [[noreturn]] void end_run(const Outcome& outcome, int status);
  [[noreturn]] void leave_job(Job& job, const Outcome& outcome, int status);
  [[noreturn]] void end_all_jobs();
  void job_rank_ended(Job& job);
  void end_deadlocked_jobs();
  std::string describe_waits(const ConcernsRank& concerns) const;

public:
  const Fabric& fabric;
  FabricState& state; ///< state of links and switches: up or down
  Network& network;
  Jobs& jobs;
  CoreNoise core_noise;
  const OffloadMode mode;            ///< requested offload mode
  std::vector<Aggregation> switches; ///< by index in the fabric
  Record record;
  std::optional<JobTraffic> traffic;             ///< of the launcher's jobs
  std::vector<double> background_weights;        ///< by background traffic table, where links are shared by job
  std::vector<const RecordPart*> record_parts;   ///< in addition to those of mechanisms
  std::map<std::string, std::string> algorithms; ///< fallback SMPI algorithm by collective
  std::function<std::unique_ptr<HostNetwork>(MessageCosts costs)> make_host_network;
  /// Describes waits of the ranks that @p concerns accepts, as sentences; null if SMPI tracks the waits.
  std::function<std::string(const ConcernsRank& concerns)> describe_messages;
  std::function<std::string(const ConcernsRank& concerns)> describe_files; ///< describes waits for files
  /// Describes waits in MPI_Comm_spawn, MPI_Comm_accept and MPI_Comm_connect; null if there were no such calls.
  std::function<std::string(const ConcernsRank& concerns)> describe_meetings;
  std::function<void(bool over)> on_init; ///< called by each rank in MPI_Init, at its start and at its end
  std::function<int()> universe;          ///< returns MPI_UNIVERSE_SIZE for the current rank; null: SMPI's value
  std::optional<HostSupply> host_supply;  ///< only in runs that can spawn ranks
  /// Called in the last rank's context when all ranks have ended.
  std::vector<std::function<void()>> at_last_exit;
  std::optional<CallRecovery> call_recovery; ///< only in runs with faults
  /// Returns the hosts that are down now, with the times of their failures; null in runs without faults.
  std::function<std::map<int, Seconds>()> hosts_down;
  HostFallback hosts_fallback;                ///< algorithms of host calls that weft executes
  const HostStageAlgorithms stage_algorithms; ///< among the ranks of a host in an offloaded call
  MechanismSelector selector;
  Communicators communicators;

  /** Starts observing the engine; writes the record to @p record_path at the end, unless that is empty. The fabric
   * state, the network and the jobs must live as long as the process. */
  RunContext(FabricState& its_state, Network& its_network, Jobs& its_jobs, OffloadMode its_mode,
             const std::string& record_path, bool keep_events);
  RunContext(const RunContext&)            = delete;
  RunContext& operator=(const RunContext&) = delete;

  /** Returns the message costs of the run; known once the ranks have started. */
  const MessageCosts& costs();
  /** Returns the network for host schedules, created by make_host_network for the first call that needs it. */
  HostNetwork& host_network();
  /** Ends the run, because the algorithm chosen for the hosts cannot execute a call. */
  [[noreturn]] void refuse_fallback(const std::string& why);

  /** Returns the algorithms of the hosts for calls on @p communicator. */
  const HostFallback& fallback_of(const Communicator& communicator) const;

  /** Records that a rank has ended by itself, and ends its job if a call in flight waits for it. */
  void rank_ended(aid_t rank);
  /** Ends the job if a call in flight on @p communicator waits for a rank that has ended. */
  void check_members(const Communicator& communicator);

  /** Records that the current rank, whose job continues, exits with a @p status other than 0. */
  void note_exit(const std::string& message, int status);
  /** Ends the program with @p status, because it cannot continue. The record contains the reason. Ends the process,
   * unless the program is one of several jobs of the launcher. */
  [[noreturn]] void abort(const std::string& kind, const std::string& message, int status = 1);
  /** Ends the program of @p communicator because the network has failed. Called by a rank or SimGrid's kernel; returns
   * if other jobs continue. */
  void abort_on(const Communicator& communicator, const std::string& message);
  /** Keeps an object of a failed call, or its communicator, until the process ends: messages in flight refer to them.
   */
  void keep_failed_call(std::shared_ptr<void> object) { failed_calls_.push_back(std::move(object)); }
  /** Ends the programs that have ranks on these failed hosts; the values are the times of failure. Called by SimGrid's
   * kernel. */
  void hosts_died(const std::map<int, Seconds>& hosts);
  /** Ends a job of the launcher that starts now, if it has ranks on hosts that are down. */
  void check_hosts();
  /** Ends a job of the launcher, and the process if it is the last job. Its ranks no longer run, except the current
   * one, which must leave its context. */
  void stop_job(Job& job, const Outcome& outcome, int status);
  /** Releases the switch resources that a job holds. */
  void release_switches(const Job& job);
};

} // namespace weft
