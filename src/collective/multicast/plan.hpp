// SPDX-License-Identifier: LGPL-2.1-only
/* What a multicast puts on the links.
 *
 * A communicator's ranks are reached over multicast trees: unions of the ways of their hosts to a switch, in which
 * every switch copies. A block is divided among the trees by chunks. From its root it goes up its way and down all
 * others, so that it crosses every cable of a tree once, in one direction; a NIC with several ranks of the communicator
 * gets it once and gives it to all of them.
 *
 * Roots that start at the same time are planned together, as flows over the links of one tree switch each, like those
 * of stream.hpp. On a quiet fabric they need
 *
 *   the time of the busiest link (or that of looking its packets up where it ends), or of the slowest root's or
 *   receiver's progress engine
 *   + the longest way from a root to a receiver, with the latency factor of messages of that size
 */
#pragma once

#include "collective/multicast/chunks.hpp"
#include "collective/stream.hpp"

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

/** What each progress engine does at most, in payload. */
struct EngineRates {
  BytesPerSecond send{std::numeric_limits<double>::infinity()};
  BytesPerSecond receive{std::numeric_limits<double>::infinity()};
};

/** Those of a fabric's hosts. */
EngineRates engine_rates(const Fabric& fabric);

struct MulticastRoot {
  int rank = 0;
  Bytes block;
};

struct MulticastPlan {
  std::vector<StreamFlow> flows;
  std::vector<FlowLink> links; ///< what crosses each link, all trees together; `messages` is 1
  std::vector<Bytes> payloads; ///< of those links, without headers
  Seconds injection;           ///< until the last packet has left its root, on a quiet fabric
  Seconds way;                 ///< from there to the last receiver
  Seconds forwarding;          ///< of the longest way: the point-to-point messages that the flows compete as
};

std::int64_t chunks_of(const MulticastModel& model, Bytes block);
/** The chunks that go over tree @p tree of @p trees. */
ChunkRun share_of_tree(std::int64_t chunks, int tree, int trees);
/** Their bytes. */
Bytes bytes_of(const MulticastModel& model, Bytes block, ChunkRun run);

MulticastPlan plan_multicast(const Fabric& fabric, const MulticastGroup& group, std::span<const MulticastRoot> roots,
                             const EngineRates& rates);

} // namespace weft
