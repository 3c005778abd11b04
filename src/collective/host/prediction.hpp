// SPDX-License-Identifier: LGPL-2.1-only
/* Predicted time of a collective on the hosts: its schedules, executed on a quiet network that all ranks enter at once.
 */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/host_stage.hpp"
#include "collective/host/selection/selection.hpp"
#include "fabric/fabric.hpp"

#include <vector>

namespace weft {

/** Mean over the ranks of the time that each spends in one @p call, which @p choice carries out; @p hosts by rank. */
Seconds predicted_time(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                       const HostCall& call, const Selection::Choice& choice);

/** Time per call of @p calls identical ones in a row, until the last rank has left the last one. Each rank enters its
 *  next call when it leaves the one before, so that calls overlap where ranks leave early (all but the root of a
 *  Reduce). Infinity where it exceeds @p most, which is found out as soon as it is certain. */
Seconds predicted_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                           const HostCall& call, const Selection::Choice& choice, int calls, Seconds most);

/** The same of offloaded calls whose hosts have a stage of their own, and whose tree takes @p in_tree from the moment
 *  that all @p members have contributed. */
Seconds predicted_staged_interval(const Fabric& fabric, const MessageCosts& costs, const std::vector<int>& hosts,
                                  HostMembers members, const HostStageAlgorithms& algorithms, const HostStageCall& call,
                                  Seconds in_tree, int calls);

} // namespace weft
