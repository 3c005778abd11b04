// SPDX-License-Identifier: LGPL-2.1-only
/* Interface of routing policies, and the walk along equal-cost next hops that they share. */
#pragma once

#include "fabric/topology/topology.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace weft {

class RoutingPolicy {
  const Topology& topology_;
  std::vector<Hop> hops_; // reused to avoid allocations
  int stripe_ = WHOLE;    // of the message that is being routed

  static constexpr int WHOLE = -1;

  /** Returns whether the stripes of a message diverge or converge at @p at: at the sender or its NIC, and where next
   * hops lead to the receiver or to switches at its cables. */
  bool divides(VertexId at, VertexId from, VertexId to) const
  {
    if (stripe_ == WHOLE)
      return false;
    const VertexId next = hops_.front().to;
    return at == from || topology_.divides_stripes(at) || next == to || topology_.next_hop(next, to).to == to;
  }

protected:
  const Topology& topology() const { return topology_; }
  bool routes_stripe() const { return stripe_ != WHOLE; }

  /** Appends the route from @p from to @p to. At each vertex, @p select(at, hops) returns the index of the next hop in
   * hops, the equal-cost ones, which are never empty. */
  template <class Select> void walk(VertexId from, VertexId to, Select&& select, Route& into)
  {
    for (VertexId at = from; at != to;) {
      hops_.clear();
      topology_.equal_hops(at, to, hops_);
      const std::size_t chosen = hops_.size() == 1       ? 0
                                 : divides(at, from, to) ? static_cast<std::size_t>(stripe_) % hops_.size()
                                                         : select(at, std::span<const Hop>(hops_));
      const Hop hop            = hops_[chosen];
      into.links.push_back(hop.link);
      if (hop.to != to && not topology_.is_host(hop.to))
        into.through.push_back(hop.to);
      at = hop.to;
    }
  }

  /** Appends the route of the next message between two different hosts. */
  virtual void route_hosts(VertexId from, VertexId to, Route& into) = 0;

public:
  /** @p topology must outlive the policy. */
  explicit RoutingPolicy(const Topology& topology) : topology_(topology) {}
  RoutingPolicy(const RoutingPolicy&)            = delete;
  RoutingPolicy& operator=(const RoutingPolicy&) = delete;
  virtual ~RoutingPolicy()                       = default;

  /** Appends the route of the next message between two different vertices; static if one of them is a switch. */
  void route(VertexId from, VertexId to, Route& into)
  {
    if (topology_.is_host(from) && topology_.is_host(to))
      route_hosts(from, to, into);
    else
      topology_.route(from, to, into);
  }
  /** Appends the route of stripe @p stripe, counted from 0, of the next message between two different hosts. Each
   * stripe leaves the sender and reaches the receiver by a cable of its own, if equal-cost routes have enough cables;
   * in between, the policy selects the next hops. */
  void route_stripe(VertexId from, VertexId to, int stripe, Route& into)
  {
    stripe_ = stripe;
    route_hosts(from, to, into);
    stripe_ = WHOLE;
  }
  /** Returns the number of cables by which equal-cost routes leave @p from for another host. */
  int cables_between(VertexId from, VertexId to) const { return topology_.stripes_between(from, to); }
  /** Returns whether messages between the same two hosts may take different routes. */
  virtual bool routes_each_message() const { return false; }
  /** Returns whether routes depend on the flows on links; if so, the caller must call enter() and leave(). */
  virtual bool uses_loads() const { return false; }
  /** Counts a flow on links; ids that are not links are ignored. */
  virtual void enter(std::span<const int> /*links*/) {}
  /** Removes a flow from the counts. */
  virtual void leave(std::span<const int> /*links*/) {}
};

} // namespace weft
