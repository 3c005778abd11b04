// SPDX-License-Identifier: LGPL-2.1-only
/* Simulated time for programs. All clocks show the time elapsed since the start of the simulation. CPU time equals
 * elapsed time, since MPI libraries wait by polling. */
#pragma once

#include <ctime>
#include <optional>
#include <sys/time.h>

namespace weft {

/** Returns whether the program, or a library of it, makes the call at @p caller. False for the simulator and libraries
 * that create threads, which need real time, and in processes that a rank forks. */
bool is_programs_call(const void* caller);

/** Returns the time in seconds that a clock shows to @p caller; nothing if it is real time. Like reads of MPI_Wtime, a
 * read may take simulated time. */
std::optional<double> simulated_time(const void* caller);

/** Returns the simulated time, without reading a clock. */
double time_now();

/** Returns whether the current thread runs a rank's code; all other threads live in real time. */
bool is_ranks_thread();

/** Advances simulated time for the current rank if the program makes the call at @p caller, on the rank's thread.
 * Returns false if not. */
bool sleep_simulated(const void* caller, double seconds);

/** Advances simulated time for the current rank. */
void sleep_rank(double seconds);

std::timespec timespec_of(double seconds);
timeval timeval_of(double seconds);
double seconds_of(const std::timespec& time);
double seconds_of(const timeval& time);

/** Returns whether @p time is null or invalid for the system's functions, and sets errno if so. */
bool is_invalid(const std::timespec* time);

} // namespace weft
