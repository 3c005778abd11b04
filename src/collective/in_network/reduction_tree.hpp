// SPDX-License-Identifier: LGPL-2.1-only
/* The switches and links that one communicator's in-network collective uses.
 *
 * A tree has a root, a smart switch that every member reaches. It is the union of the members' ways to the root; the
 * smart switches on them combine what comes up into one message and copy what comes down, the others only forward.
 * Each tree switch owns the links between it and the smart switches or hosts below, with the number of messages that
 * cross each of them: one per member where the members of a host share its cable, and one per subtree where a plain
 * switch only forwards. An Allreduce loads each link that many times, upwards and, on the same cable, downwards;
 * traffic.hpp says what other collectives do.
 *
 * A member is whoever sends a contribution of its own: a rank, or a host whose ranks combine theirs first. All members
 * stand in one order, in which those below any link or switch are neighbours.
 */
#pragma once

#include "fabric/fabric_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/** The members below a link or switch: their places are first, …, last - 1. */
struct Below {
  std::int64_t first = 0;
  std::int64_t last  = 0;
  bool contains(std::int64_t place) const { return first <= place && place < last; }
};

struct TreeLink {
  LinkId up             = 0; ///< reverse(up) goes down
  std::int64_t messages = 0; ///< that cross each of the two
  Below below;
};

struct TreeSwitch {
  int index  = 0;  ///< of the switch in the fabric
  int parent = -1; ///< position of the next smart switch towards the root in ReductionTree::switches; -1: the root
  std::vector<TreeLink> links;
  std::int64_t contributions = 0; ///< messages that it combines
  Below below;
};

/** How long a packet is on its way between a member and the root. `combined`: every smart switch on the way adds to it;
 *  `forwarded`: all switches only pass it on. The ways up include the root's own delay. */
struct MemberWays {
  Seconds up_combined;
  Seconds up_forwarded;
  Seconds down_combined;
  Seconds down_forwarded;
};

struct ReductionTree {
  FabricEpoch epoch = 0;            ///< of the state that the tree was built for
  std::vector<TreeSwitch> switches; ///< the root first, every parent before its children
  std::vector<int> entry;           ///< by member: position of the switch that takes its contribution
  std::vector<std::int64_t> place;  ///< by member: its place in the order of all members
  std::vector<MemberWays> ways;     ///< by member
  MemberWays longest;               ///< the largest of each
  Seconds forwarding;               ///< of the longest way up and down, as a point-to-point message would take it
  Seconds beyond_first;             ///< what up + down is longer than the shortest way to a first smart switch and back
  std::int64_t members_a_nic = 0;   ///< most members that share a NIC
};

/** Why there is no tree. */
enum class NoTree { one_host, no_common_switch, no_gain };

struct TreeResult {
  std::optional<ReductionTree> tree;
  NoTree obstacle = NoTree::no_common_switch; ///< where there is none

  /** Why there is no tree; nothing where there is one. */
  std::optional<NoTree> no_tree() const { return tree ? std::nullopt : std::optional(obstacle); }
};

/** The tree over the hosts of a communicator's members, @p hosts[member]. @p spread (a communicator's number, zero or
 *  more) chooses among the possible roots, so that many communicators do not share one. A root to which a way leads
 * over what is down is none. */
TreeResult build_reduction_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread);

/** The same where every switch, smart or not, makes one message of those that come to it: which is a multicast tree,
 *  seen from its leaves. */
TreeResult build_multicast_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread);

} // namespace weft
