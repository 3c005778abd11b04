// SPDX-License-Identifier: LGPL-2.1-only
/* Classification of the code that calls a system function. Interposed functions that answer ranks from the simulation
 * must pass on calls of the simulator, and of libraries that create threads: these run, and wait, on the real
 * machine. */
#pragma once

namespace weft {

/** Returns whether @p address is in the simulator's code: SimGrid's, weft's, the allocator's, or the executable's. */
bool is_in_simulator(const void* address);

/** Returns whether @p address is in the code of an OpenMP library. */
bool is_in_openmp(const void* address);

/** Returns whether @p address is in the code of a library that creates threads: OpenMP's, a BLAS, or TBB. */
bool is_in_thread_library(const void* address);

} // namespace weft
