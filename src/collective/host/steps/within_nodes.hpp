// SPDX-License-Identifier: LGPL-2.1-only
/* Nested calls on a subset of the ranks: all ranks of one host, or one rank of each host. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <span>
#include <vector>

namespace weft {

/** Returns the schedule of rank @p place of the nested call @p inner, which is ranks[place] in the
 * outer call. The algorithm is the library's, or @p otherwise if it names none. */
Schedule among(std::vector<int> ranks, HostCall inner, int place, MakeSchedule otherwise);
/** Overload for @p ranks that outlive the schedule. */
Schedule among(std::span<const int> ranks, HostCall inner, int place, MakeSchedule otherwise);

/** Returns a nested call of @p collective on @p ranks ranks, each on its own host, with the vector or
 * block of @p call. */
HostCall part_of(const HostCall& call, std::string_view collective, std::size_t ranks, int root);

} // namespace weft
