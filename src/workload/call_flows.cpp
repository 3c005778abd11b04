// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/call_flows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace weft {
namespace {

/** Maximum number of uses of a link by a flow: loads of links are rounded to 1/16 of the largest load. */
constexpr double MOST_USES = 16;

class FlowCall : public GroupCall, Due, Receiving {
  FlowNetwork& network_;
  Agenda& agenda_;
  const CallFlow& flow_;

  void entered(int /*rank*/) override
  {
    if (is_complete())
      network_.start(flow_.way, agenda_.now(), *this, 0);
  }
  void arrived(std::uint64_t /*flow*/) override
  {
    for (std::size_t at = 0; at < flow_.after->size(); ++at)
      agenda_.add(agenda_.now() + Seconds((*flow_.after)[at]), *this, at);
  }
  void failed(std::uint64_t /*flow*/, const std::string& why) override { fail(why); }
  void due(std::uint64_t rank) override { leave(static_cast<int>(rank)); }

public:
  FlowCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, FlowNetwork& network, Agenda& agenda,
           const CallFlow& flow, GroupCallEnds& ends)
      : GroupCall(number, std::move(planned), ends), network_(network), agenda_(agenda), flow_(flow)
  {
  }
};

} // namespace

LoadedWay way_of_loads(const std::map<int, double>& loads, const std::vector<double>& capacities)
{
  LoadedWay all;
  all.way.bound  = std::numeric_limits<double>::infinity();
  double largest = 0;
  double narrow  = 0; // load of the link that limits the call
  for (const auto& [resource, load] : loads) {
    largest = std::max(largest, load);
    if (const double seconds = load / capacities[static_cast<std::size_t>(resource)]; seconds > all.seconds) {
      all.seconds = seconds;
      narrow      = load;
    }
  }
  // The load of the limiting link is exact.
  all.uses       = narrow > 0 ? std::max(1.0, std::round(MOST_USES * narrow / largest)) : 1;
  all.way.volume = narrow / all.uses;
  for (const auto& [resource, load] : loads)
    all.way.resources.insert(all.way.resources.end(),
                             std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(load / all.way.volume))),
                             resource);
  return all;
}

std::unique_ptr<GroupCall> make_flow_call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                          FlowNetwork& network, Agenda& agenda, const CallFlow& flow,
                                          GroupCallEnds& ends)
{
  return std::make_unique<FlowCall>(number, std::move(planned), network, agenda, flow, ends);
}

CallFlows::CallFlows(Agenda& agenda, FlowNetwork& network, MessageRoutes& routes, const std::vector<double>& capacities,
                     const MessageCosts& costs, int vertices)
    : agenda_(agenda), network_(network), routes_(routes), capacities_(capacities), costs_(costs), vertices_(vertices)
{
}

/** Returns the links of a call's messages. */
LoadedWay CallFlows::links(const PlannedCall& call, const std::vector<PairBytes>& pairs)
{
  std::map<int, double> loads;
  double penalty = 0;
  FlowRoute one;
  for (const PairBytes& pair : pairs) {
    one.resources.clear();
    routes_.find(call.hosts[static_cast<std::size_t>(pair.from)], call.hosts[static_cast<std::size_t>(pair.to)],
                 pair.bytes, 0, one);
    for (const int resource : one.resources)
      loads[resource] += one.volume;
    penalty = std::max(penalty, one.penalty);
  }
  LoadedWay all   = way_of_loads(loads, capacities_);
  all.way.penalty = penalty;
  return all;
}

/** Executes a call alone. */
CallFlows::Traffic CallFlows::measured(const PlannedCall& call)
{
  Agenda agenda;
  FlowNetwork network(agenda, routes_, capacities_, vertices_);
  std::vector<double> ends = ends_of_call(
      {agenda, network, costs_, nullptr}, call.hosts, [&](int rank) { return call.schedule(rank); },
      std::vector<std::int64_t>(call.hosts.size()));
  Traffic its;
  its.pairs = pair_bytes(call);
  // Ranks of a Bcast may finish before the flow does.
  const NcclPlan& plan = *call.call.nccl;
  const double first   = std::max(std::ranges::min(ends), links(call, its.pairs).seconds);
  its.latency          = std::min(first, (plan.begin.latency + plan.end.latency).value());
  its.seconds          = first - its.latency;
  for (double& end : ends)
    end = std::max(0.0, end - first);
  its.after = std::make_shared<const std::vector<double>>(std::move(ends));
  return its;
}

const CallFlow& CallFlows::flow(const PlannedCall& call)
{
  const auto [at, is_new] = flows_.try_emplace(&call);
  if (not is_new)
    return at->second;
  const NcclPlan* const plan = call.call.nccl.get();
  auto found                 = traffic_.find(plan);
  if (found == traffic_.end())
    found = traffic_.emplace(plan, measured(call)).first;
  const Traffic& traffic = found->second;
  CallFlow& its          = at->second;
  its.way                = links(call, traffic.pairs).way;
  its.way.latency        = traffic.latency;
  its.way.bound          = its.way.volume / traffic.seconds;
  its.after              = traffic.after;
  return its;
}

std::unique_ptr<GroupCall> CallFlows::call(std::uint64_t number, std::shared_ptr<const PlannedCall> planned,
                                           GroupCallEnds& ends)
{
  const CallFlow& its = flow(*planned);
  return make_flow_call(number, std::move(planned), network_, agenda_, its, ends);
}

} // namespace weft
