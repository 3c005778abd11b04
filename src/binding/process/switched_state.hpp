// SPDX-License-Identifier: LGPL-2.1-only
/* Variables of the C and C++ libraries that programs read and write without a call: errno and h_errno, signgam, those
 * of getopt, environ and the thread's locale, the exceptions that are being handled, the floating-point environment,
 * and the states of std::cout and its like.
 *
 * Each process has its own, and ranks take turns in one. So a rank keeps them on its stack while others run. They cost
 * no memory, and a few nanoseconds a turn.
 */
#pragma once

namespace weft {

/** Give the current rank, which begins, what a process begins with. */
void begin_switched_state();

} // namespace weft
