// SPDX-License-Identifier: LGPL-2.1-only
/* Timed execution of a workload, without SimGrid and without stacks: the state of a rank is its position in its
 * program.
 *
 * A collective begins at each rank when the rank reaches it, with NCCL's choice of algorithm, and ends there by NCCL's
 * schedule (group_call.hpp). A message leaves when both ranks have reached it: NCCL's channels buffer a few hundred
 * KiB, while activations have megabytes.
 *
 * Equal calls on links that belong to one group are executed once. That is wrong if a rank is in two calls of such a
 * group at a time, or if other messages may slow it down (group_links.hpp): reuse_was_wrong() then returns true. Groups
 * whose links a fault names execute all their calls.
 *
 * run_iteration() executes a workload on a network of its own, which background traffic and faults may disturb. An
 * Iteration on a shared network is one job of several; all its calls are executed. */
#pragma once

#include "base/named.hpp"
#include "collective/host/nccl/nccl_coarse.hpp"
#include "collective/host/nccl/nccl_library.hpp"
#include "disturbances/disturbances.hpp"
#include "fabric/fabric.hpp"
#include "network/agenda.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "packets/packet_work.hpp"
#include "workload/call_flows.hpp"
#include "workload/group_call.hpp"
#include "workload/group_links.hpp"
#include "workload/link_uses.hpp"
#include "workload/multicast_calls.hpp"
#include "workload/program.hpp"
#include "workload/rank_accounts.hpp"
#include "workload/rank_progress.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

/** Level of detail at which a collective is executed. */
enum class CallDetail : std::uint8_t {
  slice, ///< all messages of NCCL
  step,  ///< one message per step of its rings
  call   ///< one flow per call (call_flows.hpp)
};
template <> struct Names<CallDetail> {
  static constexpr std::array ROWS{std::pair{CallDetail::slice, std::string_view("slice")},
                                   std::pair{CallDetail::step, std::string_view("step")},
                                   std::pair{CallDetail::call, std::string_view("call")}};
};

struct IterationOptions {
  std::string library = "nccl-2.29"; ///< version in presets/nccl that chooses and schedules collectives
  bool execute_all    = false;       ///< executes equal calls again instead of reusing results
  CallDetail detail   = CallDetail::step;
  bool multicast      = false; ///< Allgathers between nodes are multicasts (multicast_calls.hpp)
  /// Streaming multiprocessors of a GPU. Each NCCL channel of the calls in which a rank takes part occupies one, and
  /// computation gets the rest; 0: calls do not slow computation down.
  int sms = 0;
  /// By rank: factor by which its computation is slower; empty: 1 for all.
  std::vector<double> slowdown = {};
  /// Standard deviation of the logarithm of an additional factor, drawn for each computation of each rank; 0: none.
  double noise       = 0;
  std::uint64_t seed = 0;
  /// Ranks whose operations are all listed with their times.
  std::vector<int> listed = {};
  /// Called periodically with the fraction of completed operations.
  std::function<void(double done)> progress = {};
  /// Traffic and faults that disturb the iteration.
  DisturbanceDescription disturbances = {};
};

/** Timed operation of a rank, in seconds. */
struct TimedWork {
  int rank;
  WorkNumber number;
  double begin;  ///< time at which the rank has reached it
  double active; ///< time at which all ranks that it needs have reached it
  double end;
};

/** Times of an iteration. */
struct IterationTimes {
  /** Outcome of an iteration in which all ranks have finished. */
  static constexpr const char* COMPLETED = "completed";
  std::string outcome =
      COMPLETED;            ///< COMPLETED, "network-failure" or "host-failure"; for jobs also "mismatch" or "deadlock"
  std::string message = {}; ///< reason why the iteration could not continue
  double end          = 0;  ///< end of the last rank, or of an iteration that could not continue, in seconds
  std::vector<RankTimes> ranks;
  std::size_t messages = 0; ///< number of messages on the network
  std::size_t calls    = 0; ///< number of collectives
  std::size_t executed = 0; ///< number of collectives executed rather than reused
  std::vector<TimedWork> listed;
  std::map<std::string, int> algorithms; ///< calls by NCCL's choice, such as "nccl_ring_Simple", or "multicast"
  std::vector<LinkClassUse> links;       ///< classes of links that have carried traffic; see add_links()
  std::optional<FaultReport> faults;
  std::vector<TrafficReport> traffic;
  std::optional<PacketWork> packets; ///< if messages are packets
};

