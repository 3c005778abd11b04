// SPDX-License-Identifier: LGPL-2.1-only
/* Static routing: every message takes the topology's destination-based route. */
#pragma once

#include "fabric/routing/routing_policy.hpp"

namespace weft {

class StaticRouting final : public RoutingPolicy {
protected:
  void route_hosts(VertexId from, VertexId to, Route& into) override { topology().route(from, to, into); }

public:
  using RoutingPolicy::RoutingPolicy;
};

} // namespace weft
