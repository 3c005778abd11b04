// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/scan.hpp"

#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"

namespace weft {

Schedule scan_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  if (rank > 0) {
    co_yield recv(rank - 1, vector);
    co_yield reduce(vector);
  }
  if (rank + 1 < call.ranks)
    co_yield send(rank + 1, vector);
}

Schedule scan_recursive_doubling(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const int other = flip_bit(rank, bit);
    if (other >= call.ranks)
      continue;
    co_yield send_receive(other, vector, other, vector);
    if (rank > other)
      co_yield reduce(vector); // data of lower ranks, part of the result
    co_yield reduce(vector);   // data of all ranks of the subtree, for the next round
  }
}

} // namespace weft
