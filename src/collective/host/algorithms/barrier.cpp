// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/barrier.hpp"

#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"
#include "collective/host/steps/rank_tree.hpp"

#include <ranges>

namespace weft {
namespace {

constexpr Bytes NOTHING{};

SendReceive meet(int peer)
{
  return send_receive(peer, NOTHING, peer, NOTHING);
}

} // namespace

Schedule barrier_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != 0) {
    co_yield send(0, NOTHING);
    co_yield recv(0, NOTHING);
    co_return;
  }
  for (int other = 1; other < call.ranks; ++other)
    co_yield irecv(other, NOTHING);
  co_yield wait_all();
  for (int other = 1; other < call.ranks; ++other)
    co_yield isend(other, NOTHING);
  co_yield wait_all();
}

Schedule barrier_double_ring(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 0; round < 2; ++round) {
    if (rank > 0)
      co_yield recv(left, NOTHING);
    co_yield send(right, NOTHING);
    if (rank == 0)
      co_yield recv(left, NOTHING);
  }
}

Schedule barrier_recursive_doubling(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const int places = power_of_two_below(call.ranks);
  if (rank >= places) {
    co_yield meet(rank - places);
    co_return;
  }
  const bool has_partner = rank + places < call.ranks;
  if (has_partner)
    co_yield recv(rank + places, NOTHING);
  for (int bit = 1; bit < places; bit *= 2)
    co_yield meet(flip_bit(rank, bit));
  if (has_partner)
    co_yield send(rank + places, NOTHING);
}

Schedule barrier_bruck(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; distance *= 2)
    co_yield send_receive((rank + distance) % call.ranks, NOTHING, (rank + call.ranks - distance) % call.ranks,
                          NOTHING);
}

Schedule barrier_two_proc(const HostCall& /*call*/, int rank, Tuning /*tuning*/)
{
  co_yield meet(1 - rank);
}

Schedule barrier_tree(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const auto partner = [&](int bit) { // -1 if the rank has none in that round
    const int other = flip_bit(rank, bit);
    return other % bit == 0 && other < call.ranks ? other : -1;
  };
  int bit = 1;
  for (; bit < call.ranks; bit *= 2)
    if (const int other = partner(bit); other > rank)
      co_yield recv(other, NOTHING);
    else if (other >= 0)
      co_yield send(other, NOTHING);
  for (bit /= 2; bit > 0; bit /= 2)
    if (const int other = partner(bit); other > rank)
      co_yield send(other, NOTHING);
    else if (other >= 0)
      co_yield recv(other, NOTHING);
}

Schedule barrier_basic_log(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const RankTree tree = binomial_tree(call.ranks, rank, 0);
  for (const int child : std::views::reverse(tree.children))
    co_yield recv(child, NOTHING);
  if (tree.parent >= 0) {
    co_yield send(tree.parent, NOTHING);
    co_yield recv(tree.parent, NOTHING);
  }
  for (const int child : tree.children)
    co_yield send(child, NOTHING);
}

} // namespace weft
