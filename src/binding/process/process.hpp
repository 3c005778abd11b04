// SPDX-License-Identifier: LGPL-2.1-only
/* Process that runs the simulation: the running rank, signals, memory. */
#pragma once

#include <csignal>
#include <cstddef>
#include <optional>
#include <simgrid/forward.h>
#include <string>
#include <sys/types.h>

namespace weft {

/** Installs the hooks that the functions below require. Call it before any rank exists. */
void watch_process();

/** Returns whether ranks run or will run: true from watch_process() until the last rank has ended. */
bool is_simulating();

/** Returns whether ranks run, will run, or have run: true after watch_process(). */
bool has_simulation();

/** Returns the rank whose code is running; nothing if SimGrid's own code or a thread of the program runs. */
std::optional<int> rank_here();

/** Calls the C library's sigaction(), which sets handlers of the process rather than of a rank. */
int system_sigaction(int signum, const struct sigaction* action, struct sigaction* before);

/** Installs a signal handler for the process. */
inline void set_process_action(int signum, const struct sigaction& action)
{
  system_sigaction(signum, &action, nullptr);
}

/** Raises a signal in the process, bypassing ranks' handlers. Async-signal-safe. */
void raise_in_process(int signum);

/** Looks up a symbol of the OpenMP library that the program has loaded; null if it has none. */
void* openmp_symbol(const char* symbol);

/** Reports that the OpenMP state of SimGrid's thread now belongs to another pool. */
void openmp_state_changes();

/** Describes the memory limits of the process ("ulimit -v allows 6544 MiB"); empty if unlimited. */
std::string memory_limits();

/** Returns the peak RSS of the process in bytes; 0 if Linux does not report it. getrusage() is
 * unsuitable: its value starts at the RSS of the process that started this one. */
std::size_t peak_memory_bytes();

/** Returns the number of memory mappings of the process. Async-signal-safe. */
std::size_t mappings_now();
/** Returns the number that Linux allows (vm.max_map_count). */
std::size_t most_mappings();

/** Returns the process ID that getpid() returns to the actor @p rank. */
pid_t pid_of_rank(aid_t rank);

/** Changes the current rank's directory to the directory of the run's files, if one is set. */
void enter_directory_of_files();

/** Returns whether this process is a child that a rank forked, which must not touch the simulation. */
bool is_forked_child();

} // namespace weft
