// SPDX-License-Identifier: LGPL-2.1-only
/* Concurrent schedules of one rank: while one schedule waits, the rank executes the others, like a library whose
 * non-blocking collectives progress while it waits in another one (libnbc within HAN). */
#pragma once

#include "collective/host/engine/schedule.hpp"

#include <vector>

namespace weft {

/** One of the concurrent schedules. */
struct ConcurrentSchedule {
  Schedule steps;
  int tag; ///< tag of its messages, except messages with a tag of at least TAGS: only messages with equal tags match
};

/** Executes all @p strands to completion. If several can proceed, the first one does; the core executes one step at a
 * time. */
Schedule together(std::vector<ConcurrentSchedule> strands);

} // namespace weft
