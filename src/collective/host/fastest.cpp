// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/fastest.hpp"

#include "base/share.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/prediction.hpp"
#include "collective/host/selection/algorithms.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace weft {
namespace {

/// Minimum speedup of a later candidate over the best so far: equal times differ by rounding, and the libraries' own
/// choices come first.
constexpr double CLEARLY = 1 - 1e-9;
/// Number of distinct count vectors predicted exactly, per collective and set of hosts. Beyond that, parts are assumed
/// equal: the program evidently changes its counts from call to call.
constexpr int MOST_UNEVEN = 32;

std::vector<int> hosts_of(const HostCall& call)
{
  std::vector<int> hosts;
  hosts.reserve(static_cast<std::size_t>(call.ranks));
  for (int rank = 0; rank < call.ranks; ++rank)
    hosts.push_back(call.host(rank));
  return hosts;
}

/** Returns the elements of each rank's part; empty if they are equal. */
std::vector<Elements> parts_of(const HostCall& call)
{
  std::vector<Elements> parts;
  for (int rank = 0; call.block && rank < call.ranks; ++rank)
    parts.push_back(call.collective == "reduce_scatter" ? call.to(rank) : call.from(rank));
  return parts;
}

/** Predicts candidates and keeps the fastest. */
class Race {
  const Fabric& fabric_;
  const MessageCosts& costs_;
  const std::vector<int>& hosts_;
  const HostCall& call_;
  const int calls_;
  Selection::Choice best_{nullptr, {}};
  Seconds time_{std::numeric_limits<double>::infinity()};
  std::set<std::tuple<MakeSchedule, double, int, const Selection*>> tried_; // library is null if it makes no difference
  std::set<MakeSchedule> simple_;                                           // algorithms without nested calls

public:
  Race(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts, const HostCall& call, int calls)
      : fabric_(fabric), costs_(costs), hosts_(hosts), call_(call), calls_(calls)
  {
  }
  const Selection::Choice& best() const { return best_; }

  /** Adds @p choice; @p library resolves its nested calls. */
  void add(Selection::Choice choice, const Selection& library)
  {
    if (not choice.algorithm || not can_do(*choice.algorithm, call_))
      return;
    choice = library.executed(choice, call_);
    if (not can_do(*choice.algorithm, call_))
      return;
    const auto key = [&](const Selection* inner) {
      return std::tuple(choice.algorithm->schedule, choice.tuning.segment.value(), choice.tuning.fan_out, inner);
    };
    const bool simple = simple_.contains(choice.algorithm->schedule);
    if (not tried_.insert(key(simple ? nullptr : &library)).second)
      return;
    bool asked    = false;
    HostCall call = library.resolved(call_);
    call.within   = [&asked, decide = std::move(call.within)](const HostCall& inner, int rank) {
      asked = true;
      return decide(inner, rank);
    };
    const Seconds limit = best_.algorithm ? time_ * CLEARLY : time_;
    const Seconds time  = predicted_interval(fabric_, costs_, hosts_, call, choice, calls_, limit);
    if (not asked && simple_.insert(choice.algorithm->schedule).second)
      tried_.insert(key(nullptr));
    if (best_.algorithm && std::isinf(time.value()))
      return;
    best_         = std::move(choice);
    best_.library = asked ? &library : nullptr;
    time_         = time;
  }
};

} // namespace

void FastestAlgorithm::prepare()
{
  if (costs_)
    return;
  costs_ = make_costs_();
  libraries_.push_back(Selection::load(Selection::DEFAULT));
  for (const std::string& name : list_shared("presets/mpi"))
    if (name != Selection::DEFAULT)
      if (Selection library = Selection::load(name); library.in_best())
        libraries_.push_back(std::move(library));
}

/** Returns the call, or one with equal parts if too many different count vectors have been predicted. */
HostCall FastestAlgorithm::comparable(int placement, const HostCall& call) const
{
  const auto seen = uneven_.find({placement, std::string(call.collective)});
  HostCall same   = call;
  if (call.block && seen != uneven_.end() && seen->second >= MOST_UNEVEN) {
    const std::vector<Elements> parts = parts_of(call);
    same.block = [mean = std::reduce(parts.begin(), parts.end()) / call.ranks](int, int) { return mean; };
  }
  return same;
}

Selection::Choice FastestAlgorithm::choose(const HostCall& asked, int calls)
{
  prepare();
  const std::vector<int> hosts = hosts_of(asked);
  const int placement          = placements_.try_emplace(hosts, static_cast<int>(placements_.size())).first->second;
  const HostCall call          = libraries_.front().resolved(comparable(placement, asked));
  const auto root              = static_cast<std::size_t>(call.root);
  const auto node              = static_cast<std::size_t>(call.nodes->node[root]);
  const Key key{placement,
                std::string(call.collective),
                call.blocking,
                call.commutative,
                call.predefined,
                call.count,
                call.element.value(),
                call.nodes->place[root],
                static_cast<int>(call.nodes->ranks[node].size()),
                parts_of(call),
                calls};
  if (const auto found = chosen_.find(key); found != chosen_.end())
    return found->second;
  if (call.block)
    ++uneven_[{placement, std::string(call.collective)}];
  return chosen_.emplace(key, predict(hosts, call, calls)).first->second;
}

Selection::Choice FastestAlgorithm::predict(const std::vector<int>& hosts, const HostCall& call, int calls) const
{
  Race race(fabric_, *costs_, hosts, call, calls);
  for (const Selection& library : libraries_)
    race.add(library.choose(call), library);
  for (const Algorithm& algorithm : host_algorithms()) {
    if (algorithm.collective != call.collective || algorithm.source == Library::ucc)
      continue;
    std::set<std::pair<double, int>> tunings{{0, 0}};
    for (const Selection& library : libraries_)
      for (const Tuning& its : library.tunings(algorithm))
        if (its.segment < call.bytes(call.count)) // larger segments have no effect
          tunings.emplace(its.segment.value(), its.fan_out);
    for (const auto& [segment, fan_out] : tunings)
      for (const Selection& library : libraries_)
        race.add({&algorithm, {Bytes(segment), fan_out}}, library);
  }
  return race.best();
}

} // namespace weft
