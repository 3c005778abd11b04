// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/host_call.hpp"

#include <limits>

namespace weft {

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
  if (name == "alltoallv" || name == "alltoallw")
    return Bytes(std::numeric_limits<double>::infinity());
  const Bytes unit   = bytes_that_select(call); // the vector, or one rank's block
  const double ranks = call.ranks;
  if (name == "bcast")
    return unit;
  if (name == "reduce_scatter")
    return unit + unit / ranks;
  if (name == "allgather" || name == "allgatherv" || name == "reduce_scatter_block")
    return unit * (ranks + 1);
  return name == "alltoall" ? unit * (2 * ranks) : unit * 2.0; // gather and scatter: all blocks, at one of the ranks
}

} // namespace weft
