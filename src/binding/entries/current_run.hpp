// SPDX-License-Identifier: LGPL-2.1-only
/* The run of this process, for the entries from MPI alone: SMPI and SimGrid call them without a context. Everything
 * below the entries gets references. */
#pragma once

#include "binding/run/run_context.hpp"

namespace weft {

/** Returns the context that load_platform() has made. */
RunContext& current_run();

/** Sets the context. SimGrid's engine is one per process; throws std::logic_error if there is a run already. */
void begin_run(RunContext& context);

} // namespace weft
