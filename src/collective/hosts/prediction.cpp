// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/prediction.hpp"

#include "collective/hosts/fabric_ways.hpp"
#include "flow/flow_network.hpp"

#include <limits>

namespace weft {
namespace {

class EndTimes : public RankEnd {
  const Agenda& agenda_;

public:
  int ended = 0;
  Seconds sum;
  explicit EndTimes(const Agenda& agenda) : agenda_(agenda) {}
  void rank_ended(int /*rank*/) override
  {
    ++ended;
    sum += agenda_.now();
  }
};

} // namespace

Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice, Seconds most)
{
  constexpr Seconds NEVER{std::numeric_limits<double>::infinity()};
  Agenda agenda;
  FabricWays ways(fabric);
  FlowNetwork network(agenda, ways, FabricWays::capacities(fabric), fabric.host_count());
  EndTimes ends(agenda);
  Execution execution(
      agenda, network, costs, hosts, [&](int rank) { return choice.algorithm->schedule(call, rank, choice.tuning); },
      ends);
  execution.work_on(buffers_of_a_rank(call));
  for (int rank = 0; rank < call.ranks; ++rank)
    execution.enter(rank, Seconds());
  while (ends.ended < call.ranks) {
    const Seconds next = agenda.next();
    // Whoever has not ended yet does so then or later.
    if (next == NEVER || ends.sum + (call.ranks - ends.ended) * next > call.ranks * most)
      return NEVER;
    agenda.run_until(next);
  }
  return ends.sum / call.ranks;
}

} // namespace weft
