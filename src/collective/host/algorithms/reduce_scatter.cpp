// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/reduce_scatter.hpp"

#include "collective/host/algorithms/gather_scatter.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Returns the number of elements for ranks [first, last). */
Elements for_ranks(const HostCall& call, int first, int last)
{
  if (not call.block)
    return call.count * (last - first);
  Elements sum = 0;
  for (int rank = first; rank < last; ++rank)
    sum += call.to(rank);
  return sum;
}

HostCall reduce_all(const HostCall& call)
{
  HostCall all   = call;
  all.collective = "reduce";
  all.root       = 0;
  all.count      = for_ranks(call, 0, call.ranks);
  all.block      = {};
  return all;
}

Schedule reduce_then_scatter(const HostCall& call, int rank, std::string_view scatter, MakeSchedule otherwise)
{
  const HostCall all = reduce_all(call);
  HostCall parts     = call;
  parts.collective   = scatter;
  parts.root         = 0;
  co_yield within(all, rank, reduce_binomial);
  co_yield within(parts, rank, otherwise);
}

/** Folding of the ranks to a power of two: the first ranks form pairs, in which the first rank sends its vector to the
 * second. Each remaining position handles the blocks of its own rank and of the idle one. */
struct Paired {
  const HostCall& call;
  int places;
  int pairs;

  explicit Paired(const HostCall& of) : call(of), places(power_of_two_below(of.ranks)), pairs(of.ranks - places) {}
  int place(int rank) const
  {
    if (rank >= 2 * pairs)
      return rank - pairs;
    return rank % 2 != 0 ? rank / 2 : -1;
  }
  int rank(int place) const { return place < pairs ? 2 * place + 1 : place + pairs; }
  int first_rank(int place) const { return place < pairs ? 2 * place : place + pairs; }
  /** Returns the bytes of the blocks of positions [place, place + count). */
  Bytes blocks(int place, int count) const
  {
    return call.bytes(for_ranks(call, first_rank(place), first_rank(place + count)));
  }
};

Schedule pair_up(const HostCall& call, Paired paired, int rank)
{
  const Bytes all = call.bytes(for_ranks(call, 0, call.ranks));
  if (rank >= 2 * paired.pairs)
    co_return;
  if (rank % 2 == 0) {
    co_yield send(rank + 1, all);
  } else {
    co_yield recv(rank - 1, all);
    co_yield reduce(all);
  }
}

} // namespace

Schedule reduce_scatter_nonoverlapping(const HostCall& call, int rank, Tuning /*tuning*/)
{
  return reduce_then_scatter(call, rank, "scatterv", scatterv_linear);
}

Schedule reduce_scatter_block_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  return reduce_then_scatter(call, rank, "scatter", scatter_linear);
}

Schedule reduce_scatter_ring(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const int left = (rank + call.ranks - 1) % call.ranks;
  co_yield reduce_in_a_ring(call.ranks, rank, left, [&](int block) { return call.bytes(call.to(block)); });
}

Schedule reduce_scatter_recursive_halving(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Paired paired(call);
  co_yield pair_up(call, paired, rank);
  const int place = paired.place(rank);
  if (place < 0) {
    if (call.to(rank) > 0)
      co_yield recv(rank + 1, call.bytes(call.to(rank)));
    co_return;
  }
  for (int bit = paired.places / 2; bit > 0; bit /= 2) {
    const int kept     = first_of(place, bit); // first position of the half that this rank keeps
    const Bytes coming = paired.blocks(kept, bit);
    const Bytes going  = paired.blocks(flip_bit(kept, bit), bit);
    const int peer     = paired.rank(flip_bit(place, bit));
    Request request    = -1;
    if (coming > Bytes())
      request = co_yield irecv(peer, coming);
    if (going > Bytes())
      co_yield send(peer, going);
    if (coming > Bytes()) {
      co_yield wait(request);
      co_yield reduce(coming);
    }
  }
  if (place < paired.pairs && call.to(rank - 1) > 0)
    co_yield send(rank - 1, call.bytes(call.to(rank - 1)));
}

