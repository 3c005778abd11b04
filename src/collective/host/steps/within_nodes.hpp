// SPDX-License-Identifier: LGPL-2.1-only
/* A call within a call, of some of the ranks: those of a host, or one of each host. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <span>
#include <vector>

namespace weft {

/** The steps that the rank ranks[place] takes in the call @p inner, of which it is rank @p place: the library's, or
 *  those of @p otherwise. */
Schedule among(std::vector<int> ranks, HostCall inner, int place, MakeSchedule otherwise);
/** The same of @p ranks that stay where they are. */
Schedule among(std::span<const int> ranks, HostCall inner, int place, MakeSchedule otherwise);

/** A call of @p collective of so many ranks with the vector or the block of @p call; nobody shares a host in it. */
HostCall part_of(const HostCall& call, std::string_view collective, std::size_t ranks, int root);

} // namespace weft
