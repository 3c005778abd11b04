// SPDX-License-Identifier: LGPL-2.1-only
/* Loops in which a simulated thread looks at a variable until another thread of its rank changes it, without any call.
 *
 * One thread of the simulation runs at a time, so such a loop would never end. While a thread runs for long, its
 * registers are sampled. If they take few values, it spins: it then sleeps, in simulated time, until another thread of
 * its rank has run. A loop that computes changes a register in each turn. */
#pragma once

#include <sys/types.h>

namespace weft {

/** Begins to look for spinning threads, which SimGrid's thread, the current one, may run. */
void watch_spins();

/** Notes which thread of the system runs the simulation from now on; 0 while the turn passes to another one. */
void note_runner(pid_t system_thread);

/** Wakes the spinning threads of the current rank: another one of it has run. */
void wake_spinning_threads();

} // namespace weft
