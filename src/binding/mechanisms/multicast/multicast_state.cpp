// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast_state.hpp"

#include <algorithm>
#include <cstddef>

namespace weft {
namespace {

/** Returns a communicator of the ranks that represent members; null if every rank is a member. */
std::shared_ptr<Communicator> speakers_of(const Communicator& all)
{
  if (all.members() == all.size())
    return nullptr;
  auto speakers = std::make_shared<Communicator>(all.key(), all.handle, all.members());
  for (int member = 0; member < all.members(); ++member) {
    const auto rank = static_cast<std::size_t>(all.member_ranks[static_cast<std::size_t>(member)].front());
    speakers->actors.push_back(all.actors[rank]);
    speakers->rank_hosts.push_back(all.rank_hosts[rank]);
    speakers->hosts.push_back(all.hosts[rank]);
  }
  return speakers;
}

} // namespace

MulticastState::MulticastState(const FabricState& state, MulticastRun& run, Communicator& communicator)
    : state_(state), fabric_(state.fabric()), run_(run), speakers_(speakers_of(communicator)), all_(communicator)
{
}

const std::shared_ptr<const GroupResult>& MulticastState::group()
{
  return group_.get(state_, [this] { return make_multicast_group(state_, members().rank_hosts, all_.tree_number()); });
}

std::map<VertexId, int> MulticastState::ranks_by_host()
{
  std::map<VertexId, int> ranks;
  for (const VertexId host : members().rank_hosts)
    ++ranks[host];
  return ranks;
}

bool MulticastState::has_memory(std::int64_t chunks)
{
  if (fabric_.progress_engines().empty())
    return true;
  static const EngineMemory EMPTY;
  return std::ranges::all_of(ranks_by_host(), [&](const std::pair<const VertexId, int>& its) {
    const auto found           = run_.memories.find(its.first);
    const EngineMemory& memory = found == run_.memories.end() ? EMPTY : found->second;
    return memory.has_room(*fabric_.progress_engine(its.first), all_.handle, chunks, its.second);
  });
}

void MulticastState::take_memory(std::int64_t chunks)
{
  if (fabric_.progress_engines().empty())
    return;
  for (const auto& [host, ranks] : ranks_by_host())
    run_.memories[host].take(all_.handle, chunks, ranks);
}

void MulticastState::release()
{
  for (auto& [host, memory] : run_.memories)
    memory.release(all_.handle);
}

} // namespace weft
