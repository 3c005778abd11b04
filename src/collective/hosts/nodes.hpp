// SPDX-License-Identifier: LGPL-2.1-only
/* The ranks of a call by the hosts that they run on. */
#pragma once

#include "collective/hosts/host_call.hpp"

#include <vector>

namespace weft {

/** Hosts are numbered in the order of their first ranks. */
struct Nodes {
  std::vector<int> node;               ///< by rank
  std::vector<int> place;              ///< by rank: how many ranks of its host come before it
  std::vector<std::vector<int>> ranks; ///< by node, from the first to the last

  static Nodes of(const HostCall& call);

  int number() const { return static_cast<int>(ranks.size()); }
  bool shared() const { return ranks.size() < node.size(); }
  /** Whether the ranks of each host follow one another. */
  bool in_order() const;
};

} // namespace weft
