// SPDX-License-Identifier: LGPL-2.1-only
/* What each collective says of one rank's call: shared by its blocking and its non-blocking form.
 *
 * Where MPI asks only for equal type signatures (count x type), ranks are held to the same number of bytes.
 */
#pragma once

#include "binding/data/described.hpp"
#include "binding/data/exchange.hpp"

namespace weft {

/** Allreduce, Reduce, Scan and Exscan. */
Described describe_reduction(CalledCollective called, std::int64_t count, MPI_Datatype type, MPI_Op operation,
                             int root = -1);
Described describe_reduce_scatter(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Op operation,
                                  MPI_Comm comm);
Described describe_barrier(CalledCollective called);
Described describe_bcast(CalledCollective called, int count, MPI_Datatype type, int root);
Described describe_allgather(CalledCollective called, int count, MPI_Datatype type, MPI_Comm comm);
Described describe_allgatherv(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Comm comm);
/** Gather: what a rank gives, and what the root gets of each. Scatter: what a rank gets, and what the root gives each.
 */
Described describe_gather(CalledCollective called, int count, MPI_Datatype type, int root_count, MPI_Datatype root_type,
                          int root, MPI_Comm comm);
/** Gatherv and Scatterv: only the root knows every rank's count. */
Described describe_gatherv(CalledCollective called, int count, MPI_Datatype type, int root);
Described describe_alltoall(CalledCollective called, int count, MPI_Datatype type, MPI_Comm comm);
Described describe_alltoallv(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Comm comm);
Described describe_alltoallw(CalledCollective called, const int* counts, const MPI_Datatype* types, MPI_Comm comm);

RankBuffers reduction_buffers(const void* send, void* receive, int count, MPI_Datatype type);
RankBuffers reduce_scatter_buffers(const void* send, void* receive, const int* counts, MPI_Datatype type,
                                   MPI_Comm comm);

} // namespace weft
