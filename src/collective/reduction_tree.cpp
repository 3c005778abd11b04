#include "collective/reduction_tree.hpp"

#include <algorithm>
#include <map>

namespace weft {
namespace {

/** A smart switch that every member's route crosses. */
std::optional<VertexId> common_switch(const Fabric& fabric, std::span<const VertexId> rank_hosts)
{
  const auto other = std::find_if(rank_hosts.begin(), rank_hosts.end(),
                                  [first = rank_hosts.front()](VertexId host) { return host != first; });
  if (other == rank_hosts.end())
    return std::nullopt;
  Route route;
  fabric.route(rank_hosts.front(), *other, route);
  for (const VertexId vertex : route.through)
    if (fabric.switch_model(vertex - fabric.host_count()).smart())
      return vertex;
  return std::nullopt;
}

Seconds latency_of(const Fabric& fabric, LinkId link)
{
  return fabric.links()[static_cast<std::size_t>(link)].latency;
}

} // namespace

std::optional<ReductionTree> build_reduction_tree(const Fabric& fabric, std::span<const VertexId> rank_hosts)
{
  const std::optional<VertexId> root = common_switch(fabric, rank_hosts);
  if (not root)
    return std::nullopt;

  std::map<VertexId, std::int64_t> ranks_at;
  for (const VertexId host : rank_hosts)
    ++ranks_at[host];

  ReductionTree tree;
  tree.ranks = static_cast<std::int64_t>(rank_hosts.size());
  TreeSwitch hub{*root - fabric.host_count(), {}};
  Route up;
  Route down;
  for (const auto& [host, ranks] : ranks_at) {
    up.clear();
    down.clear();
    fabric.route(host, *root, up);
    fabric.route(*root, host, down);
    hub.children.push_back({up.links.front(), down.links.front(), ranks});
    tree.up          = std::max(tree.up, latency_of(fabric, up.links.front()));
    tree.down        = std::max(tree.down, latency_of(fabric, down.links.front()));
    tree.ranks_a_nic = std::max(tree.ranks_a_nic, ranks);
  }
  tree.switches.push_back(std::move(hub));
  return tree;
}

} // namespace weft
