// SPDX-License-Identifier: LGPL-2.1-only
/* Adaptive routing: each message selects its route at its start by the flows on links, including flows that start at
 * the same instant or are still in their latency phase.
 *
 * At each vertex it takes the equal-cost next hop with the fewest flows; a hash breaks ties. On topologies with
 * non-minimal routes it then decides between the minimal route and Valiant's, over a random intermediate switch, by
 * UGAL (A. Singh, "Load-balanced routing in interconnection networks", 2005; Kim et al., ISCA 2008): minimal if its
 * product of flows and hops is at most the product for Valiant's route plus a bias. With a local view (UGAL-L), flows
 * are counted on the link by which the route leaves the source's switch; with a global view (UGAL-G), on the busiest
 * link between switches. Hops are links between switches. */
#pragma once

#include "fabric/routing/route_label.hpp"
#include "fabric/routing/routing_policy.hpp"

#include <cstdint>
#include <vector>

namespace weft {

class AdaptiveRouting final : public RoutingPolicy {
public:
  /** Links whose flow counts a switch knows. */
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
