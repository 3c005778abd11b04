// SPDX-License-Identifier: LGPL-2.1-only
/* Equal-cost multi-path routing (ECMP): each switch selects one of the equal-cost next hops by a hash of the flow (C.
 * Hopps, RFC 2992). A flow is either all messages between two hosts or a single message, as with flowlets that each
 * take a random path (Vanini et al., "Let It Flow", NSDI 2017). */
#pragma once

#include "fabric/routing/route_label.hpp"
#include "fabric/routing/routing_policy.hpp"

#include <cstdint>
#include <vector>

namespace weft {

class EcmpRouting final : public RoutingPolicy {
public:
  enum class Flow : std::uint8_t { pair, message };

private:
  int seed_;
  Flow flow_;
  std::vector<std::uint32_t> sent_; // messages so far, by host, if each is a flow

protected:
  void route_hosts(VertexId from, VertexId to, Route& into) override
  {
    const RouteLabel label(seed_, from, to, flow_ == Flow::pair ? 0 : ++sent_[static_cast<std::size_t>(from)]);
    walk(from, to, [&label](VertexId at, std::span<const Hop> hops) { return label.select(at, hops.size()); }, into);
  }

public:
  EcmpRouting(const Topology& topology, int seed, Flow flow)
      : RoutingPolicy(topology), seed_(seed), flow_(flow),
        sent_(flow == Flow::pair ? 0 : static_cast<std::size_t>(topology.host_count()))
  {
  }

  bool routes_each_message() const override { return flow_ == Flow::message; }
};

} // namespace weft
