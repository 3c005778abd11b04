// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/engine_use.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

std::map<VertexId, int> ranks_by_host(std::span<const VertexId> hosts)
{
  std::map<VertexId, int> ranks;
  for (const VertexId host : hosts)
    ++ranks[host];
  return ranks;
}

} // namespace

bool EngineUse::has_memory(std::span<const VertexId> hosts, int communicator, std::int64_t chunks) const
{
  if (fabric_.progress_engines().empty())
    return true;
  static const EngineMemory EMPTY;
  return std::ranges::all_of(ranks_by_host(hosts), [&](const std::pair<const VertexId, int>& its) {
    const auto found           = memories_.find(its.first);
    const EngineMemory& memory = found == memories_.end() ? EMPTY : found->second;
    return memory.has_room(*fabric_.progress_engine(its.first), communicator, chunks, its.second);
  });
}

void EngineUse::take_memory(std::span<const VertexId> hosts, int communicator, std::int64_t chunks)
{
  if (fabric_.progress_engines().empty())
    return;
  for (const auto& [host, ranks] : ranks_by_host(hosts))
    memories_[host].take(communicator, chunks, ranks);
}

void EngineUse::release_memory(int communicator)
{
  for (auto& [host, memory] : memories_)
    memory.release(communicator);
}

} // namespace weft
