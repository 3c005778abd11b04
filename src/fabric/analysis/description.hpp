// SPDX-License-Identifier: LGPL-2.1-only
/* Text summary of a fabric. */
#pragma once

#include "fabric/fabric.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Returns the number of switches by kind, named in the singular ("NIC"), in order of their numbers. */
std::vector<std::pair<std::string_view, int>> count_switches(const Topology& topology);

/** Returns a summary of a few lines. */
std::string describe(const Fabric& fabric);

} // namespace weft
