// SPDX-License-Identifier: LGPL-2.1-only
/* The ranks of a call by the hosts that they run on. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <vector>

namespace weft {

/** Hosts are numbered in the order of their first ranks. */
struct Nodes {
  std::vector<int> node;               ///< by rank
  std::vector<int> place;              ///< by rank: how many ranks of its host come before it
  std::vector<std::vector<int>> ranks; ///< by node, from the first to the last
  std::vector<std::vector<int>> level; ///< by place: the ranks that have it, one of each host that has so many
  std::vector<int> across;             ///< by rank: how many ranks of its level come before it

  static Nodes of(const HostCall& call);

  int number() const { return static_cast<int>(ranks.size()); }
  bool shared() const { return ranks.size() < node.size(); }
  /** Whether there are several hosts, with several ranks each, and as many on each. */
  bool even() const { return shared() && number() > 1 && level.back().size() == ranks.size(); }
  /** Whether the ranks of each host follow one another. */
  bool in_order() const;
};

/** Whether all ranks are on one host, as far as the call says where they are. */
bool is_within_host(const HostCall& call);

} // namespace weft
