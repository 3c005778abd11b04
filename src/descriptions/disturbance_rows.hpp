// SPDX-License-Identifier: LGPL-2.1-only
/* Faults and background traffic of a run in the JSON form of its record. */
#pragma once

#include "disturbances/disturbances.hpp"

#include <nlohmann/json_fwd.hpp>

namespace weft {

/** Returns the record's section on faults, without in-network calls. */
nlohmann::ordered_json fault_rows(const FaultReport& report);

/** Returns the record's row of a traffic table. */
nlohmann::ordered_json traffic_row(const TrafficReport& report);

} // namespace weft
