// SPDX-License-Identifier: LGPL-2.1-only
/* Simulated time for programs. All clocks show it, whatever their kind: elapsed time since the start of the simulation,
 * of which CPU time does not differ, since MPI libraries wait by polling. */
#pragma once

#include <ctime>
#include <optional>
#include <sys/time.h>

namespace weft {

/** Returns whether the program, or a library of it, makes the call from @p caller. False for the simulator and
 * libraries that make threads, which need this machine's time, and in processes that a rank forks. */
bool is_programs_call(const void* caller);

/** Returns the time in seconds that a clock shows to @p caller; nothing if it is this machine's. As reads of MPI_Wtime
 * do, a read may take simulated time. */
std::optional<double> simulated_time(const void* caller);

/** Returns the simulated time, without reading a clock. */
double time_now();

/** Returns whether the current thread is that of a rank whose code runs; other threads live in real time. */
bool is_ranks_thread();

/** Lets simulated time pass for the current rank if the program calls from @p caller, on the rank's thread. Returns
 * false if not. */
bool sleep_simulated(const void* caller, double seconds);

/** Lets simulated time pass for the current rank. */
void sleep_rank(double seconds);

std::timespec timespec_of(double seconds);
timeval timeval_of(double seconds);
double seconds_of(const std::timespec& time);
double seconds_of(const timeval& time);

/** Returns whether @p time is null or not in the form of the system's functions. Sets errno if so. */
bool is_invalid(const std::timespec* time);

} // namespace weft
