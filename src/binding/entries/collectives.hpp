// SPDX-License-Identifier: LGPL-2.1-only
/* weft's entries in SMPI's registry of collective algorithms. Each entry counts the call, compares it with the calls of
 * all other ranks, and then offloads it or passes it to the algorithm that the user chose. SMPI has already checked the
 * arguments, replaced MPI_IN_PLACE and stopped the rank's computation clock. */
#pragma once

#include "binding/run/run_context.hpp"

namespace weft {

/** Registers the entries and makes SMPI select them; the previous selection becomes the fallback.
 * Throws UserError if SMPI has no algorithm of the selected name. */
void register_collectives(RunContext& context);

/** Runs the fallback algorithm of the run's hosts, without counting the call and regardless of the capabilities of
 * switches. */
int hosts_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int hosts_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, MPI_Comm comm);

} // namespace weft
