// SPDX-License-Identifier: LGPL-2.1-only
/* MPI calls from threads that the program has created: pthreads, std::thread, OpenMP's.
 *
 * All ranks run on SimGrid's thread, one at a time. While a rank's own code runs there, its other threads run
 * concurrently, and one of them may call MPI. It acts as the rank until the call must wait. Then SimGrid's thread,
 * interrupted by a signal, leaves the rank and runs other ranks; once the call can continue, it resumes the rank where
 * it was interrupted, and the calling thread continues too. Simulated time passes for the rank only in MPI calls, so
 * the interrupted thread loses none.
 *
 * The signal interrupts the rank only in its own code, in OpenMP's, or while it is blocked in the system, since it must
 * not hold a lock of the C library or of SimGrid. The signal is resent until then.
 *
 * One thread of a rank calls MPI at a time; other threads wait for the end of its call, as MPI_THREAD_SERIALIZED
 * requires. */
#pragma once

#include <cstddef>
#include <functional>
#include <simgrid/forward.h>

namespace weft {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): read at each MPI call
extern constinit bool threads_may_call; ///< true if allow_threads() has been called

/** Lets the program's other threads call MPI. Returns false where that is impossible: on processors other than x86-64,
 * and if ranks are threads themselves. */
bool allow_threads();

/** Returns the thread level provided to a program that requests @p required, and enables threads if needed. */
int provide_threads(int required);

/** Returns whether the current thread is not SimGrid's, on which main runs. */
bool is_other_thread();

/** Returns the host of the rank for which the current thread works, without acting as the rank; null if unknown. */
simgrid::s4u::Host* host_of_thread();

/** Begins an MPI call of the current thread once no other thread of the rank is in one; a thread other than SimGrid's
 * then acts as the rank. Returns false if the thread is already in a call. */
bool begin_call();
void end_call();

/** Runs @p leave, which ends the current rank and does not return, on SimGrid's thread, where the rank's own code ends.
 * The current thread, another thread of the rank, waits for the end of the process. */
[[noreturn]] void leave_on_simgrids_thread(std::function<void()> leave);

/** Returns the number of threads that wait for another thread of their rank to leave MPI; waits up to a second until
 * all threads created by ranks do. */
std::size_t waiting_threads();

} // namespace weft
