// SPDX-License-Identifier: LGPL-2.1-only
/* Recursive doubling: who speaks with whom in which round of a barrier.
 *
 * In round k every rank exchanges a message with the one whose number differs in bit k; after log2(P) rounds all have
 * heard of all. Where P is no power of two, the ranks beyond the largest one first tell a partner and are told by it at
 * the end. R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, Int. J.
 * High Perform. Comput. Appl. 19(1), 2005, section 4.1.
 */
#pragma once

#include <vector>

namespace weft {

struct BarrierStep {
  int round    = 0; ///< the same at both ranks
  int peer     = 0;
  bool sends   = false;
  bool expects = false; ///< a message of the peer before the next step
};

/** What @p rank of @p ranks does, in order. */
std::vector<BarrierStep> recursive_doubling(int rank, int ranks);

} // namespace weft
