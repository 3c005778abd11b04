// SPDX-License-Identifier: LGPL-2.1-only
/* Current context and its turn, which current.cpp keeps in SimGrid's place. */
#pragma once

#include <cstdint>

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SimGrid's, and read at each call of rand()
/** Current context; null on the program's own threads, in the kernel's place (AsKernel), and before
 * SimGrid has an engine. */
extern constinit thread_local simgrid::kernel::context::Context* who_runs __attribute__((tls_model("initial-exec")));
/** Number that changes whenever who_runs does: what was looked up for a rank is valid until then. */
extern constinit std::uint64_t turn;
using AtTurn = void (*)();
/** Callback for each change of who_runs; null if nobody needs it (surroundings.cpp). */
extern constinit AtTurn at_turn;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace weft
