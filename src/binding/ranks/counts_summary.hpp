// SPDX-License-Identifier: LGPL-2.1-only
/* Summary of the counts that a rank passes, one for each rank. Mostly all ranks pass the same: those of the rank before
 * are kept, and to compare with them takes a fraction of adding them up. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>

namespace weft {

struct CountsSummary {
  std::int64_t sum;
  int least;
  std::uint64_t number; ///< from 1 on: those with the same are equal, and mostly equal ones have the same
};

/** Returns the summary of an array with as many counts as @p comm has ranks. */
CountsSummary summarize_counts(const int* counts, MPI_Comm comm);

/** While this lives, what the current rank has asked for last is known without another look: for as long as MPI lets
 * nobody change the counts. */
class CountsHeld {
public:
  CountsHeld();
  CountsHeld(const CountsHeld&)            = delete;
  CountsHeld& operator=(const CountsHeld&) = delete;
  ~CountsHeld();
};

} // namespace weft
