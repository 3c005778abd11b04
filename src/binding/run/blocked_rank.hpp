// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks that wait for each other outside MPI (accept, read of a pipe, sem_wait, …).
 *
 * All ranks run on one thread, so a rank that the system blocks also stops the rank that it waits
 * for. `weft run` sees that the process has used no CPU time for a while (python/weft/base/blocked.py),
 * and sends a signal with the number of the system call; the rank then ends its program. */
#pragma once

#include "binding/run/run_context.hpp"

namespace weft {

/** Installs the handler of the signal, for the lifetime of the process. */
void end_blocked_ranks(RunContext& context);

} // namespace weft
