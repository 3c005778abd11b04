// SPDX-License-Identifier: LGPL-2.1-only
/* Routes around links and switches that are down: shortest ones, on any topology. Among equally long ones, the
 * destination selects, so that routes to different hosts use different links. */
#pragma once

#include "fabric/fabric_state.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class Rerouting {
  struct Step {
    LinkId link;
    VertexId from;
  };
  const FabricState& state_;
  std::vector<std::size_t> first_; // by vertex: its first link in links_; empty until the first search
  std::vector<LinkId> links_;      // by the vertex that they leave
  std::vector<Step> reached_;      // by vertex: how the search reached it
  std::vector<std::uint64_t> visited_;
  std::uint64_t searches_ = 0;
  std::vector<VertexId> queue_;

  void list_links();
  bool search(VertexId from, VertexId to);

public:
  /** @p state must outlive this object. */
  explicit Rerouting(const FabricState& state) : state_(state) {}
  /** Replaces @p route by a route between two different vertices that is up. Returns false, and leaves it, if there
   * is none. Hosts forward nothing. */
  bool find(VertexId from, VertexId to, Route& route);
};

} // namespace weft
