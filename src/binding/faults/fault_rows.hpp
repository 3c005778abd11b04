// SPDX-License-Identifier: LGPL-2.1-only
/* Faults, and the reactions to them, in the record. */
#pragma once

#include "binding/observe/json/json.hpp"
#include "disturbances/disturbances.hpp"
#include "faults/call_recovery.hpp"

namespace weft {

/** Returns the record's section on faults. @p calls: null if in-network calls do not react themselves. */
Json fault_rows(const FaultReport& report, const CallRecovery* calls);

} // namespace weft
