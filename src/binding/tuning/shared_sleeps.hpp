// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeping ranks that share timers instead of having an action each. */
#pragma once

#include "binding/ranks/sleep.hpp"

namespace weft {

/** Enables shared timers for all sleeps from now on, whatever the number of ranks. */
void share_all_sleeps();

/** Wakes @p sleep at simulated time @p time, which is not over. Called from the kernel. */
void wake_at(double time, Sleep& sleep);
/** Takes wake_at() back, if it has not happened. */
void do_not_wake_at(double time, Sleep& sleep);

} // namespace weft
