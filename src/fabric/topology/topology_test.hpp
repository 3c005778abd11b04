// SPDX-License-Identifier: LGPL-2.1-only
/* Checks that every topology must pass, shared by their tests. */
#pragma once

#include "fabric/topology/topology.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/** Checks of a topology; each reports failures to GoogleTest. */
class TopologyCheck {
  const Topology& topology_;
  std::vector<Cable> cables_;
  std::vector<std::vector<VertexId>> neighbours_;
  Route route_;

  void check_cables();
  void check_steps(VertexId from, VertexId to) const;
  void check_equal_hops(VertexId at, VertexId to, const std::vector<int>* distances) const;

public:
  explicit TopologyCheck(const Topology& topology);

  const std::vector<Cable>& cables() const { return cables_; }
  int vertices() const { return topology_.host_count() + topology_.switch_count(); }
  int cables_between(VertexId one, VertexId other) const;
  /** Returns the number of cables at @p vertex. */
  std::size_t ports(VertexId vertex) const { return neighbours_[static_cast<std::size_t>(vertex)].size(); }
  /** Returns the distance in links from @p from to each vertex on paths that pass through no host; -1 if unreachable.
   */
  std::vector<int> distances(VertexId from) const;

  /** Checks the route from @p from to @p to: connected, existing cables only, through no host, without loops. Returns
   * its links. */
  const std::vector<LinkId>& walk(VertexId from, VertexId to);
  /** Checks all routes between hosts, from hosts to switches and back, and that their maximum length is the diameter.
   */
  void check_all();
  /** Checks the routes of @p count random hosts to @p count random vertices; none exceeds the diameter. */
  void check_sample(unsigned seed, int count);
  /** Checks that every route between hosts is a shortest path. */
  void check_minimal();
  /** Checks the equal-cost next hops from every vertex to every host: next_hop() is among them, and each is one link
   * closer; @p all: no other link is. */
  void check_equal_hops(bool all);
  /** Returns the maximum number of routes on a link when each host h sends to h + @p shift. */
  int busiest_link(int shift);
};

/** Reads a [topology] table from text. */
std::unique_ptr<Topology> topology_of(const std::string& text);
/** Returns the error of reading a [topology] table from text, or "". */
std::string failure_of(const std::string& text);

} // namespace weft
