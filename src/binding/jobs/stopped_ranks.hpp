// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks of a failed job, while other jobs continue.
 *
 * They are not killed: unwinding a rank's stack would run the program's destructors, and messages in flight still refer
 * to its memory. They are suspended permanently, and keep their memory until the process ends. */
#pragma once

#include "binding/jobs/jobs.hpp"

namespace weft {

/** Suspends the ranks of a job permanently; the current rank continues until stay_stopped(). */
void stop_ranks(const Job& job);

/** Yields forever, on whichever of its threads the current rank, suspended by stop_ranks(), runs. */
[[noreturn]] void stay_stopped();

} // namespace weft
