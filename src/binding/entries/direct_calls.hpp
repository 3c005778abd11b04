// SPDX-License-Identifier: LGPL-2.1-only
/* Direct calls of collective algorithms, bypassing SMPI's functions.
 *
 * SMPI's functions check their arguments, count by count for all ranks, describe the call for an unused trace, and read
 * clocks, which takes a third or more of the time of a call that weft executes. weft skips all of that if it would have
 * no effect. @p theirs is SMPI's function, for all other calls and for invalid arguments. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Returns whether the call being started is the program's own, with buffers of its own, which MPI forbids changing
 * before the call has ended. Call it once, at the start of the functions called by PMPI_I…. */
bool buffers_stay();

/** Returns whether calls on @p comm may bypass SMPI's functions. */
bool is_usable(MPI_Comm comm);

/** Records that SMPI accepts an operation with a datatype, so that calls of other ranks and later calls skip the
 * check. */
void let_pass(MPI_Op op, MPI_Datatype type);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int direct_Finalize(decltype(&PMPI_Finalize) next_definition);
int direct_Wait(decltype(&PMPI_Wait) next_definition, MPI_Request* request, MPI_Status* status);
int direct_Waitall(decltype(&PMPI_Waitall) next_definition, int count, MPI_Request* requests, MPI_Status* statuses);
int direct_Ibcast(decltype(&PMPI_Ibcast) next_definition, void* buffer, int count, MPI_Datatype type, int root,
                  MPI_Comm comm, MPI_Request* request);
int direct_Allreduce(decltype(&PMPI_Allreduce) next_definition, const void* send, void* receive, int count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int direct_Reduce(decltype(&PMPI_Reduce) next_definition, const void* send, void* receive, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
int direct_Iallreduce(decltype(&PMPI_Iallreduce) next_definition, const void* send, void* receive, int count,
                      MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int direct_Ireduce_scatter(decltype(&PMPI_Ireduce_scatter) next_definition, const void* send, void* receive,
                           const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int direct_Iallgatherv(decltype(&PMPI_Iallgatherv) next_definition, const void* send, int send_count,
                       MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                       MPI_Datatype type, MPI_Comm comm, MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
