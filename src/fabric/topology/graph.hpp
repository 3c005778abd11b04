// SPDX-License-Identifier: LGPL-2.1-only
/* Graph of a fabric: vertices (hosts, then switches) and links (one direction of a cable each). */
#pragma once

#include "base/units.hpp"

#include <string>
#include <vector>

namespace weft {

/** Number of a vertex, from zero: hosts first, then switches. */
using VertexId = int;
using LinkId   = int;

/** One direction of a cable. */
struct Link {
  std::string name;
  VertexId from = 0;
  VertexId to   = 0;
  BytesPerSecond bandwidth;
  Seconds latency;
  int port = 0; ///< number of the port at `to`
};

/** Path from one vertex to another: the links in order, and the vertices between them. */
struct Route {
  std::vector<LinkId> links;
  std::vector<VertexId> through;

  void clear()
  {
    links.clear();
    through.clear();
  }
};

} // namespace weft
