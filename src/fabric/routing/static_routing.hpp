// SPDX-License-Identifier: LGPL-2.1-only
/* Static routing: every message takes the topology's destination-based route. */
#pragma once

#include "fabric/routing/routing_policy.hpp"

namespace weft {

class StaticRouting final : public RoutingPolicy {
protected:
  void route_hosts(VertexId from, VertexId to, Route& into) override
  {
    if (not routes_stripe()) {
      topology().route(from, to, into);
      return;
    }
    const auto select = [this, to](VertexId at, std::span<const Hop> hops) {
      const auto its = std::ranges::find(hops, topology().next_hop(at, to).link, &Hop::link);
      return static_cast<std::size_t>(its - hops.begin());
    };
    walk(from, to, select, into);
  }

public:
  using RoutingPolicy::RoutingPolicy;
};

} // namespace weft
