// SPDX-License-Identifier: LGPL-2.1-only
/* Several schedules of one rank at once: while one of them waits, the rank goes on with the others, as a library does
 * whose non-blocking collectives make progress while it waits in another one (libnbc within HAN). */
#pragma once

#include "collective/host/engine/schedule.hpp"

#include <vector>

namespace weft {

/** One of them. */
struct Strand {
  Schedule steps;
  int tag; ///< of its messages, by which those of the same strand match at both ranks
};

/** All @p strands to their ends. Where several can go on, the first one does. The core does one thing at a time. */
Schedule together(std::vector<Strand> strands);

} // namespace weft
