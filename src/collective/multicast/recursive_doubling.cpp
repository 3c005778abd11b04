// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/recursive_doubling.hpp"

#include <bit>

namespace weft {

std::vector<BarrierStep> recursive_doubling(int rank, int ranks)
{
  const int core  = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const int extra = ranks - core;
  int round       = 0;
  std::vector<BarrierStep> steps;
  if (rank >= core) {
    steps.push_back({round, rank - core, true, false});
  } else {
    if (rank < extra)
      steps.push_back({round, rank + core, false, true});
    for (int bit = 1; bit < core; bit *= 2)
      steps.push_back({++round, rank / bit % 2 == 0 ? rank + bit : rank - bit, true, true});
  }
  const int last = std::countr_zero(static_cast<unsigned>(core)) + 1;
  if (rank >= core)
    steps.push_back({last, rank - core, false, true});
  else if (rank < extra)
    steps.push_back({last, rank + core, true, false});
  return steps;
}

} // namespace weft
