// SPDX-License-Identifier: LGPL-2.1-only
/* What a multicast puts on the links.
 *
 * A communicator's ranks are reached over multicast trees: unions of the ways of their hosts to a switch, in which
 * every switch copies. A block is divided among the trees by chunks. From its root it goes up its way and down all
 * others, so that it crosses every cable of a tree once, in one direction; a NIC with several ranks of the communicator
 * gets it once and gives it to all of them.
 *
 * Roots that start at the same time are planned together, tree by tree: a flow for all links of a tree switch and a
 * direction that carry as much, at the same pace, beside as much of others. Nothing comes out of a switch faster than
 * it goes in: a flow cannot end before those that feed it. But nothing waits for other branches either: unreliable
 * multicast does not, so that each receiver has its data when its own branch does, and a slow branch keeps what it has
 * not yet passed on in its switch.
 *
 * The flows of a call share each link in proportion to their bytes, and all together weigh as much on a receiver's
 * cable as one message (MulticastFlows). So blocks that start together and blocks that start one after the other share
 * links alike, and times are continuous in the roots' start times. How lossless links hold roots back is not planned
 * here (collective/multicast/backpressure.hpp). Beside that, on a quiet fabric, a receiver gets the last chunk after
 *
 *   the time of the busiest link between the roots and it (or that of looking its packets up where it ends), or of the
 *   slowest root's progress engine
 *   + the longest way from a root to it, with the latency factor of messages of that size
 *
 * What its own progress engine makes of that is not planned here (model/nic/staging_ring.hpp).
 */
#pragma once

#include "collective/in_network/stream.hpp"
#include "collective/multicast/chunks.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/** The ranks of a communicator and the trees between their hosts, of which each is one member. */
struct MulticastGroup {
  std::vector<int> member_of;       ///< by rank
  std::vector<int> ranks_at;        ///< by member
  std::vector<ReductionTree> trees; ///< one at least
  std::vector<int> rack_of;         ///< by rank: its host's switch
  std::vector<int> pod_of;          ///< by rank: the switch below the first tree's root

  int ranks() const { return static_cast<int>(member_of.size()); }
};

struct GroupResult {
  std::optional<MulticastGroup> group;
  NoTree obstacle = NoTree::no_common_switch; ///< where there is none
};

/** @p rank_hosts: by rank. @p spread as for build_reduction_tree; each further tree takes the next root. */
GroupResult make_multicast_group(const FabricState& state, std::span<const VertexId> rank_hosts, std::size_t spread);

struct MulticastRoot {
  int rank = 0;
  Bytes block;
  BytesPerSecond send_rate{std::numeric_limits<double>::infinity()}; ///< of its progress engine, in payload
};

/** A flow, and those that it cannot end before. */
struct MulticastFlow {
  StreamFlow flow;
  std::vector<std::size_t> after; ///< earlier ones of the plan
};

/** What comes to a host. */
struct MulticastArrival {
  Seconds way;       ///< the longest from a root
  int flows = 0;     ///< that bring it, one a tree
  Bytes wire;        ///< with headers
  Seconds switching; ///< in which switches and its cable bring it on a quiet fabric, however fast the roots send
};

struct MulticastPlan {
  std::vector<MulticastFlow> flows;
  std::vector<std::vector<int>> members;         ///< by flow: those to which it brings something
  std::vector<MulticastArrival> arrivals;        ///< by member: all is there a way after the ends of those flows
  std::vector<std::vector<std::size_t>> leaving; ///< by root: the flows with whose ends its last chunk has left it
  std::vector<FlowLink> links;                   ///< what crosses each link, all trees together; `messages` is 1
  std::vector<Bytes> payloads;                   ///< of those links, without headers
  Seconds forwarding; ///< of the longest way: the point-to-point messages that the flows compete as
};

/** How much others use a link: any measure of which equal values mean equal pace. */
using LinkUse = std::function<double(LinkId)>;

std::int64_t chunks_of(const MulticastModel& model, Bytes block);
/** The chunks that go over tree @p tree of @p trees. */
ChunkRun share_of_tree(std::int64_t chunks, int tree, int trees);
/** Their bytes. */
Bytes bytes_of(const MulticastModel& model, Bytes block, ChunkRun run);

/** @p use: of each link, when the roots start. */
MulticastPlan plan_multicast(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
                             const LinkUse& use);

} // namespace weft
