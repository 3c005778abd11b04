// SPDX-License-Identifier: LGPL-2.1-only
/* Trees along which hosts broadcast and reduce: the position of one rank.
 *
 * The shapes follow Open MPI (ompi/mca/coll/base/coll_base_topo.c, versions 4.1 and 5.0), including the order of
 * children, in which messages are sent. */
#pragma once

#include <vector>

namespace weft {

struct RankTree {
  int parent = -1; ///< -1: this rank is the root
  std::vector<int> children;
};

/** Tree filled level by level from @p root, with up to @p fan_out children per vertex. */
RankTree balanced_tree(int fan_out, int ranks, int rank, int root);
/** @p chains chains that start at the root; their lengths differ by at most one rank. */
RankTree chains(int chains, int ranks, int rank, int root);
/** Binomial tree in which the parent clears a rank's highest bit; the root's first child is the next
 * rank. */
RankTree binomial_tree(int ranks, int rank, int root);
/** Binomial tree in which the parent clears a rank's lowest bit, so that each subtree is a
 * contiguous range of ranks. */
RankTree in_order_binomial_tree(int ranks, int rank, int root);
/** Generalization of in_order_binomial_tree() to digits of base @p radix; children are ordered from the largest subtree
 * down. */
RankTree knomial_tree(int radix, int ranks, int rank, int root);
/** Binary tree for non-commutative operations: the root is the last rank, subtrees are contiguous ranges of ranks
 * before it, and the first child's range follows the second's. */
RankTree in_order_binary_tree(int ranks, int rank);

} // namespace weft
