// SPDX-License-Identifier: LGPL-2.1-only
/* The context that runs now, and the turn that it has: current.cpp keeps both in SimGrid's place. */
#pragma once

#include <cstdint>

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SimGrid's, and read at each call of rand()
/** Null on threads of the program's own, in the kernel's place (AsKernel), and before SimGrid has an engine. */
extern constinit thread_local simgrid::kernel::context::Context* who_runs __attribute__((tls_model("initial-exec")));
/** Changes whenever who_runs does: what was looked up for a rank is valid as long as this stays. */
extern constinit std::uint64_t turn;
using AtTurn = void (*)();
/** Called whenever who_runs changes; null as long as nobody asks for that (surroundings.cpp). */
extern constinit AtTurn at_turn;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace weft
