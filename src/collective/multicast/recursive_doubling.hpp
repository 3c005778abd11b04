// SPDX-License-Identifier: LGPL-2.1-only
/* Recursive doubling barrier.
 *
 * In round k every rank exchanges a message with the rank whose number differs in bit k; after log2(P) rounds each rank
 * has heard from all. If P is not a power of two, the ranks beyond the largest power first signal a partner, which
 * signals them at the end. R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.1.
 */
#pragma once

#include <vector>

namespace weft {

struct BarrierStep {
  int round    = 0; ///< the same at both ranks
  int peer     = 0;
  bool sends   = false;
  bool expects = false; ///< waits for a message of the peer before the next step
};

/** Returns the steps of @p rank of @p ranks, in order. */
std::vector<BarrierStep> recursive_doubling(int rank, int ranks);

} // namespace weft
