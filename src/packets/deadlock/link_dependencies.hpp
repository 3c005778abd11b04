// SPDX-License-Identifier: LGPL-2.1-only
/* Dependencies between links: a packet that occupies the buffer behind one link waits for room behind the next link of
 * its route. */
#pragma once

#include "fabric/fabric.hpp"

#include <cstddef>
#include <vector>

namespace weft {

class LinkDependencies {
  std::vector<std::vector<LinkId>> onward_; // by link

public:
  explicit LinkDependencies(std::size_t links) : onward_(links) {}

  /** Returns those of all routes between hosts. @p equal: packets may take all equal-cost routes, not only the static
   * ones. */
  static LinkDependencies of(const Topology& topology, std::size_t links, bool equal);

  std::size_t links() const { return onward_.size(); }
  /** Returns the links on which @p link depends. */
  const std::vector<LinkId>& onward(LinkId link) const { return onward_[static_cast<std::size_t>(link)]; }
  void add(LinkId link, LinkId onward);
  /** Returns the first cycle that a depth-first search finds; empty if there is none. */
  std::vector<LinkId> find_cycle() const;
};

/** Appends the next hops from @p at to @p to: all equal-cost ones, or only the static one. */
void append_hops(const Topology& topology, bool equal, VertexId at, VertexId to, std::vector<Hop>& into);

} // namespace weft
