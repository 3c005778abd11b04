// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/alltoall.hpp"

#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"

namespace weft {

Schedule alltoall_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; ++distance) {
    const int from = (rank + distance) % call.ranks;
    co_yield irecv(from, call.bytes(call.between(from, rank)));
  }
  // Sends in the order in which the receives from this rank were posted.
  for (int distance = 1; distance < call.ranks; ++distance) {
    const int to = (rank + call.ranks - distance) % call.ranks;
    co_yield isend(to, call.bytes(call.between(rank, to)));
  }
  co_yield wait_all();
}

Schedule alltoallw_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.between(other, rank) > 0)
      co_yield irecv(other, call.bytes(call.between(other, rank)));
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.between(rank, other) > 0)
      co_yield isend(other, call.bytes(call.between(rank, other)));
  co_yield wait_all();
}

Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; ++distance) {
    const int to   = (rank + distance) % call.ranks;
    const int from = (rank + call.ranks - distance) % call.ranks;
    co_yield send_receive(to, call.bytes(call.between(rank, to)), from, call.bytes(call.between(from, rank)));
  }
}

Schedule alltoall_bruck(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; distance *= 2) {
    const int blocks    = count_below_with_bit(call.ranks, distance);
    const Bytes message = call.bytes(call.count * blocks);
    co_yield pack(blocks); // a derived datatype, created for this round
    co_yield send_receive((rank + distance) % call.ranks, message, (rank + call.ranks - distance) % call.ranks,
                          message);
    co_yield pack(blocks);
  }
}

Schedule alltoall_two_proc(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const int other = 1 - rank;
  co_yield send_receive(other, call.bytes(call.between(rank, other)), other, call.bytes(call.between(other, rank)));
}

} // namespace weft
