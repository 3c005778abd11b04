// SPDX-License-Identifier: LGPL-2.1-only
/* Shortest routes around failed links and switches, on any topology. The destination selects among equally long ones,
 * so that routes to different hosts use different links.
 *
 * Like static routes, they are destination-based: the next hop depends only on the current vertex and the destination,
 * as in the forwarding tables of switches. From a vertex whose static route to a host is up, packets follow the static
 * route. */
#pragma once

#include "fabric/fabric_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

class Rerouting {
  static constexpr LinkId NO_LINK = -1;
  struct Step {
    LinkId link  = NO_LINK; // next link towards the destination
    int distance = 0;       // in links
  };
  /** Shortest routes from all switches to one vertex. */
  struct Tree {
    VertexId to       = -1;
    FabricEpoch epoch = 0;
    std::vector<Step> steps; // by switch
  };
  const FabricState& state_;
  std::vector<std::size_t> first_; // by vertex: its first link in links_; empty until the first search
  std::vector<LinkId> links_;      // links to switches, by the vertex that they leave
  std::vector<Tree> trees_;        // by hash of the destination
  std::vector<VertexId> queue_;
  Route usual_;
  Route found_;

  void list_links();
  const Tree& tree(VertexId to);
  void search(Tree& its);
  const Step& step_of(const Tree& its, VertexId at) const;
  LinkId first_link(const Tree& its, VertexId host) const;
  bool follow_usual(VertexId at, VertexId to);

public:
  /** @p state must outlive this object. */
  explicit Rerouting(const FabricState& state) : state_(state) {}
  /** Replaces @p route by a route between two different vertices that is up. If there is none, returns false and leaves
   * @p route unchanged. Hosts forward nothing. */
  bool find(VertexId from, VertexId to, Route& route);
  /** Returns the link by which packets for another vertex leave @p at; nothing if that vertex cannot be reached. */
  std::optional<LinkId> next(VertexId at, VertexId to);
};

} // namespace weft
