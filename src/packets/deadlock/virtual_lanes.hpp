// SPDX-License-Identifier: LGPL-2.1-only
/* Virtual lanes of routes, so that lossless links cannot deadlock.
 *
 * A packet that crosses a dateline of a cycle of links changes to the next lane, whose buffers do not wait for those of
 * lower lanes (W. J. Dally, C. L. Seitz, 1987, see credit_cycles.hpp). Here the cycles are those of the graph of
 * dependencies between links: each of its strongly connected components is searched in depth first, and a dependency
 * against the order in which that search finishes is a dateline. On a torus with routes by dimension, a component is a
 * ring, so that two lanes suffice, as with InfiniBand's torus-2QoS (OpenSM, doc/current-routing.txt).
 *
 * A packet that reaches a later component begins again in the first lane. One that returns to an earlier component, as
 * a detour does, begins again above the lanes that it has used. So (round, component, lane, order) increases along
 * every route, and no cycle of (link, lane) is left. */
#pragma once

#include "fabric/fabric.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace weft {

class LinkDependencies;

class VirtualLanes {
  std::vector<int> component_; // by link, in an order that dependencies follow
  std::vector<int> order_;     // by link, within its component; dependencies against it are datelines
  int least_  = 1;             // lanes of routes without detours
  int rounds_ = 1;

public:
  explicit VirtualLanes(const Fabric& fabric);

  /** Returns the lane of link @p onward, if packets come over @p link in @p lane. */
  int after(int lane, LinkId link, LinkId onward) const;
  /** Returns the lane of each link of a route. */
  std::vector<int> lanes(std::span<const LinkId> route) const;
  /** Returns the number of lanes with which the routes between hosts cannot deadlock. */
  int least() const { return least_ * rounds_; }

private:
  void order(const LinkDependencies& dependencies);
  bool crosses(LinkId link, LinkId onward) const;
  bool returns(LinkId link, LinkId onward) const;
  void find_least(const Topology& topology, bool equal);
};

/** Returns whether packets may take all equal-cost routes, not only the static ones. */
bool takes_equal_routes(const Fabric& fabric);
/** Returns whether the routing policy of a fabric takes routes that are not minimal. */
bool takes_detours(const Fabric& fabric);

} // namespace weft
