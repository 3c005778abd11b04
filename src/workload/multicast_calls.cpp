// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/multicast_calls.hpp"

#include "base/error.hpp"
#include "collective/multicast/chains.hpp"
#include "collective/multicast/plan.hpp"
#include "collective/multicast/recursive_doubling.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace weft {
namespace {

/** Returns the number of roots of the longest chain, which multicast one after the other. */
std::size_t longest_chain(const MulticastModel& model, const MulticastGroup& group)
{
  std::vector<int> roots(static_cast<std::size_t>(group.ranks()));
  std::iota(roots.begin(), roots.end(), 0);
  std::size_t most = 0;
  for (const std::vector<int>& chain : chain_blocks(model, group, roots))
    most = std::max(most, chain.size());
  return most;
}

std::size_t barrier_rounds(int ranks)
{
  std::size_t most = 0;
  for (int rank = 0; rank < ranks; ++rank)
    most = std::max(most, recursive_doubling(rank, ranks).size());
  return most;
}

/** Returns the time of the busiest link of a plan. */
Seconds busiest(const Fabric& fabric, const MulticastPlan& plan)
{
  Seconds longest;
  for (const FlowLink& link : plan.links)
    longest = std::max(longest, time_on(fabric, link));
  return longest;
}

} // namespace

MulticastCalls::MulticastCalls(Agenda& agenda, FlowNetwork& network, const Fabric& fabric,
                               const std::vector<double>& capacities)
    : agenda_(agenda), network_(network), fabric_(fabric), capacities_(capacities), state_(fabric), routes_(fabric)
{
  if (fabric.sprays())
    throw UserError(fabric.name() + ": [routing] policy: packets are sprayed over links, but a multicast tree has one "
                                    "link between two switches; choose another policy, or no multicast");
}

/** Returns the longest latency of a message from the first rank, or to the next one. */
Seconds MulticastCalls::longest_message(const PlannedCall& call)
{
  double longest = 0;
  FlowRoute way;
  const auto ask = [&](std::size_t from, std::size_t to) {
    way.resources.clear();
    routes_.find(call.hosts[from], call.hosts[to], Bytes(), 0, way);
    longest = std::max(longest, way.latency);
  };
  for (std::size_t rank = 1; rank < call.hosts.size(); ++rank) {
    ask(0, rank);
    ask(rank - 1, rank);
  }
  return Seconds(longest);
}

std::vector<std::pair<int, double>> MulticastCalls::add(const PlannedCall& call, std::size_t spread,
                                                        const std::string& group)
{
  const GroupResult found = make_multicast_group(state_, call.hosts, spread);
  if (not found.group)
    throw UserError(fabric_.name() + ": there is no multicast tree for " + group +
                    ": its GPUs reach no common switch; choose a fabric whose switches connect them, or no multicast");
  const MulticastModel& model = fabric_.multicast();
  const MulticastGroup& its   = *found.group;
  std::vector<MulticastRoot> roots;
  roots.reserve(call.hosts.size());
  for (int rank = 0; rank < its.ranks(); ++rank)
    roots.push_back({rank, call.call.element});
  const MulticastPlan plan = plan_multicast(fabric_, its, roots, [](LinkId) { return 0.0; });

  std::map<int, double> loads;
  for (const FlowLink& link : plan.links)
    loads[link.link] = link.wire.value();
  Seconds way;
  for (const MulticastArrival& one : plan.arrivals)
    way = std::max(way, one.way);
  const std::size_t chain = longest_chain(model, its);
  const auto messages     = static_cast<double>(barrier_rounds(its.ranks()) + chain - 1 + 1);
  const MulticastPlan one = plan_multicast(fabric_, its, std::span(roots).first(1), [](LinkId) { return 0.0; });
  const Seconds duration  = std::max(busiest(fabric_, plan), busiest(fabric_, one) * static_cast<double>(chain));
  CallFlow& flow          = flows_[&call];
  LoadedWay loaded        = way_of_loads(loads, capacities_);
  // All of it has the weight of one message on the cable that limits it.
  loaded.way.penalty = loaded.uses * std::max(its.trees.front().forwarding.value(), FlowRoute::LEAST_PENALTY);
  flow.way           = std::move(loaded.way);
  flow.way.latency   = (longest_message(call) * messages + way).value();
  flow.way.bound     = flow.way.volume / duration.value();
  flow.after         = std::make_shared<const std::vector<double>>(call.hosts.size());
  return {loads.begin(), loads.end()};
}

std::unique_ptr<GroupCall> MulticastCalls::call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                                GroupCallEnds& ends)
{
  const CallFlow& its = flows_.at(planned.get());
  return make_flow_call(number, std::move(planned), network_, agenda_, its, ends);
}

} // namespace weft
