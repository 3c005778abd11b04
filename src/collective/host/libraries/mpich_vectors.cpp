// SPDX-License-Identifier: LGPL-2.1-only
/* MPICH's Bcast, Reduce, Allreduce and Reduce_scatter. */
#include "collective/host/algorithms/reduce_scatter.hpp"
#include "collective/host/libraries/mpich.hpp"
#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/rank_bits.hpp"
#include "collective/host/steps/rank_tree.hpp"

#include <algorithm>

namespace weft::mpich {
namespace {

// ---- Bcast: the vector in equal pieces, one per rank relative to the root ----

struct Pieces {
  Elements all; // in bytes: MPICH splits between bytes
  Elements piece;

  explicit Pieces(const HostCall& call)
      : all(static_cast<Elements>(call.bytes(call.count).value())), piece((all + call.ranks - 1) / call.ranks)
  {
  }
  /** Returns the bytes of pieces [first, first + places): the last ones may be shorter, or empty. */
  Bytes at(int first, int places) const
  {
    const Elements begin = std::min(all, first * piece);
    return Bytes(static_cast<double>(std::min(all, (first + places) * piece) - begin));
  }
};

int place_of(const HostCall& call, int rank)
{
  return (rank - call.root + call.ranks) % call.ranks;
}

int rank_at(const HostCall& call, int place)
{
  return (place + call.root) % call.ranks;
}

/** Returns the bytes that the rank at @p place receives in the scatter from the rank @p bit positions before it: the
 * pieces of its subtree. In a non-blocking call, a forwarding rank attributes all received bytes to the positions after
 * its own, and sends too much to its first receiver. */
Bytes scattered(const HostCall& call, const Pieces& pieces, int place, int bit)
{
  const int sender    = place - bit;
  const bool is_first = has(sender, 2 * bit) || place + bit >= call.ranks; // the sender's first receiver
  if (call.blocking || sender == 0 || not is_first)
    return pieces.at(place, bit);
  return pieces.at(place, call.ranks - place);
}

/** Executes the scatter; in non-blocking calls the sends are not waited for. */
Schedule scatter_pieces(const HostCall& call, int rank)
{
  const Pieces pieces(call);
  const int place = place_of(call, rank);
  int bit         = 1;
  while (bit < call.ranks && not has(place, bit))
    bit *= 2;
  if (place > 0 && pieces.at(place, bit) > Bytes())
    co_yield recv(rank_at(call, place - bit), scattered(call, pieces, place, bit));
  for (bit /= 2; bit > 0; bit /= 2) {
    if (place + bit >= call.ranks || pieces.at(place + bit, bit) == Bytes())
      continue;
    const Bytes message = scattered(call, pieces, place + bit, bit);
    const int to        = rank_at(call, place + bit);
    co_yield call.blocking ? send(to, message) : isend(to, message);
  }
}

/** Exchanges one message in each direction; non-blocking calls also wait for all previously posted messages. */
Schedule exchange(const HostCall& call, int to, Bytes sent, int from, Bytes received)
{
  if (call.blocking) {
    co_yield send_receive(to, sent, from, received);
    co_return;
  }
  co_yield isend(to, sent);
  co_yield irecv(from, received);
  co_yield wait_all();
}

} // namespace

Schedule bcast_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  if (call.blocking && vector == Bytes())
    co_return;
  const RankTree tree = knomial_tree(2, call.ranks, rank, call.root);
  if (tree.parent >= 0)
    co_yield recv(tree.parent, vector);
  for (const int child : tree.children)
    co_yield call.blocking ? send(child, vector) : isend(child, vector);
  co_yield wait_all();
}

Schedule bcast_scatter_recursive_doubling_allgather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Pieces pieces(call);
  if (call.blocking && pieces.all == 0)
    co_return;
  co_yield scatter_pieces(call, rank);
  const int place = place_of(call, rank);
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const int other           = flip_bit(place, bit);
    const int own             = first_of(place, bit);
    const int next_definition = first_of(other, bit);
    const Bytes coming        = pieces.at(next_definition, bit);
    if (other < call.ranks)
      co_yield exchange(call, rank_at(call, other), pieces.at(own, bit), rank_at(call, other), coming);
    // If the opposite subtree is incomplete, the ranks that have received its pieces forward them within their own
    // subtree.
    if (next_definition + bit > call.ranks)
      for (int half = bit / 2; half > 0; half /= 2) {
        const int next = flip_bit(place, half);
        const int end  = first_of(place, 2 * half) + call.ranks - own - bit;
        if (next > place && place < end && next >= end)
          co_yield send(rank_at(call, next), coming);
        else if (next < place && next < end && place >= end)
          co_yield recv(rank_at(call, next), coming);
      }
  }
}

Schedule bcast_scatter_ring_allgather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Pieces pieces(call);
  if (call.blocking && pieces.all == 0)
    co_return;
  co_yield scatter_pieces(call, rank);
  const int place = place_of(call, rank);
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 0; round < call.ranks - 1; ++round) {
    const int sent = (place - round + call.ranks) % call.ranks;
    co_yield exchange(call, right, pieces.at(sent, 1), left, pieces.at((sent + call.ranks - 1) % call.ranks, 1));
  }
}

Schedule reduce_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector  = call.bytes(call.count);
  const int top       = call.commutative ? call.root : 0;
  const RankTree tree = in_order_binomial_tree(call.ranks, rank, top);
  for (const int child : tree.children) {
    co_yield recv(child, vector);
    co_yield reduce(vector);
  }
  if (tree.parent >= 0)
    co_yield send(tree.parent, vector);
  if (call.root == top)
    co_return;
  if (rank == top)
    co_yield send(call.root, vector);
  else if (rank == call.root)
    co_yield recv(top, vector);
}

