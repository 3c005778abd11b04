// SPDX-License-Identifier: LGPL-2.1-only
/* Which requests an MPI_Waitall waits for. SimGrid's time-independent trace has their number only, and counts
 * MPI_REQUEST_NULLs too; so a run whose trace is recorded (WEFT_WAITALL_NOTES names a file) notes for each call the
 * rank, the number, and source, destination and tag of every request that is none of those. The trace has the calls of
 * a rank in the same order (python/weft/trace/tracer.py puts the two together).
 */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Note a call of the rank that makes it, where the run wants notes; before the call. */
void note_waitall(int count, const MPI_Request* requests);

} // namespace weft
