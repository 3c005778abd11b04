// SPDX-License-Identifier: LGPL-2.1-only
/* How many messages a rank sends in a call, and how often it waits for some: what timelines say of a call. */
#pragma once

#include "collective/host/engine/schedule.hpp"

namespace weft {

struct Tally {
  int messages = 0; ///< that the rank sends
  int rounds   = 0; ///< waits for one message or several to come, of which none has been waited for
};

/** The same steps; @p tally, which must outlive them, counts those that have been taken. */
Schedule tallied(Schedule steps, Tally& tally);

} // namespace weft
