// SPDX-License-Identifier: LGPL-2.1-only
/* Parallel regions of OpenMP (GCC's libgomp) on ranks that take turns on one thread.
 *
 * - libgomp keeps a thread's team, and the pool of threads that it works with, in thread-local
 *   storage. If a rank calls MPI inside a region, other ranks would take its team for theirs. So the
 *   storage is set aside until the rank resumes, and the others get that of an idle pool.
 * - If the program has variables that each thread has its own of (threadprivate, thread_local), a rank
 *   keeps its pool, so that they persist from region to region (OpenMP 5.2, section 5.2). Otherwise
 *   ranks that call MPI between regions share a pool, and processes of many ranks have few threads.
 * - The threads of a shared pool serve one rank after the other: each region tells them whose it is.
 * - libgomp has one lock for all critical sections without a name. A rank that waits in MPI inside
 *   one would stop all others, so each rank has its own. */
#pragma once

#include "binding/process/switched_state.hpp"

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context

namespace weft {

/** Returns the rank whose parallel region the current thread works in; null if it is in none. */
simgrid::kernel::context::Context* rank_of_region();

/** Yields, and sets the rank's team aside meanwhile if it is inside a region or the team's pool is the rank's own.
 * Ranks do so from the first region on. */
void yield_with_team(simgrid::kernel::actor::ActorImpl* rank, Yield yield);

} // namespace weft
