// SPDX-License-Identifier: LGPL-2.1-only
/* Predicted time of a collective on the hosts: its schedules are executed on a quiet network, and all ranks enter
 * together.
 */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/host_stage.hpp"
#include "collective/host/selection/selection.hpp"
#include "fabric/fabric.hpp"

#include <vector>

namespace weft {

/** Returns the mean over all ranks of the time spent in @p call with the algorithm @p choice; @p hosts by rank. */
Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice);

/** Returns the time per call of @p calls consecutive identical calls, until the last rank has left the last one. Ranks
 * enter a call when they leave the previous one, so calls overlap if ranks leave early (as all but the root of a Reduce
 * do). Stops as soon as the time exceeds @p most, and returns infinity. */
Seconds predicted_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                           const HostCall& call, const Selection::Choice& choice, int calls, Seconds most);

/** Returns the time per call of offloaded calls with a host stage, whose tree takes @p in_tree once all @p members have
 * contributed. */
Seconds predicted_staged_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                                  Members members, const HostStageAlgorithms& algorithms, const HostStageCall& call,
                                  Seconds in_tree, int calls);

} // namespace weft
