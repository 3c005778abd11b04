// SPDX-License-Identifier: LGPL-2.1-only
/* Plan of a call that NCCL executes: the tuner's choice, and the lanes that its channels form.
 *
 * Channels that visit the ranks in the same order form one lane, with the sum of their shares of the vector and of
 * their rates. A ring visits the GPUs of a node, then those of the next node; a tree's lane is one of the two binary
 * trees over the nodes (src/graph/trees.cc of NCCL), with a chain within each node. Channels begin a node at different
 * GPUs, evenly spread over it, and thus use all NICs (src/graph/connect.cc).
 *
 * Rings with Simple use chunks of four slots, all other algorithms chunks of one slot (src/include/collectives.h). All
 * rings send them in two slices, which have at least 32 KiB with Simple (src/device/prims_simple.h). With LL and LL128,
 * whose flags are in each line, a receiver can process a partly filled slot. A connection has eight slots: its sender
 * is at most that far ahead.
 *
 * Two-level algorithms reduce within nodes first: NVLSTree and NVLS in the NVSwitches, CollNetDirect by messages
 * between all GPUs, CollNetChain along a chain. The heads, GPUs with their own NIC, then combine the nodes' sums:
 * NVLSTree by a double tree for each head, the other algorithms in the switches of the network. Results return in the
 * same way. A message to the next GPU of the node loads the links as much as the traffic between all GPUs and the
 * NVSwitches, and a message to the head of the next node as much as the traffic with the switches of the network.
 *
 * PAT is a binomial tree for each rank; trees exchange aggregated messages at distances of 1, 2, 4, ... ranks, which
 * are the lanes.
 *
 * An Alltoall is a message to each rank, with eight in flight at once (src/enqueue.cc). */
#pragma once

#include "collective/host/engine/host_call.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/nccl/nccl_tuner.hpp"

#include <vector>

namespace weft {

/** Channels that connect the ranks in the same way. */
struct NcclLane {
  static constexpr int NOBODY = -1;

  double share = 1;                       ///< fraction of the vector
  Bytes chunk{};                          ///< data of one step
  std::vector<int> order{};               ///< of a ring: its ranks
  std::vector<int> position{};            ///< of a ring, by rank
  std::vector<int> parent{};              ///< of a tree, by rank; NOBODY for the root
  std::vector<std::vector<int>> children; ///< of a tree, by rank
  std::vector<int> next{};     ///< of two levels, by rank: the next GPU of its node; NOBODY if it is the only one
  std::vector<int> previous{}; ///< the inverse of next
  std::vector<int> beyond{};   ///< of CollNet, by rank: the head of the next node; NOBODY if the rank is not a head
  std::vector<int> behind{};   ///< the inverse of beyond
  double near = 1;             ///< bytes of a message within a node per byte of its step ...
  double far  = 1;             ///< ... and between nodes
  Connection within{};         ///< within a node
  Connection between{};        ///< between nodes
  Connection late{};           ///< between nodes, for messages after the first `window`
};

struct NcclPlan {
  NcclCollective collective;
  NcclChoice choice;
  Nodes nodes;
  std::vector<NcclLane> lanes;
  Bytes vector{};     ///< size of the vector, or of a block
  double wire = 1;    ///< bytes on the wire per byte of data
  int slices  = 1;    ///< messages per chunk
  int window  = 8;    ///< maximum number of messages that a sender is ahead
  Connection begin{}; ///< connection with the latency of the call before its first step
  Connection end{};   ///< connection with the time of copies after the last message
  Bytes volume{};     ///< for NVLS: bytes that a GPU sends to the NVSwitches, and receives
};

/** Returns the ranks of a call grouped by nodes of @p gpus consecutive hosts. Throws UserError if two ranks share a
 * GPU. */
Nodes nodes_of_gpus(const HostCall& call, int gpus);

/** Returns the plan of @p call, whose ranks are on @p nodes. */
NcclPlan nccl_plan(const NcclTuner& tuner, const HostCall& call, Nodes nodes, NcclCollective collective);

/** Returns the algorithms for which there are schedules. */
std::vector<NcclAlgorithm> nccl_executable(const Nodes& nodes, NcclCollective collective);

/** Returns the parents of a binary tree over @p nodes, by node; NcclLane::NOBODY for the root. The second tree of a
 * double tree mirrors the first one, or is shifted by a node if their number is odd. */
std::vector<int> nccl_tree(int nodes, bool second);

} // namespace weft
