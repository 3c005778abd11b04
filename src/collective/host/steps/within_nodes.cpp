// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/within_nodes.hpp"

#include <utility>

namespace weft {
namespace {

template <class Ranks> Schedule steps_among(Ranks ranks, HostCall inner, int place, MakeSchedule otherwise)
{
  if (ranks.size() < 2)
    co_return;
  const Pipeline* const pipeline = inner.pipeline;
  Schedule steps                 = within(inner, place, otherwise);
  std::vector<Request> own; // the outer call's requests, by the inner call's numbers
  std::size_t ended = 0;    // number of leading requests that are complete
  while (steps.next()) {
    Step step = steps.step();
    if (pipeline)
      step.pipeline = pipeline;
    if (step.kind == Step::Kind::wait_all) {
      for (; ended < own.size(); ++ended) // only the inner call's own requests
        co_yield wait(own[ended]);
      continue;
    }
    if (step.kind == Step::Kind::wait)
      step.request = own[static_cast<std::size_t>(step.request)];
    if (step.kind != Step::Kind::send && step.kind != Step::Kind::receive) {
      co_yield step;
      continue;
    }
    step.peer            = ranks[static_cast<std::size_t>(step.peer)];
    const Request posted = co_yield step;
    own.push_back(posted);
  }
}

} // namespace

Schedule among(std::vector<int> ranks, HostCall inner, int place, MakeSchedule otherwise)
{
  return steps_among(std::move(ranks), std::move(inner), place, otherwise);
}

Schedule among(std::span<const int> ranks, HostCall inner, int place, MakeSchedule otherwise)
{
  return steps_among(ranks, std::move(inner), place, otherwise);
}

HostCall part_of(const HostCall& call, std::string_view collective, std::size_t ranks, int root)
{
  HostCall part;
  part.collective  = collective;
  part.ranks       = static_cast<int>(ranks);
  part.root        = root;
  part.count       = call.count;
  part.element     = call.element;
  part.commutative = call.commutative;
  part.blocking    = call.blocking;
  part.within      = call.within;
  part.predefined  = call.predefined;
  part.depth       = call.depth + 1;
  return part;
}

std::vector<int> NodePosition::leaders() const
{
  std::vector<int> first;
  first.reserve(nodes->ranks.size());
  for (const std::vector<int>& ranks : nodes->ranks)
    first.push_back(ranks.front());
  return first;
}

Schedule locally(const HostCall& call, const NodePosition& stand, std::string_view collective, int root,
                 MakeSchedule otherwise)
{
  HostCall part    = part_of(call, collective, stand.local.size(), root);
  part.within_host = true;
  return among(stand.local, std::move(part), stand.place, otherwise);
}

Schedule between(const HostCall& call, const NodePosition& stand, std::string_view collective, int root,
                 MakeSchedule otherwise)
{
  return among(stand.leaders(), part_of(call, collective, stand.nodes->ranks.size(), root), stand.node, otherwise);
}

} // namespace weft
