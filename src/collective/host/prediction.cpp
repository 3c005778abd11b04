// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/prediction.hpp"

#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "network/nic_queues.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace weft {
namespace {

constexpr Seconds NEVER{std::numeric_limits<double>::infinity()};

/** Network without other traffic. */
struct QuietNetwork {
  const std::vector<int>& hosts; // by rank
  const MessageCosts& costs;
  Agenda agenda;
  FabricRoutes ways;
  FlowNetwork flows;
  std::optional<NicQueues> nics; // present if NICs limit the message rate
  std::optional<QueuedMessages> queued;

  QuietNetwork(const Fabric& fabric, const MessageCosts& its_costs, const std::vector<int>& its_hosts)
      : hosts(its_hosts), costs(its_costs), ways(fabric),
        flows(agenda, ways, FabricRoutes::capacities(fabric), fabric.host_count())
  {
    flows.set_resolution(fabric.resolution());
    if (fabric.sharing() == LinkSharing::host)
      flows.share_by_class(FabricRoutes::tails(fabric), true);
    if (fabric.nic().limits_messages())
      queued.emplace(nics.emplace(agenda, fabric.nic().message_rate, fabric.host_count()), flows);
  }
  Messages& messages() { return queued ? static_cast<Messages&>(*queued) : flows; }
};

/** Finish times of the ranks of a call, and the callback for each. */
struct CallEnds {
  std::function<void(int rank, Seconds end)> then;
  int ended = 0; // ranks that have finished
  Seconds end;   // latest finish time so far
  Seconds sum;   // sum of all finish times

  void add(int rank, Seconds now)
  {
    ++ended;
    end = now;
    sum += end;
    then(rank, now);
  }
};

/** Call executed by the hosts. */
class HostsCall : RankCallbacks {
  QuietNetwork& network_;
  CallEnds& ends_;
  Execution execution_;

  void rank_ended(int rank) override { ends_.add(rank, network_.agenda.now()); }

public:
  struct What {
    const HostCall& call;
    const Selection::Choice& choice;
  };
  HostsCall(QuietNetwork& network, const What& what, CallEnds& ends)
      : network_(network), ends_(ends),
        execution_(
            network.agenda, network.messages(), network.costs, network.hosts,
            [what](int rank) { return what.choice.algorithm->schedule(what.call, rank, what.choice.tuning); }, *this)
  {
    execution_.work_on(buffers_of_a_rank(what.call));
  }
  void enter(int rank, Seconds now) { execution_.enter(rank, now); }
};

/** Call executed by a tree, with a host stage before and after it. */
class StagedCall : HostStage::Listener, Due {
public:
  struct What {
    Members members;
    const HostStageAlgorithms& algorithms;
    const HostStageCall& call;
    Seconds in_tree;
  };

private:
  QuietNetwork& network_;
  CallEnds& ends_;
  const What what_;
  HostStage stage_;
  std::size_t contributed_ = 0; // members that have contributed

  void rank_ended(int rank) override { ends_.add(rank, network_.agenda.now()); }
  void contributed(int /*member*/) override
  {
    if (++contributed_ == what_.members.ranks.size())
      network_.agenda.add(network_.agenda.now() + what_.in_tree, *this, 0);
  }
  void due(std::uint64_t /*what*/) override
  {
    for (std::size_t member = 0; member < what_.members.ranks.size(); ++member)
      stage_.deliver(static_cast<int>(member), network_.agenda.now());
  }

public:
  StagedCall(QuietNetwork& network, const What& what, CallEnds& ends)
      : network_(network), ends_(ends), what_(what),
        stage_(network.agenda, network.messages(), network.costs, network.hosts, what.members, what.algorithms,
               what.call, *this)
  {
  }
  void enter(int rank, Seconds now) { stage_.enter(rank, now); }
};

/** Consecutive identical calls: each rank enters the next call when it leaves the previous one. */
template <class Call> class CallsInARow {
  struct Numbered {
    CallEnds ends;
    std::optional<Call> call;
  };
  QuietNetwork network_;
  const typename Call::What what_;
  const int number_;
  std::vector<std::unique_ptr<Numbered>> calls_; // calls that at least one rank has entered

  /** Returns call @p number, from 1. */
  Numbered& at(int number)
  {
    if (static_cast<std::size_t>(number) > calls_.size()) {
      Numbered& made = *calls_.emplace_back(std::make_unique<Numbered>());
      made.ends.then = [this, number](int rank, Seconds end) {
        if (number < number_)
          at(number + 1).call->enter(rank, end);
      };
      made.call.emplace(network_, what_, made.ends);
    }
    return *calls_[static_cast<std::size_t>(number) - 1];
  }
  int ranks() const { return static_cast<int>(network_.hosts.size()); }

public:
  CallsInARow(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
              const typename Call::What& what, int number)
      : network_(fabric, costs, hosts), what_(what), number_(number)
  {
    for (int rank = 0; rank < ranks(); ++rank)
      at(1).call->enter(rank, Seconds());
  }

  /** Runs until all ranks have left call @p number; returns false if that takes longer than @p limit. */
  bool run(int number, Seconds limit)
  {
    while (static_cast<std::size_t>(number) > calls_.size() || at(number).ends.ended < ranks()) {
      const Seconds next = network_.agenda.next();
      if (next == NEVER || next > limit)
        return false;
      network_.agenda.run_until(next);
    }
    return true;
  }
  /** Returns the time at which the last rank has left a call that run() has finished. */
  Seconds end(int number) { return at(number).ends.end; }
  Seconds mean(int number) { return at(number).ends.sum / ranks(); }

  /** Returns the predicted interval; see predicted_interval(). */
  Seconds interval(Seconds most)
  {
    // Relative tolerance within which two successive calls add the same time: the steady state.
    constexpr double STEADY = 1e-3;
    Seconds before;
    Seconds added_before;
    for (int number = 1; number <= number_; ++number) {
      if (not run(number, most * number_))
        return NEVER;
      const Seconds added = end(number) - before;
      before              = end(number);
      if (number > 1 && std::abs((added - added_before).value()) <= STEADY * added.value()) {
        before += (number_ - number) * added;
        break;
      }
      added_before = added;
    }
    const Seconds interval = before / number_;
    return interval > most ? NEVER : interval;
  }
};

} // namespace

Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice)
{
  CallsInARow<HostsCall> one(fabric, costs, hosts, {call, choice}, 1);
  return one.run(1, NEVER) ? one.mean(1) : NEVER;
}

Seconds predicted_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                           const HostCall& call, const Selection::Choice& choice, int calls, Seconds most)
{
  return CallsInARow<HostsCall>(fabric, costs, hosts, {call, choice}, calls).interval(most);
}

Seconds predicted_staged_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                                  Members members, const HostStageAlgorithms& algorithms, const HostStageCall& call,
                                  Seconds in_tree, int calls)
{
  return CallsInARow<StagedCall>(fabric, costs, hosts, {members, algorithms, call, in_tree}, calls).interval(NEVER);
}

} // namespace weft
