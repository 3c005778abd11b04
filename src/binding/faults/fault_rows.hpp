// SPDX-License-Identifier: LGPL-2.1-only
/* Faults and the reactions to them in the record. */
#pragma once

#include "binding/observe/json_rows.hpp"
#include "disturbances/disturbances.hpp"
#include "faults/call_recovery.hpp"

namespace weft {

/** Returns the record's part about faults. @p calls: null if calls in the network have no reaction of their own. */
Json fault_rows(const FaultReport& report, const CallRecovery* calls);

} // namespace weft
