// SPDX-License-Identifier: LGPL-2.1-only
/* Sleeping ranks that share timers instead of having one action each. */
#pragma once

#include "binding/ranks/sleep.hpp"

namespace weft {

/** Enables shared timers for all further sleeps, whatever the number of ranks. */
void share_all_sleeps();

/** Wakes @p sleep at simulated time @p time, which must not have passed. Called from the kernel. */
void wake_at(double time, Sleep& sleep);
/** Cancels wake_at(), if it has not happened. */
void do_not_wake_at(double time, Sleep& sleep);

} // namespace weft
