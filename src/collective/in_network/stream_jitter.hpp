// SPDX-License-Identifier: LGPL-2.1-only
/* How much later a stream's packets are because of the links of its tree. */
#pragma once

#include "collective/in_network/traffic.hpp"
#include "model/noise/jitter.hpp"

#include <cstdint>

namespace weft {

/** What the longest way from a member that gives to one that gets is longer by in the @p number-th call of communicator
 *  @p communicator: jitter is drawn for each link of the tree, up and down. */
Seconds stream_jitter(const ReductionTree& tree, const TreeCall& call, const Jitter& jitter, std::uint32_t communicator,
                      std::uint32_t number);

} // namespace weft
