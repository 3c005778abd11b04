// SPDX-License-Identifier: LGPL-2.1-only
/* Variables of the C and C++ libraries that programs access without a call: errno and h_errno,
 * signgam, those of getopt, the program's name, environ and the thread's locale, the exceptions being handled, the
 * floating-point environment, and the states of std::cout and the other standard streams.
 *
 * A real process has its own; ranks take turns in one process. A rank therefore keeps its values on
 * its stack while others run, which takes no other memory and a few nanoseconds per turn. */
#pragma once

#include <simgrid/forward.h>

namespace weft {

using Yield = void (*)(simgrid::kernel::actor::ActorImpl* rank);

/** Lets others run until @p rank, the current one, resumes with its state. */
void yield_keeping_state(simgrid::kernel::actor::ActorImpl* rank);

using YieldAround = void (*)(simgrid::kernel::actor::ActorImpl* rank, Yield yield);
/** Replacement for a rank's yield, which it gets; null if there is none (program_threads.cpp). */
extern constinit YieldAround around_yield; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): at each wait

/** Gives C++ streams a state per rank from now on, as with Settings::cxx_streams. No rank has used them yet. */
void keep_cxx_streams();

/** Gives the starting rank the initial state of the process. */
void begin_switched_state();

/** Sets the name by which messages of the C library call the program: that of the current rank, or before the first
 * rank starts, that of all. @p path must stay valid. */
void name_program(const char* path);

} // namespace weft
