// SPDX-License-Identifier: LGPL-2.1-only
/* Adaptive routing: each message selects its route at its start by the flows on links, including those that start at
 * the same instant or are still in their latency.
 *
 * At each vertex it takes the next hop with the fewest flows among the equal-cost ones; a hash selects among equals.
 * On topologies with non-minimal routes it then decides between the minimal route and Valiant's, over a random
 * intermediate switch, by UGAL (A. Singh, "Load-balanced routing in interconnection networks", 2005; Kim et al., ISCA
 * 2008): minimal if flows times hops are at most those of the other route plus a bias. With a local view (UGAL-L) the
 * flows are those on the link by which the route leaves the source's switch, with a global one (UGAL-G) the most on any
 * link between switches. Hops are links between switches. */
#pragma once

#include "fabric/routing/route_label.hpp"
#include "fabric/routing/routing_policy.hpp"

#include <cstdint>
#include <vector>

namespace weft {

class AdaptiveRouting final : public RoutingPolicy {
public:
  /** Links whose flows a switch knows. */
  enum class View : std::uint8_t { local, global };

private:
  View view_;
  int seed_;
  double bias_;
  std::vector<std::uint32_t> sent_;  // messages so far, by host
  std::vector<std::uint32_t> flows_; // by link
  Route minimal_, detour_;           // reused to avoid allocations
  std::vector<std::size_t> least_;

  void walk_least(VertexId from, VertexId to, const RouteLabel& label, Route& into);
  double cost(const Route& route) const;

protected:
  void route_hosts(VertexId from, VertexId to, Route& into) override;

public:
  AdaptiveRouting(const Topology& topology, View view, int seed, double bias);

  bool routes_each_message() const override { return true; }
  bool uses_loads() const override { return true; }
  void enter(std::span<const int> links) override;
  void leave(std::span<const int> links) override;
  std::uint32_t flows_on(LinkId link) const { return flows_[static_cast<std::size_t>(link)]; }
};

} // namespace weft
