// SPDX-License-Identifier: LGPL-2.1-only
/* Descriptors of calls from the arguments of MPI's functions, shared by the blocking and the non-blocking form: each
 * function fills the descriptor passed to it (blocking("allreduce")). The number of ranks is filled in when the call is
 * entered.
 *
 * Where MPI requires only equal type signatures (count x type), ranks must agree on the number of bytes. */
#pragma once

#include "binding/data/exchange.hpp"
#include "model/collective/call_descriptor.hpp"

namespace weft {

/** Describes an Allreduce, Reduce, Scan or Exscan. */
CallDescriptor describe_reduction(CallDescriptor call, std::int64_t count, MPI_Datatype type, MPI_Op operation,
                                  int root = -1);
CallDescriptor describe_reduce_scatter(const CallDescriptor& form, const int* counts, MPI_Datatype type,
                                       MPI_Op operation, MPI_Comm comm);
CallDescriptor describe_barrier(const CallDescriptor& form);
CallDescriptor describe_bcast(const CallDescriptor& form, int count, MPI_Datatype type, int root);
CallDescriptor describe_allgather(const CallDescriptor& form, int count, MPI_Datatype type);
CallDescriptor describe_allgatherv(const CallDescriptor& form, const int* counts, MPI_Datatype type, MPI_Comm comm);
/** Describes a Gather or a Scatter: @p count elements are sent (Scatter: received) by a rank, and @p root_count
 * received from each rank (Scatter: sent to each) by the root. */
CallDescriptor describe_gather(const CallDescriptor& form, int count, MPI_Datatype type, int root_count,
                               MPI_Datatype root_type, int root, MPI_Comm comm);
/** Describes a Gatherv or a Scatterv, where only the root knows every rank's count. */
CallDescriptor describe_gatherv(const CallDescriptor& form, int count, MPI_Datatype type, int root);
CallDescriptor describe_alltoall(const CallDescriptor& form, int count, MPI_Datatype type, MPI_Comm comm);
CallDescriptor describe_alltoallv(const CallDescriptor& form, const int* counts, MPI_Datatype type, MPI_Comm comm);
CallDescriptor describe_alltoallw(const CallDescriptor& form, const int* counts, const MPI_Datatype* types,
                                  MPI_Comm comm);

RankBuffers reduction_buffers(const void* send, void* receive, int count, MPI_Datatype type);
RankBuffers reduce_scatter_buffers(const void* send, void* receive, const int* counts, MPI_Datatype type,
                                   MPI_Comm comm);

} // namespace weft
