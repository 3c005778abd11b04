// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/rank_tree.hpp"

#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Converts a tree of ranks relative to the root into a tree of absolute ranks. */
RankTree counted_from(int root, int ranks, RankTree tree)
{
  const auto own = [&](int rank) { return (rank + root) % ranks; };
  if (tree.parent >= 0)
    tree.parent = own(tree.parent);
  std::ranges::transform(tree.children, tree.children.begin(), own);
  return tree;
}

int distance(int ranks, int rank, int root)
{
  return (rank - root + ranks) % ranks;
}

} // namespace

RankTree balanced_tree(int fan_out, int ranks, int rank, int root)
{
  const int place = distance(ranks, rank, root);
  int before      = 0; // ranks on the levels above
  int width       = 1; // width of this rank's level
  int above       = 1; // width of the level above
  while (before + width <= place) {
    before += width;
    above = width;
    width *= fan_out;
  }
  RankTree tree;
  if (place > 0)
    tree.parent = before - above + (place - before) % above;
  for (int child = 1; child <= fan_out && place + width * child < ranks; ++child)
    tree.children.push_back(place + width * child);
  return counted_from(root, ranks, std::move(tree));
}

RankTree chains(int chains, int ranks, int rank, int root)
{
  chains          = std::clamp(chains, 1, std::max(1, ranks - 1));
  const int place = distance(ranks, rank, root);
  // If the ranks do not divide evenly, the first chains are one rank longer.
  const int shorter = (ranks - 1) / chains;
  const int longer  = (ranks - 1) % chains;
  const auto head   = [&](int chain) { return 1 + chain * shorter + std::min(chain, longer); };
  RankTree tree;
  if (place == 0) {
    for (int chain = 0; chain < chains && head(chain) < ranks; ++chain)
      tree.children.push_back(head(chain));
  } else {
    int chain = 0;
    while (chain + 1 < chains && head(chain + 1) <= place)
      ++chain;
    tree.parent = place == head(chain) ? 0 : place - 1;
    if (place + 1 < (chain + 1 < chains ? head(chain + 1) : ranks))
      tree.children.push_back(place + 1);
  }
  return counted_from(root, ranks, std::move(tree));
}

RankTree binomial_tree(int ranks, int rank, int root)
{
  const int place = distance(ranks, rank, root);
  int bit         = 1;
  while (bit <= place)
    bit *= 2;
  RankTree tree;
  if (place > 0)
    tree.parent = place - bit / 2;
  for (; place + bit < ranks; bit *= 2)
    tree.children.push_back(place + bit);
  return counted_from(root, ranks, std::move(tree));
}

RankTree in_order_binomial_tree(int ranks, int rank, int root)
{
  const int place = distance(ranks, rank, root);
  RankTree tree;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if (has(place, bit)) {
      tree.parent = place - bit;
      break;
    }
    if (place + bit < ranks)
      tree.children.push_back(place + bit);
  }
  return counted_from(root, ranks, std::move(tree));
}

RankTree knomial_tree(int radix, int ranks, int rank, int root)
{
  const int place = distance(ranks, rank, root);
  RankTree tree;
  int digit = 1;
  for (; digit < ranks; digit *= radix)
    if (place % (radix * digit) != 0) {
      tree.parent = place - place % (radix * digit);
      break;
    }
  for (digit /= radix; digit > 0; digit /= radix)
    for (int child = 1; child < radix; ++child)
      if (place + digit * child < ranks)
        tree.children.push_back(place + digit * child);
  return counted_from(root, ranks, std::move(tree));
}

RankTree in_order_binary_tree(int ranks, int rank)
{
  int first = 0;     // first rank of the subtree
  int size  = ranks; // number of ranks in the subtree
  RankTree tree;
  for (;;) {
    const int top   = first + size - 1;
    const int right = size / 2; // ranks in the right subtree, which come first
    if (rank == top) {
      if (size > 1)
        tree.children.push_back(top - 1);
      if (size > 2)
        tree.children.push_back(first + right - 1);
      return tree;
    }
    tree.parent = top;
    if (size > 2 && rank < first + right) {
      size = right;
    } else {
      const int rest = size > 2 ? right : 0;
      first += rest;
      size -= rest + 1;
    }
  }
}

} // namespace weft
