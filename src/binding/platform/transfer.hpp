// SPDX-License-Identifier: LGPL-2.1-only
/* weft's own messages in SimGrid, between hosts and pseudo-hosts of switches. Offloaded calls need
 * them in addition to their streams. */
#pragma once

#include "base/units.hpp"
#include "binding/platform/flow_result.hpp"

#include <simgrid/s4u.hpp>

namespace weft {

/** Starts a transfer, of which only @p part is sent: the rest of a transfer has the rate of the whole. @p done runs in
 * SimGrid's kernel context when it has ended. */
void transfer(simgrid::s4u::Host* from, simgrid::s4u::Host* to, Bytes bytes, double part, FlowEnd done);

} // namespace weft
