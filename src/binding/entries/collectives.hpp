// SPDX-License-Identifier: LGPL-2.1-only
/* weft's entries in SMPI's registry of collective algorithms.
 *
 * Each entry counts the call, holds it against the other ranks' and then offloads it or hands it to the algorithm that
 * the user chose. SMPI has checked the arguments, replaced MPI_IN_PLACE and stopped the rank's clock of computation.
 */
#pragma once

#include "binding/run/run_context.hpp"

namespace weft {

/** Register the entries and have SMPI select them; what was selected before becomes the fallback. Throws UserError
 *  where SMPI has no algorithm of the selected name. */
void register_collectives(RunContext& context);

/** Carry them out as the run's hosts do, not counted, whatever switches could do. */
int hosts_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int hosts_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, MPI_Comm comm);

} // namespace weft
