// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/bcast.hpp"

#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace weft {

Schedule bcast_along(const HostCall& call, RankTree tree, Bytes segment)
{
  const Segments segments = Segments::of(call, call.count, segment);
  Request coming          = -1; // receive of the second-newest segment
  std::vector<Request> sends;
  for (Elements index = 0; index <= segments.number(); ++index) {
    Request newest = -1;
    if (tree.parent >= 0 && index < segments.number())
      newest = co_yield irecv(tree.parent, call.bytes(segments.at(index)));
    // The root has all segments; other ranks forward a segment once the next receive is posted.
    const Elements forwarded = tree.parent >= 0 ? index - 1 : index;
    if (forwarded >= 0 && forwarded < segments.number()) {
      if (coming >= 0)
        co_yield wait(coming);
      sends.clear();
      for (const int child : tree.children)
        sends.push_back(co_yield isend(child, call.bytes(segments.at(forwarded))));
      for (const Request sent : sends)
        co_yield wait(sent);
    }
    coming = newest;
  }
}

Schedule bcast_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    co_yield recv(call.root, call.bytes(call.count));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank)
      co_yield isend(other, call.bytes(call.count));
  co_yield wait_all();
}

Schedule bcast_chain(const HostCall& call, int rank, Tuning tuning)
{
  return bcast_along(call, chains(tuning.fan_out, call.ranks, rank, call.root), tuning.segment);
}

Schedule bcast_pipeline(const HostCall& call, int rank, Tuning tuning)
{
  return bcast_along(call, chains(1, call.ranks, rank, call.root), tuning.segment);
}

Schedule bcast_binary_tree(const HostCall& call, int rank, Tuning tuning)
{
  return bcast_along(call, balanced_tree(2, call.ranks, rank, call.root), tuning.segment);
}

Schedule bcast_binomial(const HostCall& call, int rank, Tuning tuning)
{
  return bcast_along(call, binomial_tree(call.ranks, rank, call.root), tuning.segment);
}

Schedule bcast_knomial(const HostCall& call, int rank, Tuning tuning)
{
  constexpr int RADIX = 4; // coll_tuned_bcast_knomial_radix
  return bcast_along(call, knomial_tree(tuning.fan_out > 1 ? tuning.fan_out : RADIX, call.ranks, rank, call.root),
                     tuning.segment);
}

bool bcast_is_split(const HostCall& call, Bytes segment)
{
  const Elements shorter = call.count / 2;
  return shorter > 0 && segment <= call.bytes(shorter);
}

Schedule bcast_split_binary_tree(const HostCall& call, int rank, Tuning tuning)
{
  const std::array<Elements, 2> halves{(call.count + 1) / 2, call.count / 2};
  if (not bcast_is_split(call, tuning.segment)) {
    co_yield bcast_pipeline(call, rank, tuning);
    co_return;
  }
  const RankTree tree = balanced_tree(2, call.ranks, rank, call.root);
  const int place     = (rank - call.root + call.ranks) % call.ranks;
  const std::array<Segments, 2> segments{Segments::of(call, halves[0], tuning.segment),
                                         Segments::of(call, halves[1], tuning.segment)};
  const auto side      = static_cast<std::size_t>((place + 1) % 2); // ranks at odd positions get the first half
  const Segments& mine = segments[side];
  if (place == 0) {
    for (Elements index = 0; index < segments[0].number(); ++index)
      for (std::size_t child = 0; child < tree.children.size(); ++child)
        if (index < segments[child].number())
          co_yield send(tree.children[child], call.bytes(segments[child].at(index)));
  } else {
    Request coming = co_yield irecv(tree.parent, call.bytes(mine.at(0)));
    for (Elements index = 1; index <= mine.number(); ++index) {
      Request next = -1;
      if (index < mine.number())
        next = co_yield irecv(tree.parent, call.bytes(mine.at(index)));
      co_yield wait(coming);
      for (const int child : tree.children)
        co_yield send(child, call.bytes(mine.at(index - 1)));
      coming = next;
    }
  }
  // Neighbours exchange halves; if the number of ranks is even, the last one exchanges with the root.
  const int last = (call.root + call.ranks - 1) % call.ranks;
  if (call.ranks % 2 == 0 && place == 0) {
    co_yield send(last, call.bytes(halves[1]));
  } else if (call.ranks % 2 == 0 && rank == last) {
    co_yield recv(call.root, call.bytes(halves[1]));
  } else if (place != 0) {
    const int pair           = (rank + (side == 0 ? 1 : call.ranks - 1)) % call.ranks;
    const Request other_half = co_yield irecv(pair, call.bytes(halves[1 - side]));
    co_yield send(pair, call.bytes(halves[side]));
    co_yield wait(other_half);
  }
}

