// SPDX-License-Identifier: LGPL-2.1-only
/* Timed collective of a group. By default each rank executes the steps of NCCL's schedule from its entry. A group with
 * links of its own waits until all ranks have entered, and then reuses the result of an equal call: times depend only
 * on how much earlier than the last rank the other ranks have entered. The first such call is executed on a separate
 * network. A call may instead be one flow (call_flows.hpp). */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/nccl/nccl_plan.hpp"
#include "network/agenda.hpp"
#include "network/flow_network.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

/** Call of a collective, as all its ranks make it. */
struct PlannedCall {
  HostCall call; ///< including its plan
  std::vector<int> hosts;
  std::uint32_t traffic = 0; ///< traffic number in LinkUses

  Schedule schedule(int rank) const;
};

/** Network on which calls are executed. */
struct CallNetwork {
  Agenda& agenda;
  Messages& messages;
  const MessageCosts& costs;
  std::shared_ptr<Execution::Memory> memory;
};

/** Executes a call whose ranks have the steps of @p schedule to completion. Returns the end of each rank, in seconds
 * after the last one has entered. @p before: by rank, the picoseconds by which it has entered earlier. */
std::vector<double> ends_of_call(const CallNetwork& network, const std::vector<int>& hosts,
                                 const std::function<Schedule(int rank)>& schedule,
                                 const std::vector<std::int64_t>& before);

/** Memoized results of calls on links of their own. */
class KnownCalls {
  static constexpr std::size_t MOST = 1048576; ///< maximum number of memoized results
  /** Plan, links, and by rank the picoseconds by which it enters earlier than the last. */
  using Signature = std::tuple<const NcclPlan*, int, std::vector<std::int64_t>>;
  struct Known {
    std::shared_ptr<const PlannedCall> call; ///< refers to the links on which it was executed
    std::vector<double> ends;                ///< by rank, in seconds after the last one has entered
  };
  CallNetwork network_;
  std::map<Signature, Known> known_;
  std::size_t executed_ = 0;
  bool forgot_          = false;

public:
  explicit KnownCalls(CallNetwork network) : network_(std::move(network)) {}
  /** Returns the end of each rank, in seconds after the last one has entered; @p entered by rank, in seconds. */
  const std::vector<double>& ends(const std::shared_ptr<const PlannedCall>& call, int wiring,
                                  const std::vector<double>& entered);
  std::size_t executed() const { return executed_; }
  /** Returns whether all calls take the same time on another network. */
  bool hold_on(const CallNetwork& other) const;
  /** Returns the maximum number of messages of a rank in flight, over all calls. */
  int most_flows() const;
};

/** Receiver of the ends of calls. */
class GroupCallEnds {
public:
  GroupCallEnds()                                                      = default;
  GroupCallEnds(const GroupCallEnds&)                                  = delete;
  GroupCallEnds& operator=(const GroupCallEnds&)                       = delete;
  virtual ~GroupCallEnds()                                             = default;
  virtual void left(std::uint64_t call, int rank)                      = 0;
  virtual void call_failed(std::uint64_t call, const std::string& why) = 0;
};

/** Timed call. */
class GroupCall {
  const std::uint64_t number_;
  const std::shared_ptr<const PlannedCall> planned_;
  GroupCallEnds& ends_;
  std::size_t inside_ = 0;

protected:
  /** @p number identifies the call to @p ends, which must outlive it. */
  GroupCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, GroupCallEnds& ends)
      : number_(number), planned_(std::move(planned)), ends_(ends)
  {
  }
  const std::shared_ptr<const PlannedCall>& planned() const { return planned_; }
  void leave(int rank) { ends_.left(number_, rank); }
  void fail(const std::string& why) { ends_.call_failed(number_, why); }
  virtual void entered(int rank) = 0;

public:
  GroupCall(const GroupCall&)            = delete;
  GroupCall& operator=(const GroupCall&) = delete;
  virtual ~GroupCall()                   = default;
  /** Makes a rank enter now. */
  void enter(int rank)
  {
    ++inside_;
    entered(rank);
  }
  std::size_t inside() const { return inside_; }
  bool is_complete() const { return inside_ == planned_->hosts.size(); }
};

/** Call in which each rank executes the steps of its schedule. */
class SteppedCall : public GroupCall, RankCallbacks {
  Agenda& agenda_;
  Execution execution_;

  void entered(int rank) override { execution_.enter(rank, agenda_.now()); }
  void rank_ended(int rank) override { leave(rank); }
  void call_failed(const std::string& why) override { fail(why); }

public:
  /** @p network must outlive the call, as for all calls. */
  SteppedCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, const CallNetwork& network,
              GroupCallEnds& ends);
};

/** Call on links of its own, which reuses the result of an equal one. */
class KnownCall : public GroupCall, Due {
  Agenda& agenda_;
  KnownCalls& known_;
  int wiring_;
  std::vector<double> times_; // times of entry, by rank

  void entered(int rank) override;
  void due(std::uint64_t rank) override { leave(static_cast<int>(rank)); }

public:
  KnownCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, Agenda& agenda, KnownCalls& known,
            int wiring, GroupCallEnds& ends);
};

} // namespace weft
