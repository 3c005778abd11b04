// SPDX-License-Identifier: LGPL-2.1-only
/* Warning about programs that wait for a clock that does not advance.
 *
 * If computation takes no simulated time, the clock advances only in MPI calls. A program that computes until some time
 * has passed, or that times one step to choose the number of steps, may then never end.
 */
#pragma once

#include <simgrid/forward.h>

namespace weft {

/** Clock read by the current rank, which SMPI answers during this object's lifetime. */
class ClockRead {
  aid_t rank_;

public:
  ClockRead();
  ClockRead(const ClockRead&)            = delete;
  ClockRead& operator=(const ClockRead&) = delete;
  ~ClockRead();
};

/** Calls @p next_definition, SMPI's PMPI_Wtime, as a watched read. */
double watched_Wtime(double (*next_definition)()); // NOLINT(readability-identifier-naming): MPI's name

} // namespace weft
