// SPDX-License-Identifier: LGPL-2.1-only
/* Exchange shared by several algorithms: partial sums that travel around a ring. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <functional>

namespace weft {

/** Ring reduce-scatter: a rank sends block @p first, then each received block after adding its own data, and ends with
 * the sum of the block after @p first. @p size returns the size of a block. */
inline Schedule reduce_in_a_ring(int ranks, int rank, int first, std::function<Bytes(int block)> size)
{
  const int left  = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  Bytes has       = size(first);
  Request coming  = -1;
  for (int round = 1; round < ranks; ++round) {
    const Bytes next_has = size((first + ranks - round) % ranks);
    const Request next   = co_yield irecv(left, next_has);
    if (coming >= 0) {
      co_yield wait(coming);
      co_yield reduce(has);
    }
    co_yield send(right, has);
    coming = next;
    has    = next_has;
  }
  co_yield wait(coming);
  co_yield reduce(has);
}

} // namespace weft
