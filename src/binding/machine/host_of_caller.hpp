// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include <simgrid/forward.h>

namespace weft {

/** Returns the simulated host of the rank whose code, or library, makes the call at @p caller. Null if the simulator or
 * a library that creates threads calls, or in a process that a rank forked: these refer to this machine.
 */
simgrid::s4u::Host* host_of_caller(const void* caller);

} // namespace weft
