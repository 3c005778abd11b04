// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks of a call grouped by host. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <vector>

namespace weft {

/** Grouping of ranks by host (node). Nodes are numbered in the order of their first ranks. */
struct Nodes {
  std::vector<int> node;               ///< by rank
  std::vector<int> place;              ///< by rank: its index on its node
  std::vector<std::vector<int>> ranks; ///< by node, increasing
  std::vector<std::vector<int>> level; ///< by index on the node: the ranks with that index, at most one per node
  std::vector<int> across;             ///< by rank: its index in its level

  static Nodes of(const HostCall& call);

  int number() const { return static_cast<int>(ranks.size()); }
  bool shared() const { return ranks.size() < node.size(); }
  /** Returns true if there are several nodes, all with the same number of ranks, more than one. */
  bool even() const { return shared() && number() > 1 && level.back().size() == ranks.size(); }
  /** Returns true if the ranks of each node are contiguous. */
  bool in_order() const;
};

/** Returns true if all ranks are on one host, as far as the call states it. */
bool is_within_host(const HostCall& call);

} // namespace weft
