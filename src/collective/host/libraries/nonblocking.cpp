// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/libraries/nonblocking.hpp"

#include "collective/host/algorithms/allreduce.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/steps/halving.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"
#include "collective/host/steps/rank_tree.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr Step end_of_round()
{
  return wait_all();
}

/** Converts between ranks and positions: the root has position 0, and rank 0 the root's. The mapping is its own
 * inverse. */
int swapped(int one, int root)
{
  if (one == 0)
    return root;
  return one == root ? 0 : one;
}

/** Converts a tree of positions to a tree of ranks. */
RankTree of_ranks(RankTree tree, int root)
{
  if (tree.parent >= 0)
    tree.parent = swapped(tree.parent, root);
  std::ranges::transform(tree.children, tree.children.begin(), [=](int child) { return swapped(child, root); });
  return tree;
}

RankTree tree_down(const HostCall& call, int rank, int root)
{
  return of_ranks(binomial_tree(call.ranks, swapped(rank, root), 0), root);
}

RankTree tree_up(const HostCall& call, int rank, int root)
{
  return of_ranks(in_order_binomial_tree(call.ranks, swapped(rank, root), 0), root);
}

/** Pieces of equal length; the last one also includes the remainder. */
struct Fragments {
  Elements count;
  Elements number = 1;

  static Fragments of(const HostCall& call, Bytes segment)
  {
    if (call.count == 0)
      return {0, 0};
    if (segment == Bytes())
      return {call.count};
    const auto whole = static_cast<Elements>(call.bytes(call.count) / segment);
    return {call.count, whole + (segment * static_cast<double>(whole) < call.bytes(call.count) ? 1 : 0)};
  }
  Elements at(Elements index) const
  {
    const Elements length = count / number;
    return index + 1 < number ? length : count - length * index;
  }
};

Schedule send_down(RankTree tree, Bytes vector)
{
  if (tree.parent >= 0) {
    co_yield irecv(tree.parent, vector);
    co_yield end_of_round();
  }
  for (const int child : tree.children)
    co_yield isend(child, vector);
  co_yield end_of_round();
}

/** Each vertex adds up its children's vectors and posts a send of the sum to its parent, without ending the round. */
Schedule add_up(RankTree tree, Bytes vector)
{
  for (const int child : tree.children) {
    co_yield irecv(child, vector);
    co_yield end_of_round();
    co_yield reduce(vector);
  }
  if (tree.parent >= 0)
    co_yield isend(tree.parent, vector);
}

} // namespace

Schedule nbc_exchange_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes block = call.bytes(call.count);
  co_yield copy(block);
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank) {
      co_yield irecv(other, block);
      co_yield isend(other, block);
    }
  co_yield end_of_round();
}

Schedule nbc_allgather_recursive_doubling(const HostCall& call, int rank, Tuning tuning)
{
  if (not is_power_of_two(call.ranks)) {
    co_yield nbc_exchange_linear(call, rank, tuning);
    co_return;
  }
  co_yield copy(call.bytes(call.count));
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const Bytes blocks = call.bytes(call.count * bit);
    co_yield isend(flip_bit(rank, bit), blocks);
    co_yield irecv(flip_bit(rank, bit), blocks);
    co_yield end_of_round();
  }
}

Schedule nbc_allgatherv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  co_yield copy(call.bytes(call.from(rank)));
  for (int distance = 1; distance < call.ranks; ++distance) {
    const int from = (rank + call.ranks - distance) % call.ranks;
    co_yield irecv(from, call.bytes(call.from(from)));
    co_yield isend((rank + distance) % call.ranks, call.bytes(call.from(rank)));
  }
  co_yield end_of_round();
}

Schedule nbc_allreduce_ring(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (call.count == 0)
    co_return;
  const Blocks blocks{call.count, call.ranks};
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 0; round < 2 * (call.ranks - 1); ++round) {
    const auto block = [&](int place) { return call.bytes(blocks.at((place - round + 2 * call.ranks) % call.ranks)); };
    co_yield isend(right, block(rank + 1));
    co_yield irecv(left, block(rank));
    co_yield end_of_round();
    if (round < call.ranks - 1)
      co_yield reduce(block(rank));
  }
}

Schedule nbc_allreduce_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  co_yield add_up(tree_up(call, rank, 0), vector);
  co_yield send_down(tree_down(call, rank, 0), vector);
}

Schedule nbc_allreduce_rabenseifner(const HostCall& call, int rank, Tuning tuning)
{
  return can_be_halved(call) ? allreduce_rabenseifner(call, rank, tuning) : nbc_allreduce_ring(call, rank, tuning);
}

Schedule nbc_alltoallv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (call.between(rank, rank) > 0)
    co_yield copy(call.bytes(call.between(rank, rank)));
  for (int other = 0; other < call.ranks; ++other) {
    if (other == rank)
      continue;
    if (call.between(rank, other) > 0)
      co_yield isend(other, call.bytes(call.between(rank, other)));
    if (call.between(other, rank) > 0)
      co_yield irecv(other, call.bytes(call.between(other, rank)));
  }
  co_yield end_of_round();
}

