// SPDX-License-Identifier: LGPL-2.1-only
/* Loops in which a simulated thread reads a variable until another thread of its rank changes it, without any call.
 *
 * One thread of the simulation runs at a time, so such a loop would never end. While a thread runs for long, its
 * registers are sampled. If they take few values, the thread spins: it then sleeps, in simulated time, until another
 * thread of its rank has run. A loop that computes changes a register in each iteration. */
#pragma once

#include <sys/types.h>

namespace weft {

/** Starts looking for spinning threads. Called on SimGrid's thread. */
void watch_spins();

/** Records the thread of the system that runs the simulation; 0 while the turn passes to another thread. */
void note_runner(pid_t system_thread);

/** Wakes the spinning threads of the current rank after another of its threads has run. */
void wake_spinning_threads();

} // namespace weft
