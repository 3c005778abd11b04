// SPDX-License-Identifier: LGPL-2.1-only
/* Parallel regions of OpenMP (GCC's libgomp) on ranks that take turns on one thread.
 *
 * - libgomp keeps a thread's team, and its pool of threads, in thread-local storage. If a rank calls MPI inside a
 *   region, other ranks would use its team. The storage is therefore set aside until the rank resumes, and other ranks
 *   get the storage of an idle pool.
 * - If the program has thread-local variables (threadprivate, thread_local), a rank keeps its pool, so that they
 *   persist from region to region (OpenMP 5.2, section 5.2). Otherwise ranks that call MPI between regions share a
 *   pool, and processes with many ranks have few threads.
 * - The threads of a shared pool serve one rank at a time: each region tells them their rank.
 * - libgomp has one lock for all unnamed critical sections. A rank that waits in MPI inside one would stop all others,
 *   so each rank has its own lock. */
#pragma once

#include "binding/process/switched_state.hpp"

namespace simgrid::kernel::context {
class Context;
} // namespace simgrid::kernel::context

namespace weft {

/** Returns the rank whose parallel region the current thread executes; null if there is none. */
simgrid::kernel::context::Context* rank_of_region();

/** Yields, setting the rank's team aside if the rank is inside a region or owns the team's pool. Used by ranks after
 * their first region. */
void yield_with_team(simgrid::kernel::actor::ActorImpl* rank, Yield yield);

} // namespace weft