Schedule nbc_barrier_dissemination(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int distance = 1; distance < call.ranks; distance *= 2) {
    co_yield isend((rank + distance) % call.ranks, Bytes());
    co_yield irecv((rank + call.ranks - distance) % call.ranks, Bytes());
    co_yield end_of_round();
  }
}

Schedule nbc_bcast_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  if (rank != call.root)
    co_yield irecv(call.root, vector);
  else
    for (int other = 0; other < call.ranks; ++other)
      if (other != rank)
        co_yield isend(other, vector);
  co_yield end_of_round();
}

Schedule nbc_bcast_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  return send_down(tree_down(call, rank, call.root), call.bytes(call.count));
}

Schedule nbc_bcast_chain(const HostCall& call, int rank, Tuning tuning)
{
  const Fragments fragments = Fragments::of(call, tuning.segment);
  const int place           = swapped(rank, call.root);
  for (Elements index = 0; index < fragments.number; ++index) {
    const Bytes fragment = call.bytes(fragments.at(index));
    if (place > 0) {
      co_yield irecv(swapped(place - 1, call.root), fragment);
      co_yield end_of_round();
    }
    // All ranks except the root forward a fragment in the round in which they receive the next one.
    if (place + 1 < call.ranks)
      co_yield isend(swapped(place + 1, call.root), fragment);
    if (place == 0)
      co_yield end_of_round();
  }
  co_yield end_of_round();
}

Schedule nbc_bcast_knomial(const HostCall& call, int rank, Tuning tuning)
{
  constexpr int RADIX = 4; // coll_libnbc_ibcast_knomial_radix
  return send_down(knomial_tree(tuning.fan_out > 1 ? tuning.fan_out : RADIX, call.ranks, rank, call.root),
                   call.bytes(call.count));
}

Schedule nbc_gather_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root)
    co_yield isend(call.root, call.bytes(call.from(rank)));
  else
    for (int other = 0; other < call.ranks; ++other)
      co_yield other == rank ? copy(call.bytes(call.from(rank))) : irecv(other, call.bytes(call.from(other)));
  co_yield end_of_round();
}

Schedule nbc_scatter_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root)
    co_yield irecv(call.root, call.bytes(call.to(rank)));
  else
    for (int other = 0; other < call.ranks; ++other)
      co_yield other == rank ? copy(call.bytes(call.to(rank))) : isend(other, call.bytes(call.to(other)));
  co_yield end_of_round();
}

Schedule nbc_reduce_chain(const HostCall& call, int rank, Tuning tuning)
{
  const Fragments fragments = Fragments::of(call, tuning.segment);
  const int place           = swapped(rank, call.root);
  for (Elements index = 0; index < fragments.number; ++index) {
    const Bytes fragment = call.bytes(fragments.at(index));
    if (place + 1 < call.ranks) {
      co_yield irecv(swapped(place + 1, call.root), fragment);
      co_yield end_of_round();
      co_yield reduce(fragment);
    }
    if (place > 0) {
      co_yield isend(swapped(place - 1, call.root), fragment);
      co_yield end_of_round();
    }
  }
}

Schedule nbc_reduce_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  const int top      = call.commutative ? call.root : 0;
  co_yield add_up(tree_up(call, rank, top), vector);
  if (top != call.root && rank == top)
    co_yield isend(call.root, vector);
  else if (top != call.root && rank == call.root)
    co_yield irecv(top, vector);
  co_yield end_of_round();
}

bool nbc_reduce_is_chain(const HostCall& call)
{
  return call.commutative && not can_be_halved(call) && call.ranks <= 4 && call.bytes(call.count) >= Bytes(65536);
}

Schedule nbc_reduce_rabenseifner(const HostCall& call, int rank, Tuning tuning)
{
  if (can_be_halved(call))
    return reduce_rabenseifner(call, rank, tuning);
  if (nbc_reduce_is_chain(call))
    return nbc_reduce_chain(call, rank, {NBC_REDUCE_CHAIN_SEGMENT});
  return nbc_reduce_binomial(call, rank, tuning);
}

Schedule nbc_reduce_scatter_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  Elements count = 0;
  for (int other = 0; other < call.ranks; ++other)
    count += call.to(other);
  if (count == 0)
    co_return;
  co_yield add_up(tree_up(call, rank, 0), call.bytes(count));
  co_yield end_of_round();
  if (rank != 0) {
    co_yield irecv(0, call.bytes(call.to(rank)));
  } else {
    for (int other = 1; other < call.ranks; ++other)
      co_yield isend(other, call.bytes(call.to(other)));
    co_yield copy(call.bytes(call.to(0)));
  }
  co_yield end_of_round();
}

} // namespace weft
