// SPDX-License-Identifier: LGPL-2.1-only
/* A call that a rank makes, in the core's terms. */
#pragma once

#include "binding/data/described.hpp"
#include "binding/run/communicator.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/in_network/tree_obstacle.hpp"

namespace weft {

/** What it asks of switches. */
SwitchCall switch_call(const Described& described);
/** What the hosts would be called with; Reduce_scatter and Allgatherv in bytes. @p communicator must outlive it. */
HostCall host_call(const Communicator& communicator, const Described& described);

} // namespace weft
