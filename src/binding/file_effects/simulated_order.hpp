// SPDX-License-Identifier: LGPL-2.1-only
/* Order of the effects that ranks have outside of MPI: that of simulated time.
 *
 * Ranks take turns, and a turn lasts until the rank's next MPI call. With --host-speed, a rank's computation in its
 * turn is converted to simulated time before the rank acts, so that ranks whose clocks are behind act first. Ranks that
 * act at the same instant, as all do without --host-speed at the start of a program, open their files before any of
 * them continues. */
#pragma once

namespace weft {

/** Returns whether @p caller is code of the program, or of a library that it calls, on the thread of a rank. */
bool is_rank(const void* caller);

/** Returns whether @p caller is code of the program, on the thread of a rank between MPI_Init and MPI_Finalize, that
 * may let other ranks run: libgfortran's statements and callbacks of MPI may not. */
bool acts_in_order(const void* caller);

/** Lets ranks whose clocks are behind act first, if acts_in_order(). */
void come_in_order(const void* caller);

/** Resumes the current rank once all other ranks have acted at this instant, if acts_in_order(). */
void await_others_of_instant(const void* caller);

} // namespace weft
