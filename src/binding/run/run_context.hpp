// SPDX-License-Identifier: LGPL-2.1-only
/* Context of a run: its jobs, its fabric and the components that execute and observe calls.
 *
 * Everything below the entries from MPI gets a reference to the context. SMPI passes none to the functions that it
 * calls, so the entries look it up (binding/entries/frame/current_run.hpp). load_platform() makes the context, and
 * nobody deletes it, because SMPI frees communicators after everything else.
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
  /// Returns a host, made if SimGrid has none. Called in SimGrid's kernel.
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
  FabricState& state; ///< which links and switches are up
  Network& network;
  Jobs& jobs;
  CoreNoise core_noise;
  const OffloadMode mode;            ///< requested offload mode
  std::vector<Aggregation> switches; ///< by index in the fabric
  Record record;
  std::optional<JobTraffic> traffic;             ///< of the jobs of the launcher
  std::vector<double> background_weights;        ///< of tables of background traffic, where links are shared by job
  std::vector<const RecordPart*> record_parts;   ///< besides those of mechanisms
  std::map<std::string, std::string> algorithms; ///< collective -> the SMPI algorithm that it falls back to
  std::function<std::unique_ptr<HostNetwork>(MessageCosts costs)> make_host_network;
  /// Describes waits of the ranks that @p concerns accepts, as sentences; none if SMPI knows them.
  std::function<std::string(const ConcernsRank& concerns)> describe_messages;
  std::function<std::string(const ConcernsRank& concerns)> describe_files; ///< the same of files
  /// The same of MPI_Comm_spawn, MPI_Comm_accept and MPI_Comm_connect; none if there were no such calls.
  std::function<std::string(const ConcernsRank& concerns)> describe_meetings;
  std::function<void(bool over)> on_init; ///< called by each rank in MPI_Init, at its begin and at its end
  std::function<int()> universe;          ///< returns MPI_UNIVERSE_SIZE for the current rank; none: SMPI's
  std::optional<HostSupply> host_supply;  ///< of runs in which ranks can be spawned
  /// Called in the last rank's context when all ranks have ended.
  std::vector<std::function<void()>> at_last_exit;
  std::optional<CallRecovery> call_recovery; ///< of runs with faults
  /// Returns the hosts that are down now, with the times of their failures; none in runs without faults.
  std::function<std::map<int, Seconds>()> hosts_down;
  HostFallback hosts_fallback;                ///< algorithms of calls that weft executes on the hosts
  const HostStageAlgorithms stage_algorithms; ///< among the ranks of a host in an offloaded call
  MechanismSelector selector;
  Communicators communicators;

  /** Starts observing the engine; writes the record to @p record_path at the end, unless that is
   * empty. The fabric state, the network and the jobs must live as long as the process. */
  RunContext(FabricState& its_state, Network& its_network, Jobs& its_jobs, OffloadMode its_mode,
             const std::string& record_path, bool keep_events);
  RunContext(const RunContext&)            = delete;
  RunContext& operator=(const RunContext&) = delete;

  /** Returns the message costs of the run; known once the ranks have started. */
  const MessageCosts& costs();
  /** Returns the network as host schedules see it; created by make_host_network for the first call
   * that needs it. */
  HostNetwork& host_network();
  /** Ends the run, because the algorithm chosen for the hosts cannot execute a call. */
  [[noreturn]] void refuse_fallback(const std::string& why);

  /** Returns the algorithms of the hosts for calls on @p communicator. */
  const HostFallback& fallback_of(const Communicator& communicator) const;

  /** Notes that a rank has ended by itself, and ends its job if a call in flight waits for it. */
  void rank_ended(aid_t rank);
  /** Ends the job if a call in flight on @p communicator waits for a rank that has ended. */
  void check_members(const Communicator& communicator);

  /** Notes that the current rank, whose job continues, exits with a @p status other than 0. */
  void note_exit(const std::string& message, int status);
  /** Ends the program with @p status, because it cannot continue. The record says why. Ends the process, unless the
   * program is one of several jobs of the launcher. */
  [[noreturn]] void abort(const std::string& kind, const std::string& message, int status = 1);
  /** Ends the program of @p communicator because the network has failed. Called by a rank or SimGrid's kernel; returns
   * if other jobs continue. */
  void abort_on(const Communicator& communicator, const std::string& message);
  /** Keeps an object of a failed call, or its communicator, until the process ends: messages in flight refer to them.
   */
  void keep_failed_call(std::shared_ptr<void> object) { failed_calls_.push_back(std::move(object)); }
  /** Ends the programs that have ranks on these hosts, which have failed at these times. Called by SimGrid's kernel. */
  void hosts_died(const std::map<int, Seconds>& hosts);
  /** Ends a job of the launcher that starts now, if it has ranks on hosts that are down. */
  void check_hosts();
  /** Ends a job of the launcher, and the process if it is the last. Its ranks run no more, but the current one,
   * which has to leave its context. */
  void stop_job(Job& job, const Outcome& outcome, int status);
  /** Gives back what a job holds of the switches. */
  void release_switches(const Job& job);
};

} // namespace weft
