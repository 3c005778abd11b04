// SPDX-License-Identifier: LGPL-2.1-only
/* Faults and the reactions to them in the record. */
#pragma once

#include "binding/observe/json_rows.hpp"
#include "binding/run/call_recovery.hpp"
#include "faults/recovery.hpp"

#include <cstddef>

namespace weft {

/** Returns the record's part about faults. @p calls: null if calls in the network have no reaction of their own. */
Json fault_rows(Json events, std::size_t left_events, const RecoveryCounts& counts, const CallRecovery* calls);

} // namespace weft
