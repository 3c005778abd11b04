// SPDX-License-Identifier: LGPL-2.1-only
/* Call of a collective as seen by the algorithms of MPI libraries: ranks, element count and element size. */
#pragma once

#include "base/units.hpp"
#include "collective/host/engine/schedule.hpp"
#include "model/collective/call_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace weft {

/** Number of elements: libraries divide vectors into elements, not bytes. */
using Elements = std::int64_t;

struct NcclPlan;
struct Nodes;

/** Message to or from a neighbour in a neighbourhood collective. */
struct NeighborMessage {
  int peer;           ///< rank; negative: no neighbour at this position (MPI_PROC_NULL)
  Elements count = 0; ///< elements
};

/** One rank's messages in a neighbourhood collective, in the order of MPI's neighbours. */
struct NeighborMessages {
  std::vector<NeighborMessage> received;
  std::vector<NeighborMessage> sent;
  /// True if entries 2d and 2d+1 are the two directions of dimension d: data sent in one direction is received from the
  /// opposite one.
  bool cartesian = false;
  /// True if the source neighbours of this rank are also its destinations, in the same order.
  bool undirected = false;
};

/** One rank's part in a collective on an intercommunicator. Ranks count through both groups. */
struct BetweenGroups {
  static constexpr int NO_ROOT = -1; ///< not rooted, or another rank of the local group is the root

  int own_begin   = 0; ///< first rank of the local group
  int own_size    = 0;
  int other_begin = 0; ///< first rank of the remote group
  int other_size  = 0;
  int root        = NO_ROOT;
  /// Bytes of the vector, or of a block for each rank of the remote group.
  Elements gives = 0;
  Elements gets  = 0;
  /// By rank of the remote group, if blocks differ: bytes to and from each. For Reduce_scatter: bytes of each part, by
  /// rank of the local group.
  std::vector<Elements> to    = {};
  std::vector<Elements> from  = {};
  std::vector<Elements> parts = {};
};

struct HostCall {
  std::string_view collective; ///< name in its row (model/collective/collective_kind.hpp)
  int ranks = 1;
  int root  = 0;
  /// Length of the vector (Bcast, Reduce, Allreduce, Scan, Exscan), or of one rank's block (Gather, Scatter,
  /// Allgather, Alltoall, Reduce_scatter_block).
  Elements count   = 0;
  Bytes element    = Bytes(1); ///< one element
  bool commutative = true;     ///< true if the operation is commutative
  bool blocking    = true;     ///< true for MPI_Allreduce, false for MPI_Iallreduce
  /// Returns the index of the host on which a rank runs, for hierarchical algorithms; null: each rank has its own host.
  std::function<int(int rank)> host = {};
  /// Returns the elements that one rank sends to another, if not `count`: the block of @p from in Gatherv and
  /// Allgatherv, the block for @p to in Scatterv and Reduce_scatter.
  std::function<Elements(int from, int to)> block = {};
  /// Returns one rank's messages; set for neighbourhood collectives only.
  std::function<NeighborMessages(int rank)> neighbors = {};
  /// Returns one rank's part; set on intercommunicators only.
  std::function<const BetweenGroups&(int rank)> groups = {};
  /// Returns the library's steps for a nested collective (Open MPI's "nonoverlapping" Allreduce is its Reduce and its
  /// Bcast); null if an algorithm is executed without a library.
  std::function<Schedule(const HostCall& call, int rank)> within = {};
  bool predefined = true; ///< true if the operation is predefined by MPI, false if the program created it; all
                          ///< predefined ones commute
  /// Result of `host` for all ranks, if it has been computed (by Selection::resolved).
  std::shared_ptr<const Nodes> nodes = {};
  /// Nesting depth, this call included, of calls whose algorithm may be any (part_of, han).
  int depth = 0;
  /// True for a nested call whose ranks share a host, if `host` is null.
  bool within_host = false;
  /// Reuse of cached data among the segments of the enclosing call; outlives the schedule.
  const Pipeline* pipeline = nullptr;
  /// NCCL's choice and connections for this call, if NCCL executes it.
  std::shared_ptr<const NcclPlan> nccl = {};

  Bytes bytes(Elements elements) const { return element * static_cast<double>(elements); }
  Elements from(int rank) const { return block ? block(rank, root) : count; }
  Elements to(int rank) const { return block ? block(root, rank) : count; }
  Elements between(int from, int to) const { return block ? block(from, to) : count; }
};

/** Returns the arguments of an algorithm for @p call; for Allgatherv and collectives without reduction, counts are in
 * bytes. The counts of @p call must outlive the result. @p host: see HostCall. */
HostCall host_call(const CallDescriptor& call, std::function<int(int rank)> host = {});

/** Returns the size with which a rule's sizes are compared: the vector of a Bcast or reduction (the whole one for
 * Reduce_scatter), otherwise one rank's block (the mean for Allgatherv); 0 for Barrier. */
Bytes bytes_that_select(const HostCall& call);

/** Returns the size of one rank's send and receive buffers; the mean if ranks differ. Infinity if only the participants
 * of the call know the size. */
Bytes buffers_of_a_rank(const HostCall& call);

/** Parameters of an algorithm, set by a selection. */
struct Tuning {
  Bytes segment = {}; ///< segment size of messages; 0: no segmentation
  int fan_out   = 0;  ///< children per tree vertex, if configurable; 0: the library's default
};

using MakeSchedule = Schedule (*)(const HostCall& call, int rank, Tuning tuning);

/** Returns the steps of a nested call: the executing library's algorithm, or @p otherwise if there is no library. */
inline Schedule within(const HostCall& inner, int rank, MakeSchedule otherwise)
{
  return inner.within ? inner.within(inner, rank) : otherwise(inner, rank, {});
}

} // namespace weft
