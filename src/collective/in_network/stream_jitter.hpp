// SPDX-License-Identifier: LGPL-2.1-only
/* Delay of a stream due to jitter on the links of its tree. */
#pragma once

#include "collective/in_network/traffic.hpp"
#include "model/noise/jitter.hpp"

#include <cstdint>

namespace weft {

/** Returns the increase of the longest route from a sending member to a receiving one in the @p number-th call of
 * communicator @p communicator. Jitter is drawn for each link of the tree, up and down. */
Seconds stream_jitter(const ReductionTree& tree, const TreeCall& call, const Jitter& jitter, std::uint32_t communicator,
                      std::uint32_t number);

} // namespace weft
