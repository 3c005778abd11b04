// SPDX-License-Identifier: LGPL-2.1-only
/* MPICH's block collectives: Allgatherv, Alltoall, Gatherv, Scatterv. */
#include "collective/host/libraries/mpich.hpp"
#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>

namespace weft::mpich {
namespace {

/** Position of a rank's sends or receives in the ring: the current block and the progress within it. */
struct RingEnd {
  int block;
  Elements left; // remaining elements in this direction
  Elements at = 0;

  Elements next(const HostCall& call, Elements most) const
  {
    return left > 0 ? std::min(most, call.from(block) - at) : 0;
  }
  void resume(const HostCall& call, Elements count)
  {
    at += count;
    left -= count;
    if (at == call.from(block)) {
      at    = 0;
      block = (block + call.ranks - 1) % call.ranks;
    }
  }
};

/** Returns the elements of a message. */
Elements chunk(const HostCall& call, Bytes segment)
{
  Elements least = call.from(0);
  Elements most  = least;
  for (int rank = 1; rank < call.ranks; ++rank) {
    least = std::min(least, call.from(rank));
    most  = std::max(most, call.from(rank));
  }
  const Elements fitting = call.element > Bytes() ? static_cast<Elements>(segment / call.element) : 0;
  if (not call.blocking)
    return std::max<Elements>(1, call.bytes(least) < segment ? fitting : least);
  return call.bytes(most) > segment ? std::max<Elements>(1, fitting) : most;
}

} // namespace

Schedule allgatherv_ring(const HostCall& call, int rank, Tuning tuning)
{
  constexpr Bytes PIPELINED{32768}; // MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  Elements all    = 0;
  for (int from = 0; from < call.ranks; ++from)
    all += call.from(from);
  const Elements most = chunk(call, tuning.segment > Bytes() ? tuning.segment : PIPELINED);
  RingEnd out{rank, all - call.from(right)};
  RingEnd in{left, all - call.from(rank)};
  while (out.left > 0 || in.left > 0) {
    const Elements going  = out.next(call, most);
    const Elements coming = in.next(call, most);
    if (going > 0 && coming > 0)
      co_yield send_receive(right, call.bytes(going), left, call.bytes(coming));
    else if (going > 0)
      co_yield send(right, call.bytes(going));
    else if (coming > 0)
      co_yield recv(left, call.bytes(coming));
    out.resume(call, going);
    in.resume(call, coming);
  }
}

Schedule alltoall_scattered(const HostCall& call, int rank, Tuning tuning)
{
  constexpr int THROTTLE = 32; // MPIR_CVAR_ALLTOALL_THROTTLE
  const int at_a_time    = tuning.fan_out > 0 ? tuning.fan_out : THROTTLE;
  const bool leaves_out  = call.collective != "alltoall";
  for (int begin = 0; begin < call.ranks; begin += at_a_time) {
    const int end = std::min(call.ranks, begin + at_a_time);
    for (int distance = std::max(1, begin); distance < end; ++distance) {
      const int from = (rank + distance) % call.ranks;
      if (not leaves_out || call.between(from, rank) > 0)
        co_yield irecv(from, call.bytes(call.between(from, rank)));
    }
    for (int distance = std::max(1, begin); distance < end; ++distance) {
      const int to = (rank + call.ranks - distance) % call.ranks;
      if (not leaves_out || call.between(rank, to) > 0)
        co_yield isend(to, call.bytes(call.between(rank, to)));
    }
    co_yield wait_all();
  }
}

Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const bool in_pairs = is_power_of_two(call.ranks);
  for (int round = 1; round < call.ranks; ++round) {
    const int to   = in_pairs ? xor_with(rank, round) : (rank + round) % call.ranks;
    const int from = in_pairs ? to : (rank + call.ranks - round) % call.ranks;
    co_yield send_receive(to, call.bytes(call.between(rank, to)), from, call.bytes(call.between(from, rank)));
  }
}

Schedule gatherv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    if (call.from(rank) > 0)
      co_yield send(call.root, call.bytes(call.from(rank)));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.from(other) > 0)
      co_yield irecv(other, call.bytes(call.from(other)));
  co_yield wait_all();
}

Schedule scatterv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    if (call.to(rank) > 0)
      co_yield recv(call.root, call.bytes(call.to(rank)));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.to(other) > 0)
      co_yield isend(other, call.bytes(call.to(other)));
  co_yield wait_all();
}

} // namespace weft::mpich
