// SPDX-License-Identifier: LGPL-2.1-only
/* The process that the simulation is, and whose code it runs. */
#pragma once

#include <optional>

namespace weft {

/** Know what follows; to be called before there are ranks. */
void watch_process();

/** The rank whose code runs now: none in SimGrid's own code, nor on threads that the program has made. */
std::optional<int> rank_here();

/** Whether this process is a child that a rank forked: nothing of the simulation is its business. */
bool is_forked_child();

} // namespace weft
