// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/nodes.hpp"

#include <algorithm>
#include <unordered_map>

namespace weft {

Nodes Nodes::of(const HostCall& call)
{
  Nodes nodes;
  std::unordered_map<int, int> known; // known hosts
  for (int rank = 0; rank < call.ranks; ++rank) {
    const int next = nodes.number();
    const int node = call.host ? known.try_emplace(call.host(rank), next).first->second : next;
    if (node == next)
      nodes.ranks.emplace_back();
    std::vector<int>& here = nodes.ranks[static_cast<std::size_t>(node)];
    nodes.node.push_back(node);
    nodes.place.push_back(static_cast<int>(here.size()));
    if (here.size() == nodes.level.size())
      nodes.level.emplace_back();
    std::vector<int>& alike = nodes.level[here.size()];
    nodes.across.push_back(static_cast<int>(alike.size()));
    alike.push_back(rank);
    here.push_back(rank);
  }
  return nodes;
}

bool Nodes::in_order() const
{
  return std::ranges::is_sorted(node);
}

bool is_within_host(const HostCall& call)
{
  return call.within_host || (call.host && (call.nodes ? *call.nodes : Nodes::of(call)).number() == 1);
}

} // namespace weft
