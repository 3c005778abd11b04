// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/rerouting.hpp"

#include <algorithm>
#include <utility>

namespace weft {

void Rerouting::list_links()
{
  const Fabric& fabric = state_.fabric();
  const auto vertices  = static_cast<std::size_t>(fabric.host_count() + fabric.switch_count());
  first_.assign(vertices + 1, 0);
  for (const Link& link : fabric.links())
    ++first_[static_cast<std::size_t>(link.from) + 1];
  for (std::size_t vertex = 0; vertex < vertices; ++vertex)
    first_[vertex + 1] += first_[vertex];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  links_.resize(fabric.links().size());
  for (LinkId id = 0; std::cmp_less(id, links_.size()); ++id)
    links_[next[static_cast<std::size_t>(fabric.link(id).from)]++] = id;
  reached_.resize(vertices);
  visited_.resize(vertices);
}

/** Searches breadth first. */
bool Rerouting::search(VertexId from, VertexId to)
{
  const Fabric& fabric = state_.fabric();
  ++searches_;
  queue_.assign(1, from);
  visited_[static_cast<std::size_t>(from)] = searches_;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const VertexId here     = queue_[at];
    const std::size_t first = first_[static_cast<std::size_t>(here)];
    const std::size_t count = first_[static_cast<std::size_t>(here) + 1] - first;
    for (std::size_t place = 0; place < count; ++place) {
      const LinkId link   = links_[first + (place + static_cast<std::size_t>(to)) % count];
      const VertexId next = fabric.link(link).to;
      if ((fabric.topology().is_host(next) && next != to) || visited_[static_cast<std::size_t>(next)] == searches_ ||
          not state_.link_is_up(link))
        continue;
      visited_[static_cast<std::size_t>(next)] = searches_;
      reached_[static_cast<std::size_t>(next)] = {link, here};
      if (next == to)
        return true;
      queue_.push_back(next);
    }
  }
  return false;
}

bool Rerouting::find(VertexId from, VertexId to, Route& route)
{
  if (first_.empty())
    list_links();
  if (not search(from, to))
    return false;
  route.clear();
  for (VertexId at = to; at != from; at = reached_[static_cast<std::size_t>(at)].from) {
    route.links.push_back(reached_[static_cast<std::size_t>(at)].link);
    if (at != to)
      route.through.push_back(at);
  }
  std::ranges::reverse(route.links);
  std::ranges::reverse(route.through);
  return true;
}

} // namespace weft
