// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of weft's own between hosts, like those of ranks; offloaded calls need them besides
 * their streams. */
#pragma once

#include "base/units.hpp"
#include "binding/platform/flow_result.hpp"

#include <simgrid/s4u.hpp>

namespace weft {

/** Starts a transfer; @p done runs in SimGrid's kernel context when it has ended. */
void transfer(simgrid::s4u::Host* from, simgrid::s4u::Host* to, Bytes bytes, FlowEnd done);

} // namespace weft
