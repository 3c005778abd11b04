/* What each collective says of one rank's call: shared by its blocking and its non-blocking form, @p name is which.
 *
 * Where MPI asks only for equal type signatures (count x type), ranks are held to the same number of bytes.
 */
#pragma once

#include "simgrid/described.hpp"
#include "simgrid/exchange.hpp"

namespace weft {

Described describe_allreduce(const char* name, int count, MPI_Datatype type, MPI_Op operation);
Described describe_reduce(const char* name, int count, MPI_Datatype type, MPI_Op operation, int root);
Described describe_reduce_scatter(const char* name, const int* counts, MPI_Datatype type, MPI_Op operation,
                                  MPI_Comm comm);
Described describe_barrier(const char* name);
Described describe_bcast(const char* name, int count, MPI_Datatype type, int root);
Described describe_allgather(const char* name, int count, MPI_Datatype type, MPI_Comm comm);
Described describe_allgatherv(const char* name, const int* counts, MPI_Datatype type, MPI_Comm comm);
/** Gather: what a rank gives, and what the root gets of each. Scatter: what a rank gets, and what the root gives each.
 */
Described describe_gather(const char* name, int count, MPI_Datatype type, int root_count, MPI_Datatype root_type,
                          int root, MPI_Comm comm);
/** Gatherv and Scatterv: only the root knows every rank's count. */
Described describe_gatherv(const char* name, int count, MPI_Datatype type, int root);
Described describe_scan(const char* name, int count, MPI_Datatype type, MPI_Op operation);
Described describe_alltoall(const char* name, int count, MPI_Datatype type, MPI_Comm comm);
Described describe_alltoallv(const char* name, const int* counts, MPI_Datatype type, MPI_Comm comm);
Described describe_alltoallw(const char* name, const int* counts, const MPI_Datatype* types, MPI_Comm comm);

RankBuffers reduction_buffers(const void* send, void* receive, int count, MPI_Datatype type);
RankBuffers reduce_scatter_buffers(const void* send, void* receive, const int* counts, MPI_Datatype type,
                                   MPI_Comm comm);

} // namespace weft