/** Environment of an iteration. */
struct IterationPlace {
  std::vector<int> hosts; ///< by rank
  Agenda& agenda;
  Messages& messages;
  /// Called once, within an event, when all ranks have finished or the iteration cannot continue.
  std::function<void()> over = {};
  /// True if errors in the workload make the iteration fail; otherwise they are thrown.
  bool reports_errors = false;
  /// Network for calls that are one flow; null: there are no such calls.
  FlowNetwork* flows    = nullptr;
  MessageRoutes* routes = nullptr;
};

class Iteration : public Due, public Settling, public Receiving, public GroupCallEnds {
public:
  /** @p workload, @p fabric and the referents of @p place must outlive the object, and the object all events that it
   * has added. Throws UserError if workload and fabric do not fit each other. */
  Iteration(const Workload& workload, const Fabric& fabric, IterationOptions options, IterationPlace place);
  ~Iteration() override;
  /** Starts all ranks at the agenda's current time. */
  void begin();
  /** Returns whether all ranks have finished, or the iteration cannot continue. */
  bool is_over() const { return over_; }
  /** Ends an iteration that cannot continue. */
  void fail(const std::string& outcome, const std::string& message);
  /** Ends the iteration if it has ranks on a host that failed at @p since. */
  void host_failed(int host, Seconds since);
  /** Describes the pending waits of ranks, for errors when no further event can happen. */
  std::string waits() const;
  /** Returns the fraction of completed operations. */
  double done() const { return 1 - static_cast<double>(works_left_) / static_cast<double>(works_); }
  /** Returns whether reuse is already known to be wrong. */
  bool reuse_is_wrong() const { return reuse_was_wrong_; }
  /** Returns whether reuse was wrong because groups do not have links of their own; valid once the iteration is
   * over. */
  bool reuse_was_wrong() const;
  /** Returns the links of groups whose equal calls are executed once; null if all calls are executed. */
  GroupLinks* own_links() { return apart_ ? &apart_->links : nullptr; }
  /** Returns the times of an iteration that is over, without the messages on the network of @p place. */
  IterationTimes take_times();
  /** Adds the use of links to the times of an iteration: by class, and by class and rank. */
  void add_links(IterationTimes& times) const;

private:
  /** Call in flight: its operations and times, by position in the group. */
  struct OpenCall {
    std::unique_ptr<GroupCall> call;
    std::uint32_t division                        = 0;
    int group                                     = 0;
    std::shared_ptr<const PlannedCall> planned    = {};
    std::vector<std::pair<WorkNumber, double>> at = {}; ///< operation and time of entry
    double complete                               = 0;  ///< time at which the last rank entered
    int left                                      = 0;
  };
  /** Calls of groups with links of their own, which are executed separately. */
  struct Apart {
    Agenda agenda;
    GroupLinks links;
    FlowNetwork network;
    KnownCalls known;
    explicit Apart(Iteration& its);
  };
  /** Computation of a GPU in progress. */
  struct Computing {
    WorkNumber number;
    double begin;
    double left;  ///< remaining seconds on all multiprocessors, at time `since`
    double since; ///< time of the last update
  };
  struct Posted {
    WorkNumber number;
    double since;
  };
  /** Messages from one rank to another with the same tag of which only one side has been posted. */
  struct Unmatched {
    std::deque<Posted> sends;
    std::deque<Posted> receives;
  };
  struct Flight {
    int from;
    int to;
    Posted send;
    Posted receive;
    double left;
    std::uint32_t traffic;
  };

  const Workload& workload_;
  const Fabric& fabric_;
  const IterationOptions options_;
  const NcclLibrary nccl_;
  Agenda& agenda_;
  Messages& network_;
  const std::function<void()> on_over_;
  const bool reports_errors_;
  const std::vector<double> capacities_; // by resource
  FabricRoutes unguarded_;
  LinkUses uses_;
  MessageCosts costs_;
  CallNetwork calls_on_;
  std::unique_ptr<Apart> apart_;              // null: all calls are executed on the shared network
  std::unique_ptr<CallFlows> as_flows_;       // null: calls consist of messages
  std::unique_ptr<MulticastCalls> multicast_; // null: NCCL executes Allgathers

