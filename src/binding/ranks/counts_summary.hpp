// SPDX-License-Identifier: LGPL-2.1-only
/* Summary of the counts that a rank passes, one per rank. Ranks mostly pass equal arrays: the previous rank's array is
 * kept, and a comparison takes a fraction of the time of a sum. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>

namespace weft {

struct CountsSummary {
  std::int64_t sum;
  int least;
  std::uint64_t number; ///< at least 1; equal numbers mean equal arrays, and equal arrays mostly share a number
};

/** Returns the summary of an array with one count for each rank of @p comm. */
CountsSummary summarize_counts(const int* counts, MPI_Comm comm);

/** Scope in which the current rank's latest summary is reused without comparing the array again, while MPI forbids
 * changing the counts. */
class CountsHeld {
public:
  CountsHeld();
  CountsHeld(const CountsHeld&)            = delete;
  CountsHeld& operator=(const CountsHeld&) = delete;
  ~CountsHeld();
};

} // namespace weft
