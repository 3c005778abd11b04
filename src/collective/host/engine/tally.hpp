// SPDX-License-Identifier: LGPL-2.1-only
/* Message and round counts of a rank in a call, for timelines. */
#pragma once

#include "collective/host/engine/schedule.hpp"

namespace weft {

struct Tally {
  int messages = 0; ///< messages sent
  int rounds   = 0; ///< waits for at least one receive that was not waited for before
};

/** Returns the same steps and counts them in @p tally as they are executed; @p tally must outlive them. */
Schedule tallied(Schedule steps, Tally& tally);

} // namespace weft
