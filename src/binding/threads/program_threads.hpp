// SPDX-License-Identifier: LGPL-2.1-only
/* MPI calls from threads that the program has created: pthreads, std::thread, OpenMP's.
 *
 * All ranks run on SimGrid's thread, one at a time. While a rank's own code runs there, its other
 * threads run beside it, and one of them may call MPI. It does so as the rank, until the call has to
 * wait. Then SimGrid's thread, interrupted by a signal, leaves the rank and runs the others; once
 * the call can continue, it resumes the rank where it was interrupted, and the other thread continues,
 * too. No simulated time passes for the rank but in MPI calls, so its thread loses nothing by that.
 *
 * The signal interrupts the rank only in its own code, in OpenMP's, or while it is blocked in the
 * system, since it must not hold a lock of the C library, or SimGrid's. It is sent again until then.
 *
 * One thread of a rank calls MPI at a time; the others wait for the end of its call. That is what
 * MPI_THREAD_SERIALIZED promises. */
#pragma once

#include <cstddef>
#include <functional>
#include <simgrid/forward.h>

namespace weft {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): read at each MPI call
extern constinit bool threads_may_call; ///< whether allow_threads() has been called

/** Lets the program's other threads call MPI. Returns false where that cannot be: on processors other
 * than x86-64, and if ranks are threads themselves. */
bool allow_threads();

/** Returns the level that a program gets that asks for @p required, and allows threads if it needs them. */
int provide_threads(int required);

/** Returns whether the current thread is not SimGrid's, on which main runs. */
bool is_other_thread();

/** Returns the host of the rank that the current thread works for, without becoming the rank; null if unknown. */
simgrid::s4u::Host* host_of_thread();

/** Begins an MPI call of the current thread once no other thread of the rank is in one; a thread that
 * is not SimGrid's becomes the rank. Returns false if the thread is in a call already. */
bool begin_call();
void end_call();

/** Runs @p leave, which ends the current rank and does not return, on SimGrid's thread, where the rank's own code ends.
 * The current thread, another one of the rank, waits for the end of the process. */
[[noreturn]] void leave_on_simgrids_thread(std::function<void()> leave);

/** Returns how many threads wait for another one of their rank to leave MPI; waits up to a second until all that ranks
 * have created do. */
std::size_t waiting_threads();

} // namespace weft
