// SPDX-License-Identifier: LGPL-2.1-only
/* Locks of simulated threads.
 *
 * Mutexes, condition variables, semaphores, barriers, std::future, std::atomic::wait and OpenMP's barriers all end in
 * one system call of the C library or of OpenMP's: futex(). A seccomp filter turns that call into a signal, whose
 * handler lets the thread wait as an actor of the simulation: other threads of its rank run meanwhile, and deadlines
 * are simulated. Uncontended locks make no system call. sched_yield() advances simulated time. */
#pragma once

#include <cstddef>

namespace weft {

/** Enables simulation of locks. Returns false where that is impossible: on processors other than x86-64, and where the
 * system allows no filters. */
bool simulate_futexes();

/** Installs the filter for the current thread, unless it has inherited it. */
void filter_this_thread();

/** Returns whether locks of the current thread are simulated. */
bool futexes_are_simulated();

/** Scope in which locks of the current thread are the system's. */
class SystemFutexes {
public:
  SystemFutexes();
  SystemFutexes(const SystemFutexes&)            = delete;
  SystemFutexes& operator=(const SystemFutexes&) = delete;
  ~SystemFutexes();
};

/** Scope in which they are simulated again. */
class SimulatedFutexes {
  unsigned outer_;

public:
  SimulatedFutexes();
  SimulatedFutexes(const SimulatedFutexes&)            = delete;
  SimulatedFutexes& operator=(const SimulatedFutexes&) = delete;
  ~SimulatedFutexes();
};

/** Returns the number of threads that wait for locks. */
std::size_t threads_at_futexes();

} // namespace weft
