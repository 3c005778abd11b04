// SPDX-License-Identifier: LGPL-2.1-only
/* Switches and links that one communicator's in-network collective uses.
 *
 * The root of a tree is a smart switch that every member reaches. The tree is the union of the
 * members' routes to the root; its smart switches combine incoming messages into one on the way up, and copy messages
 * on the way down; plain switches only forward. Each tree switch owns the links between it and the smart switches or
 * hosts below, with the number of messages that cross each link: one per member if the members of a host share its
 * cable, and one per subtree behind a plain switch. An Allreduce loads each link that many times, upwards and, on the
 * same cable, downwards; traffic.hpp gives the loads of other collectives.
 *
 * A member is a sender of one contribution: a rank, or a host that combines its ranks'
 * contributions first. Members are ordered such that the members below any link or switch are contiguous.
 */
#pragma once

#include "fabric/fabric_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/** Members below a link or switch: positions first to last - 1. */
struct MemberRange {
  std::int64_t first = 0;
  std::int64_t last  = 0;
  bool contains(std::int64_t place) const { return first <= place && place < last; }
};

struct TreeLink {
  LinkId up             = 0; ///< reverse(up) is the link down
  std::int64_t messages = 0; ///< number of messages in each direction
  MemberRange below;
};

struct TreeSwitch {
  int index  = 0;  ///< index of the switch in the fabric
  int parent = -1; ///< position of the next smart switch towards the root in ReductionTree::switches; -1: the root
  std::vector<TreeLink> links;
  std::int64_t contributions = 0; ///< number of messages that the switch combines
  MemberRange below;
  Seconds combining; ///< from the last contribution's arrival to the result's departure
};

/** Latency of a packet between a member and the root. `combined`: every smart switch on the route processes it;
 * `forwarded`: all switches only forward it. Upward latencies include the root's own delay. */
struct MemberDelays {
  Seconds up_combined;
  Seconds up_forwarded;
  Seconds down_combined;
  Seconds down_forwarded;
};

struct ReductionTree {
  FabricEpoch epoch = 0;            ///< epoch of the state that the tree was built for
  std::vector<TreeSwitch> switches; ///< the root first, parents before their children
  std::vector<int> entry;           ///< by member: position of the switch that receives its contribution
  std::vector<std::int64_t> place;  ///< by member: its position in the order of all members
  std::vector<MemberDelays> ways;   ///< by member
  MemberDelays longest;             ///< maximum of each latency over the members
  Seconds forwarding;               ///< latency of the longest route up and down, as for a point-to-point message
  Seconds beyond_first;             ///< up + down minus the shortest round trip to a first smart switch
  std::int64_t members_a_nic = 0;   ///< largest number of members that share a NIC
  int sharing                = 1;   ///< largest number of trees of build_reduction_trees() at one of its switches
};

/** Reason why there is no tree. */
enum class NoTree { one_host, no_common_switch, no_gain };

struct TreeResult {
  std::optional<ReductionTree> tree;
  NoTree obstacle = NoTree::no_common_switch; ///< valid without a tree

  /** Returns the reason why there is no tree; nothing if there is a tree. */
  std::optional<NoTree> no_tree() const { return tree ? std::nullopt : std::optional(obstacle); }
};

/** Builds the tree over the hosts of a communicator's members, @p hosts[member]. @p spread (the
 * communicator's number, non-negative) selects among the candidate roots, so that concurrent communicators use
 * different roots. Roots that cannot be reached over working links and switches
 * are excluded. */
TreeResult build_reduction_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread);

/** Builds as many such trees as possible, at most @p most, no two of which use the same cable of a host or, where the
 * topology has several rails, the same rail. The first equals the result of build_reduction_tree(). */
std::vector<ReductionTree> build_reduction_trees(const FabricState& state, std::span<const VertexId> hosts,
                                                 std::size_t spread, int most);

/** Builds the tree in which every switch, smart or not, joins incoming messages: a multicast tree, seen from its
 * leaves. */
TreeResult build_multicast_tree(const FabricState& state, std::span<const VertexId> hosts, std::size_t spread);

} // namespace weft
