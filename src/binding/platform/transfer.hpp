// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of weft's own between hosts, as those of ranks go: what offloaded calls need beside their streams. */
#pragma once

#include "base/units.hpp"
#include "binding/platform/flow_result.hpp"

#include <simgrid/s4u.hpp>

namespace weft {

/** Start a transfer; @p done runs in SimGrid's kernel context when it has ended. */
void transfer(simgrid::s4u::Host* from, simgrid::s4u::Host* to, Bytes bytes, FlowEnd done);

} // namespace weft
