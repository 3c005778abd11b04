// SPDX-License-Identifier: LGPL-2.1-only
/* How long the hosts would take for a collective, were the network quiet and all ranks there at once: its schedules,
 * executed. */
#pragma once

#include "collective/hosts/execution.hpp"
#include "collective/hosts/host_call.hpp"
#include "collective/hosts/selection.hpp"
#include "fabric/fabric.hpp"

#include <vector>

namespace weft {

/** The mean over the ranks of the time that each spends in @p call, which @p choice carries out; @p hosts by rank.
 *  Infinity where it is more than @p most, which is found out as soon as it is sure. */
Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice, Seconds most);

} // namespace weft
