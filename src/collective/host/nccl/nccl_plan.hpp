// SPDX-License-Identifier: LGPL-2.1-only
/* Plan of a call that NCCL executes: the tuner's choice, and the lanes that its channels form.
 *
 * Channels that visit the ranks in the same order are one lane, which has their share of the vector and the sum of
 * their rates. A ring visits the GPUs of a node, then those of the next node; a tree's lane is one of the two binary
 * trees over the nodes (src/graph/trees.cc of NCCL), with a chain within each node. Channels begin a node at different
 * GPUs, evenly spread over it, and thus use all NICs (src/graph/connect.cc).
 *
 * Rings with Simple have chunks of four slots, the others of one slot (src/include/collectives.h), and all rings send
 * them in two slices, which have at least 32 KiB with Simple (src/device/prims_simple.h). With LL and LL128, whose
 * flags are in each line, a receiver works on what has arrived of a slot. A connection has eight slots: its sender is
 * at most so far ahead.
 *
 * Algorithms of two levels reduce within nodes first: NVLSTree and NVLS in the NVSwitches, CollNetDirect by messages of
 * all GPUs to all others, CollNetChain along a chain. The heads, GPUs that a NIC belongs to, then combine the nodes'
 * sums: NVLSTree by a double tree for each head, the others in the switches of the network. Results return in the same
 * way. A message to the next GPU of the node loads the links as the data of all GPUs with the NVSwitches do, and one to
 * the head of the next node as those with the switches of the network do.
 *
 * PAT is a binomial tree for each rank; trees exchange aggregated messages at distances of 1, 2, 4, ... ranks, which
 * are the lanes.
 *
 * An Alltoall is a message to each rank, of which eight are on their way at once (src/enqueue.cc). */
#pragma once

#include "collective/host/engine/host_call.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/nccl/nccl_tuner.hpp"

#include <vector>

namespace weft {

/** Channels that connect the ranks in the same way. */
struct NcclLane {
  static constexpr int NOBODY = -1;

  double share = 1;                       ///< of the vector
  Bytes chunk{};                          ///< data of one step
  std::vector<int> order{};               ///< of a ring: its ranks
  std::vector<int> position{};            ///< of a ring, by rank
  std::vector<int> parent{};              ///< of a tree, by rank; NOBODY for the root
  std::vector<std::vector<int>> children; ///< of a tree, by rank
  std::vector<int> next{};                ///< of two levels, by rank: the next GPU of its node; NOBODY if it is alone
  std::vector<int> previous{};            ///< the reverse
  std::vector<int> beyond{};              ///< of CollNet, by rank: the head of the next node; NOBODY if it is no head
  std::vector<int> behind{};              ///< the reverse
  double near = 1;                        ///< bytes of a message within a node for a byte of its step,
  double far  = 1;                        ///< and between nodes
  Connection within{};                    ///< a node
  Connection between{};                   ///< nodes
  Connection late{};                      ///< between nodes, of messages after the first `window`
};

struct NcclPlan {
  NcclCollective collective;
  NcclChoice choice;
  Nodes nodes;
  std::vector<NcclLane> lanes;
  Bytes vector{};     ///< bytes of the vector, or of a block
  double wire = 1;    ///< bytes on the wire for a byte of data
  int slices  = 1;    ///< messages for a chunk
  int window  = 8;    ///< messages that a sender is ahead, at most
  Connection begin{}; ///< with the latency of the call before its first step
  Connection end{};   ///< with the time of copies after the last message
  Bytes volume{};     ///< of NVLS: bytes that a GPU sends to the NVSwitches, and receives
};

/** Returns the ranks of a call grouped by nodes of @p gpus consecutive hosts. Throws UserError if two share a GPU. */
Nodes nodes_of_gpus(const HostCall& call, int gpus);

/** Returns the plan of @p call, whose ranks are on @p nodes. */
NcclPlan nccl_plan(const NcclTuner& tuner, const HostCall& call, Nodes nodes, NcclCollective collective);

/** Returns the algorithms that schedules execute. */
std::vector<NcclAlgorithm> nccl_executable(const Nodes& nodes, NcclCollective collective);

/** Returns the parents of a binary tree over @p nodes, by node; NcclLane::NOBODY for the root. The second tree of a
 * double tree mirrors the first one, or is shifted by a node if their number is odd. */
std::vector<int> nccl_tree(int nodes, bool second);

} // namespace weft
