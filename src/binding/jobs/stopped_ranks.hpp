// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks of a job that has failed, while other jobs continue.
 *
 * They are not killed: unwinding a rank's stack would run the program's destructors, and messages in
 * flight still refer to its memory. They are suspended for good, and keep their memory until the
 * process ends. */
#pragma once

#include "binding/jobs/jobs.hpp"

namespace weft {

/** Suspends the ranks of a job for good; the current rank continues until stay_stopped(). */
void stop_ranks(const Job& job);

/** Lets others run for good, on whichever of its threads the current rank, which stop_ranks() has suspended, runs. */
[[noreturn]] void stay_stopped();

} // namespace weft
