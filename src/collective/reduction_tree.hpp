/* The switches and links that one communicator's in-network collective uses.
 *
 * Each tree switch has children: the links on which contributions come up and results go down, and how many
 * contributions cross them (one a rank, where the ranks of a host share its cable). A collective loads every listed
 * link that many times in each direction.
 */
#pragma once

#include "fabric/fabric.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

struct TreeChild {
  LinkId up                = 0;
  LinkId down              = 0;
  std::int64_t contributions = 0; ///< messages that cross each of the two
};

struct TreeSwitch {
  int index = 0; ///< of the switch in the fabric
  std::vector<TreeChild> children;
};

struct ReductionTree {
  std::vector<TreeSwitch> switches;
  Seconds up;                    ///< latency of the longest way from a member to the root
  Seconds down;                  ///< and back
  std::int64_t ranks         = 0;
  std::int64_t ranks_a_nic   = 0; ///< most members that share a NIC
};

/** The tree over the hosts of a communicator's ranks, @p rank_hosts[rank]; nothing where they reach no common smart
 *  switch. */
std::optional<ReductionTree> build_reduction_tree(const Fabric& fabric, std::span<const VertexId> rank_hosts);

} // namespace weft
