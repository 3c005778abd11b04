// SPDX-License-Identifier: LGPL-2.1-only
/* What a rank has asked for to be called at its end: by atexit, and by the static variables of C++.
 *
 * In a process of its own that happens at exit() or after main(), in reverse order; MPI may be called there, and
 * MPI_Finalize is by some. So it is kept for the rank where its own copy of the program asks, or one of its own copies
 * of libraries; and what atexit() gets from a program that ranks share, too. All else belongs to the process.
 */
#pragma once

namespace weft {

/** Call them, as the current rank ends. */
void run_exit_handlers();

} // namespace weft
