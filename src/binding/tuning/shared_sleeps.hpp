// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeping ranks that share timers instead of having an action each. */
#pragma once

namespace weft {

/** Enables shared timers for all sleeps from now on, whatever the number of ranks. */
void share_all_sleeps();

} // namespace weft
