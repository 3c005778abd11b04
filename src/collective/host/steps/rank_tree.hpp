// SPDX-License-Identifier: LGPL-2.1-only
/* The trees along which hosts broadcast and reduce: where one rank stands in them.
 *
 * The shapes are those of Open MPI (ompi/mca/coll/base/coll_base_topo.c, versions 4.1 and 5.0), which the order of
 * children is part of: messages leave in that order. */
#pragma once

#include <vector>

namespace weft {

struct RankTree {
  int parent = -1; ///< -1: this rank is the root
  std::vector<int> children;
};

/** Ranks are numbered by levels from @p root on; every vertex has up to @p fan_out children. */
RankTree balanced_tree(int fan_out, int ranks, int rank, int root);
/** As many chains as @p chains leave the root, of equal length but for one rank. */
RankTree chains(int chains, int ranks, int rank, int root);
/** A rank's parent lacks its highest bit; the root's first child is the next rank. */
RankTree binomial_tree(int ranks, int rank, int root);
/** A rank's parent lacks its lowest bit, so that each subtree is a row of ranks. */
RankTree in_order_binomial_tree(int ranks, int rank, int root);
/** As in_order_binomial_tree() with digits of base @p radix; children from the largest subtree down. */
RankTree knomial_tree(int radix, int ranks, int rank, int root);
/** A binary tree whose root is the last rank and whose subtrees are rows of ranks before it, for operations that do not
 *  commute: the first child's ranks come after the second's. */
RankTree in_order_binary_tree(int ranks, int rank);

} // namespace weft
