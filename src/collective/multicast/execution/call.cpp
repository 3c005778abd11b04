// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/call.hpp"

#include "collective/multicast/chains.hpp"

#include <utility>

namespace weft {

MulticastCall describe_multicast(const MulticastModel& model, std::shared_ptr<const GroupResult> group,
                                 const std::vector<VertexId>& hosts, MulticastIdentity identity,
                                 std::span<const double> parts)
{
  const MulticastGroup& its = *group->group;
  MulticastCall call{model, std::move(group), its, hosts, identity, {static_cast<int>(parts.size()), {}, {}}, {}};
  std::vector<int> roots;
  for (int rank = 0; rank < call.ranks(); ++rank) {
    const Bytes part(parts[static_cast<std::size_t>(rank)]);
    if (part <= Bytes())
      continue;
    call.shape.blocks.push_back({rank, chunks_of(model, part)});
    call.sizes.push_back(part);
    roots.push_back(rank);
  }
  call.shape.chains = chain_blocks(model, its, roots);
  return call;
}

} // namespace weft
