// SPDX-License-Identifier: LGPL-2.1-only
/* Tells whose code calls a function of the system. What answers ranks from the simulation must leave the simulator the
 * machine's answer, and libraries that make threads of their own too: these run, and wait, on this machine. */
#pragma once

namespace weft {

/** Returns whether @p address is in the simulator's code: SimGrid's, weft's, the allocator's, or the executable's. */
bool is_in_simulator(const void* address);

/** Returns whether @p address is in the code of an OpenMP library. */
bool is_in_openmp(const void* address);

/** Returns whether @p address is in the code of a library that makes threads: OpenMP's, a BLAS, or TBB. */
bool is_in_thread_library(const void* address);

} // namespace weft