namespace {

// ---- Reductions by halving: Rabenseifner's, but in blocks ----

/** Folding of the ranks to a power of two: the first ranks form pairs, in which one rank sends its vector to the other.
 * The remaining positions halve a vector of as many blocks. */
struct Halving {
  Elements count;
  int places;
  int pairs;
  bool odd_stays;
  bool rest_in_last; // true: the last block includes the remainder; false: the first blocks have one element more each

  Halving(const HostCall& call, bool odd)
      : count(call.count), places(power_of_two_below(call.ranks)), pairs(call.ranks - places), odd_stays(odd),
        rest_in_last(not call.blocking)
  {
  }
  /** Returns the rank's position; -1 if it is idle. */
  int place(int rank) const
  {
    if (rank >= 2 * pairs)
      return rank - pairs;
    return (rank % 2 != 0) == odd_stays ? rank / 2 : -1;
  }
  int rank(int place) const { return place < pairs ? 2 * place + (odd_stays ? 1 : 0) : place + pairs; }

  /** Returns the elements that @p place holds after the round in which it exchanged with the position that differs in
   * @p bit. */
  Elements kept(int place, int bit) const
  {
    const int blocks = places / (2 * bit);
    int first        = 0;
    for (int before = 1; before <= bit; before *= 2)
      if (has(place, before))
        first += places / (2 * before);
    return until(first + blocks) - until(first);
  }

private:
  Elements until(int block) const
  {
    if (rest_in_last)
      return block == places ? count : block * (count / places);
    return block * (count / places) + std::min<Elements>(block, count % places);
  }
};

Schedule fold(const HostCall& call, Halving halving, int rank)
{
  if (rank >= 2 * halving.pairs)
    co_return;
  const Bytes vector = call.bytes(call.count);
  const int other    = flip_bit(rank, 1);
  if (halving.place(rank) < 0) {
    co_yield send(other, vector);
  } else {
    co_yield recv(other, vector);
    co_yield reduce(vector);
  }
}

Schedule scatter_sums(const HostCall& call, Halving halving, int place)
{
  for (int bit = 1; bit < halving.places; bit *= 2) {
    const int other    = flip_bit(place, bit);
    const int peer     = halving.rank(other);
    const Bytes coming = call.bytes(halving.kept(place, bit));
    co_yield send_receive(peer, call.bytes(halving.kept(other, bit)), peer, coming);
    co_yield reduce(coming);
  }
}

} // namespace

Schedule allreduce_reduce_scatter_allgather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Halving halving(call, true);
  co_yield copy(call.bytes(call.count)); // into the receive buffer
  co_yield fold(call, halving, rank);
  const int place = halving.place(rank);
  if (place >= 0) {
    co_yield scatter_sums(call, halving, place);
    for (int bit = halving.places / 2; bit > 0; bit /= 2) {
      const int other = flip_bit(place, bit);
      const int peer  = halving.rank(other);
      co_yield send_receive(peer, call.bytes(halving.kept(place, bit)), peer, call.bytes(halving.kept(other, bit)));
    }
  }
  if (rank >= 2 * halving.pairs)
    co_return;
  if (place >= 0)
    co_yield send(rank - 1, call.bytes(call.count));
  else
    co_yield recv(rank + 1, call.bytes(call.count));
}

Schedule reduce_reduce_scatter_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Halving halving(call, false);
  co_yield fold(call, halving, rank);
  int place = halving.place(rank);
  if (place >= 0)
    co_yield scatter_sums(call, halving, place);
  // The root takes part in the gather: if its position is idle, it takes the position of rank 0.
  const bool swapped   = halving.place(call.root) < 0;
  const int root_place = swapped ? 0 : halving.place(call.root);
  if (swapped) {
    const Bytes first = call.bytes(halving.kept(0, halving.places / 2));
    if (rank == call.root) {
      co_yield recv(0, first);
      place = 0;
    } else if (place == 0) {
      co_yield send(call.root, first);
      place = -1;
    }
  }
  if (place < 0)
    co_return;
  for (int bit = halving.places / 2; bit > 0; bit /= 2) {
    const int other = flip_bit(place, bit);
    const int peer  = swapped && other == 0 ? call.root : halving.rank(other);
    // The ranks of the half without the root send all their blocks.
    if (has(place, bit) != has(root_place, bit)) {
      co_yield send(peer, call.bytes(halving.kept(place, bit)));
      co_return;
    }
    co_yield recv(peer, call.bytes(halving.kept(other, bit)));
  }
}

Schedule reduce_scatter_noncommutative(const HostCall& call, int rank, Tuning tuning)
{
  bool even = is_power_of_two(call.ranks);
  for (int other = 1; even && other < call.ranks; ++other)
    even = call.to(other) == call.to(0);
  return even ? reduce_scatter_block_butterfly(call, rank, tuning)
              : reduce_scatter_recursive_doubling(call, rank, tuning);
}

Schedule reduce_scatter_pairwise(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes own = call.bytes(call.to(rank));
  for (int distance = 1; distance < call.ranks; ++distance) {
    const int to   = (rank + distance) % call.ranks;
    const int from = (rank + call.ranks - distance) % call.ranks;
    co_yield send_receive(to, call.bytes(call.to(to)), from, own);
    co_yield reduce(own);
  }
}

} // namespace weft::mpich
