// SPDX-License-Identifier: LGPL-2.1-only
/* Round trip of a packet and its acknowledgement over an idle fabric. */
#pragma once

#include "fabric/fabric.hpp"

namespace weft {

/** Returns [network.nscc] base_round_trip, or that of the longest route from the first host. */
Seconds base_round_trip(const Fabric& fabric);

} // namespace weft
