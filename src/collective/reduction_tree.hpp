/* The switches and links that one communicator's in-network collective uses.
 *
 * A tree has a root, a smart switch that every member reaches. It is the union of the members' ways to the root; the
 * smart switches on them combine what comes up into one message and copy what comes down, the others only forward.
 * Each tree switch owns the links between it and the smart switches or hosts below, with the number of messages that
 * cross each of them: one a rank where the ranks of a host share its cable, and one a subtree where a plain switch only
 * forwards. A collective loads each link that many times, upwards and, on the same cable, downwards.
 */
#pragma once

#include "fabric/fabric.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

struct TreeLink {
  LinkId up             = 0; ///< reverse(up) goes down
  std::int64_t messages = 0; ///< that cross each of the two
};

struct TreeSwitch {
  int index  = 0;  ///< of the switch in the fabric
  int parent = -1; ///< position of the next smart switch towards the root in ReductionTree::switches; -1: the root
  std::vector<TreeLink> links;
  std::int64_t contributions = 0; ///< messages that it combines
};

struct ReductionTree {
  std::vector<TreeSwitch> switches; ///< the root first, every parent before its children
  std::vector<int> entry;           ///< by rank: position of the switch that takes its contribution
  Seconds up;                   ///< longest way of a packet to the root and through it: links, forwarding, processing
  Seconds down;                 ///< longest way of a result from the root: links and forwarding
  Seconds forwarding;           ///< of the longest way up and down, as a point-to-point message would take it
  Seconds beyond_first;         ///< what up + down is longer than the shortest way to a first smart switch and back
  std::int64_t ranks_a_nic = 0; ///< most members that share a NIC
};

/** Why there is no tree. */
enum class NoTree { one_host, no_common_switch, no_gain };

struct TreeResult {
  std::optional<ReductionTree> tree;
  NoTree obstacle = NoTree::no_common_switch; ///< where there is none
};

/** The tree over the hosts of a communicator's ranks, @p rank_hosts[rank]. @p spread (a communicator's number, zero or
 *  more) chooses among the possible roots, so that many communicators do not share one. */
TreeResult build_reduction_tree(const Fabric& fabric, std::span<const VertexId> rank_hosts, std::size_t spread);

} // namespace weft
