// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast_state.hpp"

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

MulticastService MulticastRun::service(RunContext& context)
{
  return {context.host_network(), context.fabric, context.state, engines,
          context.call_recovery ? &*context.call_recovery : nullptr};
}

MulticastState::MulticastState(const FabricState& state, MulticastRun& run, Communicator& communicator)
    : state_(state), run_(run), speakers_(speakers_of(communicator)), all_(communicator)
{
}

const std::shared_ptr<const GroupResult>& MulticastState::group()
{
  return group_.get(state_, [this] { return make_multicast_group(state_, members().rank_hosts, all_.tree_number()); });
}

} // namespace weft
