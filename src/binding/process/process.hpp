// SPDX-License-Identifier: LGPL-2.1-only
/* The process that the simulation is, and whose code it runs. */
#pragma once

#include <csignal>
#include <cstddef>
#include <optional>
#include <string>

namespace weft {

/** Know what follows; to be called before there are ranks. */
void watch_process();

/** Whether ranks run, or will: not before watch_process(), nor after the last has ended. */
bool is_simulating();

/** The rank whose code runs now: none in SimGrid's own code, nor on threads that the program has made. */
std::optional<int> rank_here();

/** Calls the C library's sigaction(): handlers are the process's, whatever ranks have. */
int system_sigaction(int signum, const struct sigaction* action, struct sigaction* before);

/** Install a handler for the process. */
inline void set_process_action(int signum, const struct sigaction& action)
{
  system_sigaction(signum, &action, nullptr);
}

/** What raise() does in a process that has no ranks. Signal handlers may call it. */
void raise_in_process(int signum);

/** What the system allows the process of memory, where that is limited: "ulimit -v allows 6544 MiB"; else nothing. */
std::string memory_limits();

/** Bytes of the largest resident set that the process has had, or 0 where Linux does not say. Not getrusage's: that
 * begins with what the process that started this one held. */
std::size_t peak_memory_bytes();

/** How many mappings the process has, of those that vm.max_map_count allows. */
std::size_t mappings_now();

/** Whether this process is a child that a rank forked: nothing of the simulation is its business. */
bool is_forked_child();

} // namespace weft
