// SPDX-License-Identifier: LGPL-2.1-only
/* Classes of links: cables between vertices of the same two kinds, such as "gpu--nvswitch" or "leaf--spine".
 *
 * The kind of a vertex is its name without the node and without numbers, so class names resemble the fabric's cable
 * names. Custom fabrics may name every switch differently: if there would be more than MOST_LINK_CLASSES classes, the
 * only kinds are host and switch. */
#pragma once

#include "fabric/topology/topology.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

constexpr std::size_t MOST_LINK_CLASSES = 16;

struct LinkClasses {
  std::vector<std::string> names; ///< in the order of their first cables
  std::vector<int> of_cable;      ///< by cable: index into names
};

/** Returns the kind of a vertex with this name: "gpu" for "node-07.gpu-3", "level2" for "level2-13". */
std::string kind_of_vertex(std::string_view name);

LinkClasses link_classes(const Topology& topology);

} // namespace weft
