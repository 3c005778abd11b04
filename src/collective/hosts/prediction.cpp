// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/prediction.hpp"

#include "collective/hosts/fabric_ways.hpp"
#include "flow/flow_network.hpp"

#include <cmath>
#include <limits>
#include <memory>

namespace weft {
namespace {

constexpr Seconds NEVER{std::numeric_limits<double>::infinity()};

/** Identical calls that follow each other on a quiet network. */
class CallsInARow {
  struct Call : RankEnd {
    CallsInARow& row;
    int number;
    Execution execution;
    int ended = 0;
    Seconds end; ///< of the last rank so far
    Seconds sum; ///< of all ranks' ends

    Call(CallsInARow& its_row, int its_number)
        : row(its_row), number(its_number),
          execution(
              row.agenda_, row.network_, row.costs_, row.hosts_,
              [&its = row](int rank) { return its.choice_.algorithm->schedule(its.call_, rank, its.choice_.tuning); },
              *this)
    {
      execution.work_on(buffers_of_a_rank(row.call_));
    }
    void rank_ended(int rank) override
    {
      ++ended;
      end = row.agenda_.now();
      sum += end;
      if (number < row.number_)
        row.at(number + 1).execution.enter(rank, end);
    }
  };

  const HostCall& call_;
  const Selection::Choice& choice_;
  const MessageCosts& costs_;
  const std::vector<int>& hosts_;
  const int number_;
  Agenda agenda_;
  FabricWays ways_;
  FlowNetwork network_;
  std::vector<std::unique_ptr<Call>> calls_; // those that a rank has entered

  /** @p number from 1. */
  Call& at(int number)
  {
    if (static_cast<std::size_t>(number) > calls_.size())
      calls_.push_back(std::make_unique<Call>(*this, number));
    return *calls_[static_cast<std::size_t>(number) - 1];
  }

public:
  CallsInARow(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts, const HostCall& call,
              const Selection::Choice& choice, int number)
      : call_(call), choice_(choice), costs_(costs), hosts_(hosts), number_(number), ways_(fabric),
        network_(agenda_, ways_, FabricWays::capacities(fabric), fabric.host_count())
  {
    for (int rank = 0; rank < call.ranks; ++rank)
      at(1).execution.enter(rank, Seconds());
  }

  /** Runs until all ranks have left call @p number; false where that is later than @p limit. */
  bool run(int number, Seconds limit)
  {
    while (static_cast<std::size_t>(number) > calls_.size() || at(number).ended < call_.ranks) {
      const Seconds next = agenda_.next();
      if (next == NEVER || next > limit)
        return false;
      agenda_.run_until(next);
    }
    return true;
  }
  /** When the last rank has left a call that run() has finished. */
  Seconds end(int number) { return at(number).end; }
  Seconds mean(int number) { return at(number).sum / call_.ranks; }
};

} // namespace

Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice)
{
  CallsInARow one(fabric, costs, hosts, call, choice, 1);
  return one.run(1, NEVER) ? one.mean(1) : NEVER;
}

Seconds predicted_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                           const HostCall& call, const Selection::Choice& choice, int calls, Seconds most)
{
  // Two calls that add the same time, up to so much of it: all others will, too.
  constexpr double STEADY = 1e-3;
  CallsInARow row(fabric, costs, hosts, call, choice, calls);
  Seconds before;
  Seconds added_before;
  for (int number = 1; number <= calls; ++number) {
    if (not row.run(number, most * calls))
      return NEVER;
    const Seconds end   = row.end(number);
    const Seconds added = end - before;
    if (number > 1 && std::abs((added - added_before).value()) <= STEADY * added.value()) {
      before = end + (calls - number) * added;
      break;
    }
    before       = end;
    added_before = added;
  }
  const Seconds interval = before / calls;
  return interval > most ? NEVER : interval;
}

} // namespace weft