  std::vector<int> hosts_; // by rank
  std::vector<ProgramOrder> orders_;
  std::vector<RankProgress> progress_;
  std::vector<RankAccounts> accounts_;
  std::vector<bool> listed_;                      // by rank; empty: none
  std::vector<std::vector<std::uint32_t>> begun_; // by division and rank: number of collectives that have begun
  std::vector<std::vector<int>> inside_;          // by division and rank: number of calls in progress
  std::map<std::tuple<std::uint32_t, int, std::uint32_t>, std::uint64_t>
      open_;                                      // calls in flight, by division, group and sequence number
  std::vector<std::vector<Computing>> computing_; // by rank, as is taken_; empty if calls do not slow computation down
  std::vector<int> taken_;                        // multiprocessors occupied by calls
  std::vector<OpenCall> calls_;                   // positions are reused
  std::vector<std::uint64_t> idle_calls_;
  std::vector<std::unique_ptr<GroupCall>> ended_; // kept until none of their functions is on the stack
  std::unordered_map<std::uint64_t, std::map<int, Unmatched>> unmatched_; // by both ranks, then tag
  std::vector<Flight> flights_;
  std::vector<std::uint64_t> idle_flights_;
  std::map<std::vector<int>, int> shapes_; // shapes of groups: the node of each rank
  std::vector<std::vector<int>> shape_of_; // by division and group; -1: not known yet
  std::map<std::tuple<int, NcclCollective, double>, std::shared_ptr<const NcclPlan>>
      plans_; // plans by shape, collective and bytes
  std::map<std::tuple<std::uint32_t, int, NcclCollective, double>, std::shared_ptr<const PlannedCall>> planned_;
  std::map<const NcclPlan*, int> calls_of_; // number of calls by plan
  IterationTimes times_;
  std::size_t ranks_left_;
  bool over_              = false;
  bool reuse_was_wrong_   = false;
  std::size_t works_      = 0; // operations of all ranks ...
  std::size_t works_left_ = 0; // ... and those that are not complete

  std::uint32_t message_kind() const { return static_cast<std::uint32_t>(workload_.divisions.size()); }
  void execute_calls_as_flows(const IterationPlace& place);
  bool is_multicast(const PlannedCall& call) const { return multicast_ && multicast_->carries(call); }
  int channels(const PlannedCall& call) const { return is_multicast(call) ? 0 : call.call.nccl->choice.channels; }
  bool calls_were_disturbed() const;
  void advance(int rank);
  void begin(int rank, WorkNumber number);
  void end(int rank, const TimedWork& work);
  bool is_listed(int rank) const { return not listed_.empty() && listed_[static_cast<std::size_t>(rank)]; }
  double computation(int rank, WorkNumber number) const;
  double speed(int rank) const;
  void take_multiprocessors(int rank, int number);
  std::optional<double> end_computing(int rank, WorkNumber number);
  void end_waiting(OpenCall& open);
  void join(int rank, WorkNumber number);
  std::unique_ptr<GroupCall> begun_call(std::uint64_t number, const OpenCall& open, const GroupLinks::Own* own);
  std::uint64_t open_call(std::uint32_t division, int group, std::uint32_t sequence, const Work& work);
  void check_agreement(const OpenCall& open, int rank, WorkNumber number) const;
  int shape(std::uint32_t division, int group);
  NcclWays ways(const std::vector<int>& hosts);
  std::shared_ptr<const PlannedCall> plan(std::uint32_t division, int group, const Work& work);
  void post(int rank, WorkNumber number);
  void depart(int from, int to, Posted send, Posted receive);
  std::string reason_to_wait(int rank, WorkNumber number) const;

  void due(std::uint64_t rank_and_number) override;
  void settle() override { ended_.clear(); }
  void arrived(std::uint64_t flight) override;
  void failed(std::uint64_t flight, const std::string& why) override;
  void left(std::uint64_t call, int place) override;
  void call_failed(std::uint64_t call, const std::string& why) override;
};

} // namespace weft
