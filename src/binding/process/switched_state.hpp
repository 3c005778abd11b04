// SPDX-License-Identifier: LGPL-2.1-only
/* Variables of the C and C++ libraries that programs access without a call: errno and h_errno, signgam, getopt's
 * variables, the program's name, environ and the thread's locale, the exceptions being handled, the floating-point
 * environment, and the states of std::cout and the other standard streams.
 *
 * A real process has its own; here ranks take turns in one process. A rank therefore keeps its values on its stack
 * while others run, which takes no other memory and a few nanoseconds per turn. */
#pragma once

#include <simgrid/forward.h>

namespace weft {

using Yield = void (*)(simgrid::kernel::actor::ActorImpl* rank);

/** Lets others run until @p rank, the current one, resumes with its state. */
void yield_keeping_state(simgrid::kernel::actor::ActorImpl* rank);

using YieldAround = void (*)(simgrid::kernel::actor::ActorImpl* rank, Yield yield);
/** Replacement for a rank's yield, which is passed to it; null if there is none (program_threads.cpp). */
extern constinit YieldAround around_yield; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): at each wait

/** Enables per-rank state of C++ streams, as with Settings::cxx_streams. Call it before any rank uses them. */
void keep_cxx_streams();

/** Gives the starting rank the initial state of the process. */
void begin_switched_state();

/** Sets the program name in the C library's messages: the current rank's or, before the first rank starts, all ranks'.
 * @p path must stay valid. */
void name_program(const char* path);

} // namespace weft
