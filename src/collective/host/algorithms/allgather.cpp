// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/allgather.hpp"

#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/algorithms/gather_scatter.hpp"
#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Returns the bytes of @p ranks consecutive ranks starting with @p first, wrapping around. */
Bytes of_ranks(const HostCall& call, int first, int ranks)
{
  if (not call.block)
    return call.bytes(call.count * ranks);
  Elements sum = 0;
  for (int index = 0; index < ranks; ++index)
    sum += call.from((first + index + call.ranks) % call.ranks);
  return call.bytes(sum);
}

} // namespace

Schedule allgather_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const bool uneven = call.collective == "allgatherv";
  HostCall gather   = call;
  gather.collective = uneven ? "gatherv" : "gather";
  gather.root       = 0;
  HostCall bcast    = gather;
  bcast.collective  = "bcast";
  if (uneven) { // one element of a datatype that contains all blocks
    bcast.element = of_ranks(call, 0, call.ranks);
    bcast.count   = 1;
    bcast.block   = {};
  } else {
    bcast.count = call.count * call.ranks;
  }
  co_yield within(gather, rank, gather_linear);
  co_yield within(bcast, rank, bcast_linear);
}

Schedule allgather_bruck(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; distance *= 2) {
    const int blocks = std::min(distance, call.ranks - distance);
    const int to     = (rank + call.ranks - distance) % call.ranks;
    const int from   = (rank + distance) % call.ranks;
    co_yield send_receive(to, of_ranks(call, rank, blocks), from, of_ranks(call, from, blocks));
  }
}

Schedule allgather_recursive_doubling(const HostCall& call, int rank, Tuning tuning)
{
  if (not is_power_of_two(call.ranks)) {
    co_yield allgather_bruck(call, rank, tuning);
    co_return;
  }
  for (int distance = 1; distance < call.ranks; distance *= 2) {
    const int other = flip_bit(rank, distance);
    co_yield send_receive(other, of_ranks(call, first_of(rank, distance), distance), other,
                          of_ranks(call, first_of(other, distance), distance));
  }
}

Schedule allgather_ring(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 0; round < call.ranks - 1; ++round)
    co_yield send_receive(right, of_ranks(call, rank - round, 1), left, of_ranks(call, rank - round - 1, 1));
}

Schedule allgather_neighbor(const HostCall& call, int rank, Tuning tuning)
{
  if (call.ranks % 2 != 0) {
    co_yield allgather_ring(call, rank, tuning);
    co_return;
  }
  // Exchanges alternate between the two neighbours; after the first round a rank forwards the two blocks received last.
  const bool even = rank % 2 == 0;
  const auto peer = [&](int round) { return (rank + ((round % 2 == 0) == even ? 1 : call.ranks - 1)) % call.ranks; };
  co_yield send_receive(peer(0), of_ranks(call, rank, 1), peer(0), of_ranks(call, peer(0), 1));
  const auto pair_at = [&](int of, int round) { // first of the two blocks that a rank has received up to that round
    const int start = of - of % 2;
    const int step  = round % 2 == 0 ? round : round + 1;
    return (of % 2 == 0) == (round % 2 == 0) ? start + step : start - step;
  };
  for (int round = 1; round < call.ranks / 2; ++round) {
    const int other = peer(round);
    const auto sent = [&](int of) { // blocks that a rank received in the previous round
      return of_ranks(call, ((pair_at(of, round - 1) % call.ranks) + call.ranks) % call.ranks, 2);
    };
    co_yield send_receive(other, sent(rank), other, sent(other));
  }
}

Schedule allgather_two_proc(const HostCall& call, int rank, Tuning /*tuning*/)
{
  co_yield send_receive(1 - rank, of_ranks(call, rank, 1), 1 - rank, of_ranks(call, 1 - rank, 1));
}

} // namespace weft