namespace {

/** Returns the bits of @p place in reverse order. */
int mirrored(int place, int places)
{
  int mirror = 0;
  for (int bit = 1; bit < places; bit *= 2)
    if (has(place, bit))
      mirror += places / 2 / bit;
  return mirror;
}

} // namespace

// J. L. Traeff: An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application. EuroPVM/MPI 2005.
Schedule reduce_scatter_butterfly(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Paired paired(call);
  co_yield pair_up(call, paired, rank);
  const int place = paired.place(rank);
  if (place < 0) {
    const int from = paired.rank(mirrored(rank / 2, paired.places));
    co_yield recv(from, call.bytes(call.to(rank)));
    co_return;
  }
  int kept   = 0; // first position of the blocks that this rank keeps
  int blocks = paired.places;
  for (int bit = 1; bit < paired.places; bit *= 2) {
    blocks /= 2;
    const int given = kept + (not has(place, bit) ? blocks : 0);
    kept += has(place, bit) ? blocks : 0;
    const int peer = paired.rank(flip_bit(place, bit));
    co_yield send_receive(peer, paired.blocks(given, blocks), peer, paired.blocks(kept, blocks));
    co_yield reduce(paired.blocks(kept, blocks));
  }
  // The remaining block belongs to the bit-reversed position.
  const int owner      = mirrored(place, paired.places);
  const int owner_rank = paired.rank(owner);
  if (owner < paired.pairs)
    co_yield send(owner_rank - 1, call.bytes(call.to(owner_rank - 1)));
  if (owner != place)
    co_yield send_receive(owner_rank, call.bytes(call.to(owner_rank)), owner_rank, call.bytes(call.to(rank)));
}

// Blocks of equal length can be permuted beforehand, so that each rank ends with its own.
Schedule reduce_scatter_block_butterfly(const HostCall& call, int rank, Tuning tuning)
{
  if (not is_power_of_two(call.ranks)) {
    co_yield reduce_scatter_butterfly(call, rank, tuning);
    co_return;
  }
  int blocks = call.ranks;
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    blocks /= 2;
    const Bytes half = call.bytes(call.to(0) * blocks);
    co_yield send_receive(flip_bit(rank, bit), half, flip_bit(rank, bit), half);
    co_yield reduce(half);
  }
}

Schedule reduce_scatter_block_recursive_halving(const HostCall& call, int rank, Tuning tuning)
{
  return call.commutative ? reduce_scatter_recursive_halving(call, rank, tuning)
                          : reduce_scatter_block_linear(call, rank, tuning);
}

Schedule reduce_scatter_recursive_doubling(const HostCall& call, int rank, Tuning /*tuning*/)
{
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const int other    = flip_bit(rank, bit);
    const auto all_but = [&](int subtree) { // all blocks except those for the ranks of that subtree
      return call.bytes(for_ranks(call, 0, subtree) + for_ranks(call, std::min(call.ranks, subtree + bit), call.ranks));
    };
    const int own             = first_of(rank, bit);
    const int next_definition = first_of(other, bit);
    bool received             = false;
    if (other < call.ranks) {
      co_yield send_receive(other, all_but(own), other, all_but(next_definition));
      received = true;
    }
    // If the opposite subtree is incomplete, the ranks that have received its sum forward it within their own subtree.
    if (next_definition + bit > call.ranks)
      for (int half = bit / 2; half > 0; half /= 2) {
        const int next = flip_bit(rank, half);
        const int end  = first_of(rank, 2 * half) + call.ranks - own - bit;
        if (next > rank && rank < end && next >= end) {
          co_yield send(next, all_but(next_definition));
        } else if (next < rank && next < end && rank >= end) {
          co_yield recv(next, all_but(next_definition));
          received = true;
        }
      }
    if (received)
      co_yield reduce(all_but(next_definition));
  }
}

} // namespace weft
