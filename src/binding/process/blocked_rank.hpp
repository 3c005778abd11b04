// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks that wait for each other outside MPI (accept, read of a pipe, sem_wait, …).
 *
 * All ranks run on one thread, so a rank that blocks in the system also stops the rank that it waits for. `weft run`
 * detects that the process has used no CPU time for a while (python/weft/base/blocked.py), and sends a signal with the
 * number of the system call; the rank then ends its program. */
#pragma once

#include <functional>
#include <string>

namespace weft {

/** Installs the handler of the signal, which calls @p end in the rank's context, for the lifetime of the process. */
void end_blocked_ranks(std::function<void(const std::string& message)> end);

} // namespace weft
