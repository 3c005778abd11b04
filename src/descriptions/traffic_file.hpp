// SPDX-License-Identifier: LGPL-2.1-only
/* Background traffic as `weft run` describes it, in JSON (python/weft/runs/traffic/description.py). */
#pragma once

#include "traffic/traffic_stream.hpp"

#include <string>
#include <vector>

namespace weft {

/** Returns the tables of a description, JSON. Throws UserError that names @p source. */
std::vector<TrafficTable> parse_traffic(const std::string& text, const std::string& source);

/** Returns the tables of the description in a file. Throws UserError. */
std::vector<TrafficTable> read_traffic(const std::string& path);

} // namespace weft
