// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/reduce.hpp"

#include "collective/host/steps/halving.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <vector>

namespace weft {

Schedule reduce_along(const HostCall& call, RankTree tree, Bytes segment)
{
  const Segments segments = Segments::of(call, call.count, segment);
  if (tree.children.empty()) {
    for (Elements index = 0; index < segments.number(); ++index)
      co_yield send(tree.parent, call.bytes(segments.at(index)));
    co_return;
  }
  // One receive is posted ahead: from the next child, or from the first child for the next segment.
  Request coming   = -1;
  Bytes coming_has = {};
  for (Elements index = 0; index <= segments.number(); ++index)
    for (std::size_t child = 0; child < tree.children.size(); ++child) {
      Request next = -1;
      Bytes next_has;
      if (index < segments.number()) {
        next_has = call.bytes(segments.at(index));
        next     = co_yield irecv(tree.children[child], next_has);
      }
      if (coming >= 0) {
        co_yield wait(coming);
        co_yield reduce(coming_has);
      }
      if (child == 0 && index > 0 && tree.parent >= 0)
        co_yield send(tree.parent, call.bytes(segments.at(index - 1)));
      coming     = next;
      coming_has = next_has;
      if (index == segments.number())
        break;
    }
}

Schedule reduce_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  if (rank != call.root) {
    co_yield send(call.root, vector);
    co_return;
  }
  for (int other = call.ranks - 1; other >= 0; --other) {
    if (other != rank)
      co_yield recv(other, vector);
    if (other < call.ranks - 1)
      co_yield reduce(vector);
  }
}

Schedule reduce_chain(const HostCall& call, int rank, Tuning tuning)
{
  return reduce_along(call, chains(tuning.fan_out, call.ranks, rank, call.root), tuning.segment);
}

Schedule reduce_pipeline(const HostCall& call, int rank, Tuning tuning)
{
  return reduce_along(call, chains(1, call.ranks, rank, call.root), tuning.segment);
}

Schedule reduce_binary(const HostCall& call, int rank, Tuning tuning)
{
  return reduce_along(call, balanced_tree(2, call.ranks, rank, call.root), tuning.segment);
}

Schedule reduce_binomial(const HostCall& call, int rank, Tuning tuning)
{
  return reduce_along(call, in_order_binomial_tree(call.ranks, rank, call.root), tuning.segment);
}

Schedule reduce_in_order_binary(const HostCall& call, int rank, Tuning tuning)
{
  const int top = call.ranks - 1; // the only root that this tree supports
  co_yield reduce_along(call, in_order_binary_tree(call.ranks, rank), tuning.segment);
  if (call.root == top)
    co_return;
  if (rank == top)
    co_yield send(call.root, call.bytes(call.count));
  else if (rank == call.root)
    co_yield recv(top, call.bytes(call.count));
}

Schedule reduce_rabenseifner(const HostCall& call, int rank, Tuning tuning)
{
  if (not can_be_halved(call)) {
    co_yield reduce_linear(call, rank, tuning);
    co_return;
  }
  const Folded folded(call.ranks);
  co_yield fold_halves(call, folded, rank);
  int place = folded.place(rank);
  if (place >= 0)
    co_yield scatter_reduce_halves(call, folded, place);
  // The root takes part in the gather: if its position is idle, it takes the position of rank 0.
  int root_place = folded.place(call.root);
  if (root_place < 0) {
    const std::vector<Elements> windows = halved_windows(call.count, 0, folded.places);
    if (rank == call.root) {
      co_yield recv(0, call.bytes(windows.back()));
      place = 0;
    } else if (place == 0) {
      co_yield send(call.root, call.bytes(windows.back()));
      place = -1;
    }
    root_place = 0;
  }
  if (place < 0)
    co_return;
  const std::vector<Elements> windows = halved_windows(call.count, place, folded.places);
  std::size_t round                   = windows.size() - 1;
  for (int bit = folded.places / 2; bit > 0; bit /= 2, --round) {
    const int other    = flip_bit(place, bit);
    const int peer     = root_place == 0 && other == 0 && folded.place(call.root) < 0 ? call.root : folded.rank(other);
    const Elements own = windows[round];
    // The ranks of the half without the root send all their blocks.
    const bool with_root = has(place, bit) == has(root_place, bit);
    if (with_root) {
      co_yield recv(peer, call.bytes(windows[round - 1] - own));
    } else {
      co_yield send(peer, call.bytes(own));
      co_return;
    }
  }
}

Schedule reduce_basic_log(const HostCall& call, int rank, Tuning tuning)
{
  if (not call.commutative) {
    co_yield reduce_linear(call, rank, tuning);
    co_return;
  }
  const Bytes vector  = call.bytes(call.count);
  const RankTree tree = in_order_binomial_tree(call.ranks, rank, call.root);
  for (const int child : tree.children) {
    co_yield recv(child, vector);
    co_yield reduce(vector);
  }
  if (tree.parent >= 0)
    co_yield send(tree.parent, vector);
}

} // namespace weft
