// SPDX-License-Identifier: LGPL-2.1-only
/* Nested calls on a subset of the ranks: all ranks of one host, or one rank of each host. */
#pragma once

#include "collective/host/engine/host_call.hpp"
#include "collective/host/engine/nodes.hpp"

#include <memory>
#include <span>
#include <vector>

namespace weft {

/** Returns the schedule of rank @p place of the nested call @p inner, which is ranks[place] in the outer call. The
 * algorithm is the library's, or @p otherwise if the library names none. */
Schedule among(std::vector<int> ranks, HostCall inner, int place, MakeSchedule otherwise);
/** Overload for @p ranks that outlive the schedule. */
Schedule among(std::span<const int> ranks, HostCall inner, int place, MakeSchedule otherwise);

/** Returns a nested call of @p collective on @p ranks ranks, each on its own host, with the vector or block of @p
 * call. */
HostCall part_of(const HostCall& call, std::string_view collective, std::size_t ranks, int root);

/** Host of a rank, and its index among the ranks there. */
struct NodePosition {
  std::shared_ptr<const Nodes> nodes;
  int node;
  int place;                     ///< index on its host
  const std::vector<int>& local; ///< ranks of its host

  NodePosition(const HostCall& call, int rank)
      : nodes(call.nodes ? call.nodes : std::make_shared<const Nodes>(Nodes::of(call))),
        node(nodes->node[static_cast<std::size_t>(rank)]), place(nodes->place[static_cast<std::size_t>(rank)]),
        local(nodes->ranks[static_cast<std::size_t>(node)])
  {
  }
  bool leads() const { return place == 0; }
  /** Returns the first rank of each host. */
  std::vector<int> leaders() const;
  int node_of(int rank) const { return nodes->node[static_cast<std::size_t>(rank)]; }
  int place_of(int rank) const { return nodes->place[static_cast<std::size_t>(rank)]; }
};

/** Executes a call among the ranks of one host. */
Schedule locally(const HostCall& call, const NodePosition& stand, std::string_view collective, int root,
                 MakeSchedule otherwise);
/** Executes a call among the first ranks of all hosts, which include this rank. */
Schedule between(const HostCall& call, const NodePosition& stand, std::string_view collective, int root,
                 MakeSchedule otherwise);

} // namespace weft
