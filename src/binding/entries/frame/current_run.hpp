// SPDX-License-Identifier: LGPL-2.1-only
/* Run of this process, for the entries from MPI only: SMPI and SimGrid call them without a context. All layers below
 * the entries get references. */
#pragma once

#include "binding/run/run_context.hpp"

namespace weft {

/** Returns the context that load_platform() has created. */
RunContext& current_run();

/** Sets the context. There is one SimGrid engine per process; throws std::logic_error if a run
 * exists already. */
void begin_run(RunContext& context);

} // namespace weft
