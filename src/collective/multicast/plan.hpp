// SPDX-License-Identifier: LGPL-2.1-only
/* Flows of a multicast on the links.
 *
 * A communicator uses one or more multicast trees: unions of the routes of its hosts to a switch, in which every switch
 * replicates packets. A block is divided among the trees by chunks. It goes up from its root and down all other
 * branches, and crosses every cable of a tree once, in one direction. A NIC with several ranks of the communicator
 * receives it once and delivers it to all of them.
 *
 * Roots that start together are planned together, tree by tree. Links of a switch that have the same direction, load,
 * pace and other traffic form one flow. A switch sends no faster than it receives: a flow cannot end before those that
 * feed it. Branches do not wait for each other, since the multicast is unreliable: each receiver has its data when its
 * own branch has delivered them, and the switch buffers what a slow branch has not forwarded.
 *
 * The flows of a call share each link in proportion to their bytes, and together have the weight of one message on a
 * receiver's cable (MulticastFlows). Blocks that start together or one after the other thus share links alike, and
 * times are continuous in the roots' starts. Backpressure of lossless links is added elsewhere
 * (collective/multicast/backpressure.hpp). On a quiet fabric a receiver has the last chunk after
 *
 *   the time of the busiest link between the roots and it (or of the lookups at its end), or that of the slowest root's
 *   progress engine
 *   + the longest path from a root to it, with the latency factor of messages of that size
 *
 * The receiver's own progress engine is added elsewhere (model/nic/staging_ring.hpp).
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

/** Ranks of a communicator and the trees between their hosts. Each host is one member. */
struct MulticastGroup {
  FabricEpoch epoch = 0;            ///< epoch of the state that the trees were built for
  std::vector<int> member_of;       ///< by rank
  std::vector<int> ranks_at;        ///< by member
  std::vector<ReductionTree> trees; ///< at least one
  std::vector<int> rack_of;         ///< by rank: its host's switch
  std::vector<int> pod_of;          ///< by rank: the switch below the first tree's root

  int ranks() const { return static_cast<int>(member_of.size()); }
};

struct GroupResult {
  std::optional<MulticastGroup> group;
  NoTree obstacle = NoTree::no_common_switch; ///< reason if there is no group
};

/** Builds the trees of a communicator. @p rank_hosts: by rank. @p spread: see build_reduction_tree; each further tree
 * takes the next root. */
GroupResult make_multicast_group(const FabricState& state, std::span<const VertexId> rank_hosts, std::size_t spread);

struct MulticastRoot {
  int rank = 0;
  Bytes block;
  BytesPerSecond send_rate{std::numeric_limits<double>::infinity()}; ///< payload rate of its progress engine
};

/** Flow of a plan, and the flows that feed it. */
struct MulticastFlow {
  StreamFlow flow;
  std::vector<std::size_t> after; ///< earlier flows of the plan, which end first
  int tree = 0;
  Seconds own; ///< time of its links, or of a root's progress engine, without the flows that feed it
};

/** Data that arrive at a host. */
struct MulticastArrival {
  Seconds way;       ///< longest path from a root
  int flows = 0;     ///< number of flows, one per tree
  Bytes wire;        ///< size with headers
  Seconds switching; ///< transfer time through switches and its cable on a quiet fabric, without the roots' limits
};

struct MulticastPlan {
  FabricEpoch epoch = 0; ///< epoch of its group
  std::vector<MulticastFlow> flows;
  std::vector<std::vector<int>> members;         ///< by flow: the members that it reaches
  std::vector<MulticastArrival> arrivals;        ///< by member; complete one `way` after the end of its flows
  std::vector<std::vector<std::size_t>> leaving; ///< by root: flows whose end means that its last chunk has left
  std::vector<FlowLink> links;                   ///< load of each link over all trees; `messages` is 1
  std::vector<Bytes> payloads;                   ///< payload on those links, without headers
  Seconds forwarding; ///< latency of the longest path: weight of the flows against point-to-point messages
};

/** Other traffic on a link, in any measure whose equal values mean equal pace. */
using LinkUse = std::function<double(LinkId)>;

std::int64_t chunks_of(const MulticastModel& model, Bytes block);
/** Returns the chunks that go over tree @p tree of @p trees. */
ChunkRun share_of_tree(std::int64_t chunks, int tree, int trees);
/** Returns the size of chunks. */
Bytes bytes_of(const MulticastModel& model, Bytes block, ChunkRun run);

/** Plans the flows of roots that start together. @p use: other traffic on each link at that time. */
MulticastPlan plan_multicast(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
                             const LinkUse& use);

} // namespace weft
