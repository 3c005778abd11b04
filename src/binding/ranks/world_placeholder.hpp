// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_COMM_WORLD in a run of several programs, where SMPI's variable is one object that represents the world of the
 * current rank (src/smpi/mpi/smpi_comm.cpp). Programs of spawned worlds use this object too, even where SMPI's variable
 * is the world of the only program that it has launched. SMPI stores error handlers, attributes, info and windows in
 * that object, so programs would share them; here they belong to the rank and to its program's world.
 *
 * SimGrid's kernel, in which the last reference to a request may be dropped, has no world, and SMPI would crash. The
 * world then keeps the reference: it lives as long as its program's ranks anyway. */
#pragma once

#include <smpi/smpi.h>

#include <simgrid/forward.h>

namespace weft {

/** Returns the current rank's handle of its MPI_COMM_WORLD: SMPI's variable or, in a spawned world, the object that
 * represents the world of the current rank. */
MPI_Comm own_world();

/** Returns whether a communicator is the object that represents the world of the current rank. */
bool is_placeholder(const simgrid::smpi::Comm* comm);

/** Records that an actor, which has not run yet, is a rank of a spawned world. */
void note_spawned_rank(aid_t actor);

/** Scope for loading programs that the ranks of a spawned world share. */
class SpawnedProgramScope {
public:
  SpawnedProgramScope();
  SpawnedProgramScope(const SpawnedProgramScope&)            = delete;
  SpawnedProgramScope& operator=(const SpawnedProgramScope&) = delete;
  ~SpawnedProgramScope();
};

/** Returns the world of the current rank for SMPI's object that represents it; any other communicator unchanged. */
MPI_Comm real_communicator(MPI_Comm comm);

/** Gives @p made the current rank's error handler of @p original, if @p original represents the rank's world. */
void inherit_error_handler(MPI_Comm original, MPI_Comm made);

} // namespace weft
