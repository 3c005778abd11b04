// SPDX-License-Identifier: LGPL-2.1-only
/* Calls within a call, on a subset of the ranks: those of a host, or one of each host. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <span>
#include <vector>

namespace weft {

/** Returns the steps of the rank ranks[place] in the call @p inner, in which its rank is @p place;
 * the algorithm is the library's, or @p otherwise. */
Schedule among(std::vector<int> ranks, HostCall inner, int place, MakeSchedule otherwise);
/** Overload for @p ranks that outlive the schedule. */
Schedule among(std::span<const int> ranks, HostCall inner, int place, MakeSchedule otherwise);

/** Returns a call of @p collective on @p ranks ranks with the vector or block of @p call; no two of
 * them share a host. */
HostCall part_of(const HostCall& call, std::string_view collective, std::size_t ranks, int root);

} // namespace weft
