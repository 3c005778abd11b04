// SPDX-License-Identifier: LGPL-2.1-only
/* The process that the simulation is, and whose code it runs. */
#pragma once

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
