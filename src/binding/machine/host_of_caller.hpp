// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include <simgrid/forward.h>

namespace weft {

/** Returns the simulated host of the rank whose code, or library, makes the call from @p caller; null if the call is
 * the simulator's or that of a library that makes threads, or in a process that a rank forked: these mean this machine.
 */
simgrid::s4u::Host* host_of_caller(const void* caller);

} // namespace weft
