// SPDX-License-Identifier: LGPL-2.1-only
/* Rabenseifner's reduce-scatter by recursive halving: ranks exchange and combine halves of their
 * vectors until each has a piece of the sum. R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High
 * Perform. Comput. Appl. 19(1), 2005, section 4.4. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <vector>

namespace weft {

/** Ranks folded to a power of two: the first ones form pairs whose second rank is idle. */
struct Folded {
  int places; ///< the largest power of two that is at most the number of ranks
  int pairs;

  explicit Folded(int ranks);
  int place(int rank) const; ///< -1 if the rank is idle
  int rank(int place) const { return place < pairs ? 2 * place : place + pairs; }
};

/** Returns whether there is at least one element per position, and elements may be combined in any order. */
bool can_be_halved(const HostCall& call);

/** Sums up each pair at its first rank: the two ranks exchange halves and combine them, and the second sends its half
 * to the first. */
Schedule fold_halves(const HostCall& call, Folded folded, int rank);

/** Returns the number of elements that the rank at @p place holds before the first round of halving and after each
 * round. */
std::vector<Elements> halved_windows(Elements count, int place, int places);

/** In each round, ranks whose positions differ in the next bit exchange halves of their elements and combine them. */
Schedule scatter_reduce_halves(const HostCall& call, Folded folded, int place);

} // namespace weft
