// SPDX-License-Identifier: LGPL-2.1-only
/* A collective as the algorithms of MPI libraries see it: how many ranks, how many elements, how large. */
#pragma once

#include "base/units.hpp"
#include "collective/host/engine/schedule.hpp"
#include "model/collective/call_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace weft {

/** Libraries divide by elements, not by bytes, so calls are told in elements. */
using Elements = std::int64_t;

struct Nodes;

struct HostCall {
  std::string_view collective; ///< as its row (model/collective/collective_kind.hpp) names it
  int ranks = 1;
  int root  = 0;
  /// Of Bcast, Reduce, Allreduce, Scan and Exscan: the vector. Of Gather, Scatter, Allgather, Alltoall and
  /// Reduce_scatter_block: one rank's block.
  Elements count   = 0;
  Bytes element    = Bytes(1); ///< one element
  bool commutative = true;     ///< whether the operation is
  bool blocking    = true;     ///< MPI_Allreduce, not MPI_Iallreduce
  /// The number of the host on which a rank runs, for algorithms that go by hosts; none: each rank has one of its own.
  std::function<int(int rank)> host = {};
  /// Elements that go from one rank to another, where they are not count: in Gatherv, Allgatherv those of @p from, in
  /// Scatterv and Reduce_scatter those for @p to.
  std::function<Elements(int from, int to)> block = {};
  /// The steps that the same library takes for another collective within this one (Open MPI's "nonoverlapping"
  /// Allreduce is its Reduce and its Bcast); none where an algorithm stands for itself.
  std::function<Schedule(const HostCall& call, int rank)> within = {};
  bool predefined = true; ///< whether the operation is one of MPI's, not one of the program's; MPI's all commute
  /// What host says, where somebody has worked it out for all ranks (Selection::resolved does).
  std::shared_ptr<const Nodes> nodes = {};
  /// Number of calls around this one that may choose any algorithm for it, its own among them (part_of, han).
  int depth = 0;
  /// A part of a call, of ranks that share a host, where host is not said.
  bool within_host = false;

  Bytes bytes(Elements elements) const { return element * static_cast<double>(elements); }
  Elements from(int rank) const { return block ? block(rank, root) : count; }
  Elements to(int rank) const { return block ? block(root, rank) : count; }
  Elements between(int from, int to) const { return block ? block(from, to) : count; }
};

/** Returns what an algorithm is called with for @p call; Allgatherv and collectives that reduce nothing are in bytes.
 *  The counts of @p call must outlive it. @p host as HostCall has it. */
HostCall host_call(const CallDescriptor& call, std::function<int(int rank)> host = {});

/** What a rule's bytes are compared with: the vector of a Bcast or of a reduction, of Reduce_scatter the whole one;
 *  else one rank's block, of Allgatherv the mean. Of Barrier 0. */
Bytes bytes_that_select(const HostCall& call);

/** What one rank has in its buffers, of what it gives and what it gets; the mean where ranks differ. Infinity where
 * that is known only to those who are in the call. */
Bytes buffers_of_a_rank(const HostCall& call);

/** What a selection says of an algorithm besides its name. */
struct Tuning {
  Bytes segment = {}; ///< messages are cut into pieces of so many bytes; 0: they are not cut
  int fan_out   = 0;  ///< children of a vertex of the tree, where that can be chosen; 0: the library's own
};

using MakeSchedule = Schedule (*)(const HostCall& call, int rank, Tuning tuning);

/** The steps of a call within another one, which the library that executes both may take by another algorithm. */
inline Schedule within(const HostCall& inner, int rank, MakeSchedule otherwise)
{
  return inner.within ? inner.within(inner, rank) : otherwise(inner, rank, {});
}

} // namespace weft
