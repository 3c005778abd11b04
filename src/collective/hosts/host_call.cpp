// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/host_call.hpp"

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

} // namespace weft
