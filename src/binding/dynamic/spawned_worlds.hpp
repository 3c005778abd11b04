// SPDX-License-Identifier: LGPL-2.1-only
/* Worlds that MPI_Comm_spawn and MPI_Comm_spawn_multiple start, and their connection to their parents. */
#pragma once

#include "binding/dynamic/spawn_command.hpp"
#include "binding/run/run_context.hpp"

#include <functional>
#include <vector>

namespace weft {

/** Spawns the commands' ranks as one world, from the group of @p comm. Sets the intercommunicator, and one error code
 * per requested rank, unless @p codes is null. @p commands is called by rank @p root alone; it throws SpawnRefusal for
 * wrong arguments. */
int spawn(const std::function<std::vector<SpawnCommand>()>& commands, int root, MPI_Comm comm, MPI_Comm* made,
          int* codes);

/** Returns the current rank's intercommunicator with its parents; MPI_COMM_NULL if there is none, or the rank has freed
 * it. */
MPI_Comm parent_here();

/** Connects spawned ranks with their parents when they call MPI_Init, and installs the answers of queries that depend
 * on spawning. */
void serve_spawning(RunContext& context);

} // namespace weft
