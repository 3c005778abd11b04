// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/rank_counters.hpp"

#include <smpi/smpi.h>

namespace weft {

bool RankCounters::counting = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): read in each call

RankCounters& RankCounters::of(aid_t actor)
{
  static auto& all = *new std::map<aid_t, RankCounters>; // leaked, since ranks may end during static destruction
  counting         = true;
  return all[actor];
}

void RankCounters::count_function(aid_t actor, const MpiFunction& function, double duration)
{
  RankCounters& its = of(actor);
  its.kinds[static_cast<std::size_t>(function.kind)].add(duration);
  auto found = its.functions.find(std::string_view(function.name));
  if (found == its.functions.end())
    found = its.functions.try_emplace(function.name).first;
  found->second.add(duration);
}

void RankCounters::count_collective(aid_t actor, const Collective& call)
{
  const auto count = [&call](CallCounters& counters) {
    counters.add(call.duration);
    counters.bytes += static_cast<std::uint64_t>(call.bytes);
    counters.offloaded += call.offloaded ? 1 : 0;
  };
  RankCounters& its = of(actor);
  count(its.collectives[static_cast<std::size_t>(call.kind - COLLECTIVE_KINDS.data())]);
  if (call.communicator != MPI_UNDEFINED)
    count(its.communicators[call.communicator]);
}

} // namespace weft
