// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives that need none of what SMPI does before its algorithms: straight to the algorithm.
 *
 * SMPI's functions check their arguments, count by count for all ranks, describe the call for a trace that nobody
 * writes, and read clocks: a third and more of what a call costs where weft carries it out. Where all of that would
 * change nothing, weft leaves it out; @p theirs is SMPI's function, for all other calls and for whatever is wrong.
 */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Whether the call that is being started is the program's own, with buffers of its own, which MPI lets nobody change
 * before it has ended; to be asked once, at the beginning of what PMPI_I… call. */
bool buffers_stay();

/** SMPI has checked an operation with a datatype, and calls the algorithm: the calls of other ranks, and further ones,
 *  go there without it. */
void let_pass(MPI_Op op, MPI_Datatype type);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int direct_Finalize(decltype(&PMPI_Finalize) theirs);
int direct_Wait(decltype(&PMPI_Wait) theirs, MPI_Request* request, MPI_Status* status);
int direct_Waitall(decltype(&PMPI_Waitall) theirs, int count, MPI_Request* requests, MPI_Status* statuses);
int direct_Ibcast(decltype(&PMPI_Ibcast) theirs, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                  MPI_Request* request);
int direct_Allreduce(decltype(&PMPI_Allreduce) theirs, const void* send, void* receive, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm);
int direct_Reduce(decltype(&PMPI_Reduce) theirs, const void* send, void* receive, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
int direct_Iallreduce(decltype(&PMPI_Iallreduce) theirs, const void* send, void* receive, int count, MPI_Datatype type,
                      MPI_Op op, MPI_Comm comm, MPI_Request* request);
int direct_Ireduce_scatter(decltype(&PMPI_Ireduce_scatter) theirs, const void* send, void* receive, const int* counts,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int direct_Iallgatherv(decltype(&PMPI_Iallgatherv) theirs, const void* send, int send_count, MPI_Datatype send_type,
                       void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm,
                       MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
