// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast_call.hpp"

#include "collective/multicast/chains.hpp"

#include <numeric>
#include <utility>

namespace weft {

MulticastCall describe_multicast(const std::shared_ptr<Communicator>& all, MulticastState& state,
                                 const MulticastModel& model, std::string collective, const std::vector<double>& parts)
{
  const std::shared_ptr<const GroupResult> kept    = state.group();
  const MulticastGroup& group                      = *kept->group;
  const std::shared_ptr<Communicator> communicator = state.kept_members(all);
  MulticastCall call{
      communicator, model, kept, group, std::move(collective), state.calls++, {communicator->size(), {}, {}}, {}};
  std::vector<int> racks;
  std::vector<int> pods;
  for (int rank = 0; rank < communicator->size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (parts[at] <= 0)
      continue;
    call.shape.blocks.push_back({rank, chunks_of(model, Bytes(parts[at]))});
    call.sizes.emplace_back(parts[at]);
    racks.push_back(group.rack_of[at]);
    pods.push_back(group.pod_of[at]);
  }
  std::vector<int> blocks(call.shape.blocks.size());
  std::iota(blocks.begin(), blocks.end(), 0);
  call.shape.chains = model.chain_map == "ranks" ? cut_into_chains(blocks, model.chains)
                                                 : chain_by_group(blocks, model.chain_map == "racks" ? racks : pods);
  return call;
}

} // namespace weft
