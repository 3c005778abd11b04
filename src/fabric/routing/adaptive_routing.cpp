// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/routing/adaptive_routing.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace weft {

AdaptiveRouting::AdaptiveRouting(const Topology& topology, View view, int seed, double bias)
    : RoutingPolicy(topology), view_(view), seed_(seed), bias_(bias),
      sent_(static_cast<std::size_t>(topology.host_count())), flows_(2 * topology.cables().size())
{
}

/** Appends the route that takes the next hop with the fewest flows at each vertex. */
void AdaptiveRouting::walk_least(VertexId from, VertexId to, const RouteLabel& label, Route& into)
{
  const auto select = [this, &label](VertexId at, std::span<const Hop> hops) {
    std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
    least_.clear();
    for (std::size_t one = 0; one < hops.size(); ++one) {
      const std::uint32_t flows = flows_on(hops[one].link);
      if (flows < fewest)
        least_.clear();
      fewest = std::min(fewest, flows);
      if (flows == fewest)
        least_.push_back(one);
    }
    return least_[label.select(at, least_.size())];
  };
  walk(from, to, select, into);
}

/** Returns flows times hops of a route between hosts on different switches. */
double AdaptiveRouting::cost(const Route& route) const
{
  const std::size_t hops = route.links.size() - 2; // the first and the last link belong to the hosts
  std::uint32_t most     = 0;
  for (std::size_t at = 1; at <= (view_ == View::local ? 1 : hops); ++at)
    most = std::max(most, flows_on(route.links[at]));
  return static_cast<double>(most) * static_cast<double>(hops);
}

void AdaptiveRouting::route_hosts(VertexId from, VertexId to, Route& into)
{
  const RouteLabel label(seed_, from, to, ++sent_[static_cast<std::size_t>(from)]);
  minimal_.clear();
  walk_least(from, to, label, minimal_);
  const Route* taken = &minimal_;
  if (const std::optional<VertexId> middle = topology().intermediate(from, to, label.bits())) {
    detour_.clear();
    walk_least(from, *middle, label, detour_);
    detour_.through.push_back(*middle);
    walk_least(*middle, to, label, detour_);
    const bool differ = view_ == View::global || minimal_.links[1] != detour_.links[1];
    if (differ && cost(minimal_) > cost(detour_) + bias_)
      taken = &detour_;
  }
  into.links.insert(into.links.end(), taken->links.begin(), taken->links.end());
  into.through.insert(into.through.end(), taken->through.begin(), taken->through.end());
}

void AdaptiveRouting::enter(std::span<const int> links)
{
  for (const int link : links)
    if (std::cmp_less(link, flows_.size()))
      ++flows_[static_cast<std::size_t>(link)];
}

void AdaptiveRouting::leave(std::span<const int> links)
{
  for (const int link : links)
    if (std::cmp_less(link, flows_.size()))
      --flows_[static_cast<std::size_t>(link)];
}

} // namespace weft