namespace {

/** Blocks of equal length, of which the last may be shorter or empty, as in MPICH's scatter. */
struct Scattered {
  Elements count;
  Elements length;
  /** Returns the number of elements in blocks [first, first + blocks). */
  Elements of(int first, int blocks) const
  {
    const Elements begin = std::min(count, first * length);
    return std::min(count, (first + static_cast<Elements>(blocks)) * length) - begin;
  }
};

Schedule scatter_for_bcast(const HostCall& call, int place, Scattered blocks)
{
  const auto rank_at = [&](int at) { return (at + call.root) % call.ranks; };
  int bit            = 1;
  for (; bit < call.ranks; bit *= 2)
    if (has(place, bit)) {
      const Elements mine = blocks.of(place, bit);
      if (mine > 0)
        co_yield recv(rank_at(place - bit), call.bytes(mine));
      break;
    }
  for (bit /= 2; bit > 0; bit /= 2)
    if (place + bit < call.ranks) {
      const Elements next_definition = blocks.of(place + bit, bit);
      if (next_definition > 0)
        co_yield send(rank_at(place + bit), call.bytes(next_definition));
    }
}

Scattered scattered(const HostCall& call)
{
  return {call.count, (call.count + call.ranks - 1) / call.ranks};
}

} // namespace

Schedule bcast_scatter_allgather(const HostCall& call, int rank, Tuning tuning)
{
  if (not has_one_for_each(call)) {
    co_yield bcast_linear(call, rank, tuning);
    co_return;
  }
  const Scattered blocks = scattered(call);
  const int place        = (rank - call.root + call.ranks) % call.ranks;
  co_yield scatter_for_bcast(call, place, blocks);
  const auto rank_at = [&](int at) { return (at + call.root) % call.ranks; };
  const auto have    = [&](int at, int bit) { // blocks that the rank at a position holds before that round
    const int first = first_of(at, bit);
    return blocks.of(first, std::min(bit, call.ranks - first));
  };
  for (int bit = 1; bit < call.ranks; bit *= 2) {
    const int other = flip_bit(place, bit);
    if (other < call.ranks) {
      const Request next_definition = co_yield irecv(rank_at(other), call.bytes(have(other, bit)));
      co_yield send(rank_at(other), call.bytes(have(place, bit)));
      co_yield wait(next_definition);
    }
    // If the opposite subtree is incomplete, the ranks that have received its blocks forward them within their own
    // subtree.
    const int subtree = first_of(other, bit);
    if (subtree + bit <= call.ranks)
      continue;
    const int with_data = call.ranks - subtree; // ranks of this subtree that had a partner
    const Bytes part    = call.bytes(blocks.of(subtree, std::max(0, with_data)));
    for (int half = bit / 2; half > 0; half /= 2) {
      const int next = flip_bit(place, half);
      const int end  = first_of(place, 2 * half) + with_data;
      if (next > place && place < end && next >= end)
        co_yield send(rank_at(next), part);
      else if (next < place && next < end && place >= end)
        co_yield recv(rank_at(next), part);
    }
  }
}

Schedule bcast_scatter_allgather_ring(const HostCall& call, int rank, Tuning tuning)
{
  if (not has_one_for_each(call)) {
    co_yield bcast_linear(call, rank, tuning);
    co_return;
  }
  const Scattered blocks = scattered(call);
  const int place        = (rank - call.root + call.ranks) % call.ranks;
  co_yield scatter_for_bcast(call, place, blocks);
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 1; round < call.ranks; ++round) {
    const int sent      = (place + call.ranks - round + 1) % call.ranks;
    const int got       = (place + call.ranks - round) % call.ranks;
    const Request piece = co_yield irecv(left, call.bytes(blocks.of(got, 1)));
    co_yield send(right, call.bytes(blocks.of(sent, 1)));
    co_yield wait(piece);
  }
}

} // namespace weft
