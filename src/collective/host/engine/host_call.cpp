// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/host_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {

HostCall host_call(const CallDescriptor& call, std::function<int(int rank)> host)
{
  HostCall made;
  made.collective  = call.kind->name;
  made.ranks       = call.ranks;
  made.root        = std::max(0, call.root);
  made.blocking    = call.blocking;
  made.host        = std::move(host);
  made.commutative = call.commutative();
  made.predefined  = not call.operation || call.operation->predefined;
  if (not call.counts.empty()) {
    made.element = Bytes(static_cast<double>(call.count_size));
    made.block   = [to = call.kind->reduces, counts = call.counts](int from, int rank) {
      return counts[static_cast<std::size_t>(to ? rank : from)];
    };
  } else if (call.type) {
    made.count   = call.elements;
    made.element = Bytes(static_cast<double>(call.type->size));
  } else if (call.kind->offloadable()) {
    made.count = call.vector_bytes() / (call.movement().in_parts() ? call.ranks : 1);
  }
  return made;
}

Bytes bytes_that_select(const HostCall& call)
{
  if (call.collective == "barrier")
    return {};
  if (call.collective == "reduce_scatter") {
    Elements sum = 0;
    for (int rank = 0; rank < call.ranks; ++rank)
      sum += call.to(rank);
    return call.bytes(sum);
  }
  if (call.collective == "allgatherv") {
    Elements sum = 0;
    for (int rank = 0; rank < call.ranks; ++rank)
      sum += call.from(rank);
    return call.bytes(sum) / static_cast<double>(call.ranks);
  }
  return call.bytes(call.count);
}

Bytes buffers_of_a_rank(const HostCall& call)
{
  const std::string_view name = call.collective;
  if (name == "barrier")
    return {};
  if (name == "alltoallv" || name == "alltoallw" || call.neighbors || call.groups)
    return Bytes(std::numeric_limits<double>::infinity());
  const Bytes unit   = bytes_that_select(call); // the vector, or one rank's block
  const double ranks = call.ranks;
  if (name == "bcast")
    return unit;
  if (name == "reduce_scatter")
    return unit + unit / ranks;
  if (name == "allgather" || name == "allgatherv" || name == "reduce_scatter_block")
    return unit * (ranks + 1);
  return name == "alltoall" ? unit * (2 * ranks) : unit * 2.0; // gather and scatter: all blocks, at one rank
}

} // namespace weft
