// SPDX-License-Identifier: LGPL-2.1-only
/* Faults and background traffic of a run as its record has them, in JSON. */
#pragma once

#include "disturbances/disturbances.hpp"

#include <nlohmann/json.hpp>

namespace weft {

/** Returns the record's part about faults, without calls in the network. */
nlohmann::ordered_json fault_rows(const FaultReport& report);

/** Returns the record's row of a table of traffic. */
nlohmann::ordered_json traffic_row(const TrafficReport& report);

} // namespace weft
