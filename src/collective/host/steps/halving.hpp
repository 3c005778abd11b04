// SPDX-License-Identifier: LGPL-2.1-only
/* Rabenseifner's way to sum up vectors: halves are exchanged and combined, again and again, until each rank has a piece
 * of the sum. R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005, section 4.4. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <vector>

namespace weft {

/** Ranks that are reduced to a power of two of places, by pairs of the first ones of which the second takes a rest. */
struct Folded {
  int places; ///< the largest power of two that is not more than the ranks
  int pairs;

  explicit Folded(int ranks);
  int place(int rank) const; ///< -1 where it takes a rest
  int rank(int place) const { return place < pairs ? 2 * place : place + pairs; }
};

/** Whether there is an element for each place to end with, and elements may be combined in any order. */
bool can_be_halved(const HostCall& call);

/** Each pair's first rank ends with the pair's sum: they exchange halves, combine them, and the second hands its own
 *  over. */
Schedule fold_halves(const HostCall& call, Folded folded, int rank);

/** How many elements the rank at @p place is left with before the first round of halving, after it, after the next … */
std::vector<Elements> halved_windows(Elements count, int place, int places);

/** Round for round, ranks whose places differ in the next bit exchange halves of what they have and combine them. */
Schedule scatter_reduce_halves(const HostCall& call, Folded folded, int place);

} // namespace weft
