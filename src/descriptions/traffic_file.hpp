// SPDX-License-Identifier: LGPL-2.1-only
/* Background traffic described by `weft run` in JSON (python/weft/runs/traffic/description.py). */
#pragma once

#include "traffic/traffic_stream.hpp"

#include <string>
#include <vector>

namespace weft {

/** Returns the tables of a JSON description. Throws UserError, which names @p source. */
std::vector<TrafficTable> parse_traffic(const std::string& text, const std::string& source);

/** Returns the tables of the description in a file. Throws UserError. */
std::vector<TrafficTable> read_traffic(const std::string& path);

} // namespace weft
