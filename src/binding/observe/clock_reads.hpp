// SPDX-License-Identifier: LGPL-2.1-only
/* A note for programs that wait for a clock that stands still.
 *
 * While computation takes no simulated time, the clock moves in calls of MPI alone. A program that computes until some
 * time has passed, or that measures one step to choose how many it takes, may then never end. */
#pragma once

#include <simgrid/forward.h>

namespace weft {

/** One read of the clock by the current rank, which SMPI answers during its lifetime. */
class ClockRead {
  aid_t rank_;

public:
  ClockRead();
  ClockRead(const ClockRead&)            = delete;
  ClockRead& operator=(const ClockRead&) = delete;
  ~ClockRead();
};

/** PMPI_Wtime by way of @p theirs, SMPI's. */
double watched_Wtime(double (*next_definition)()); // NOLINT(readability-identifier-naming): MPI's name

} // namespace weft
