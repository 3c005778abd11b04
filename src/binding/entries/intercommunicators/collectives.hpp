// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives on intercommunicators (MPI 5.0, section 6.2.3): each group receives the other group's data. Schedules on
 * hosts execute them, never switches. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

// NOLINTBEGIN(readability-identifier-naming): MPI's names
// The arguments are those of MPI's functions; a call without a request (null) blocks.

int between_Ibarrier(MPI_Comm comm, MPI_Request* request);
int between_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int between_Igather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int between_Igatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                     const int* displacements, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int between_Iscatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                     MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int between_Iscatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
                      void* receive, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int between_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                       MPI_Datatype type, MPI_Comm comm, MPI_Request* request);
int between_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                        const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request);
int between_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                      MPI_Datatype type, MPI_Comm comm, MPI_Request* request);
int between_Ialltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                       void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm,
                       MPI_Request* request);
int between_Ialltoallw(const void* send, const int* send_counts, const int* send_displacements,
                       const MPI_Datatype* send_types, void* receive, const int* counts, const int* displacements,
                       const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request);
int between_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                    MPI_Request* request);
int between_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Request* request);
int between_Ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, MPI_Request* request);
int between_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm, MPI_Request* request);
/** MPI does not define MPI_Scan and MPI_Exscan on intercommunicators: returns MPI_ERR_COMM. */
int between_Iscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                  MPI_Request* request);
inline constexpr auto between_Iexscan = &between_Iscan;

/** Defines the blocking form. */
#define WEFT_BLOCKING_BETWEEN(name, nonblocking)                                                                       \
  template <class... Types> int between_##name(Types... arguments)                                                     \
  {                                                                                                                    \
    return between_##nonblocking(arguments..., nullptr);                                                               \
  }
WEFT_BLOCKING_BETWEEN(Barrier, Ibarrier)
WEFT_BLOCKING_BETWEEN(Bcast, Ibcast)
WEFT_BLOCKING_BETWEEN(Gather, Igather)
WEFT_BLOCKING_BETWEEN(Gatherv, Igatherv)
WEFT_BLOCKING_BETWEEN(Scatter, Iscatter)
WEFT_BLOCKING_BETWEEN(Scatterv, Iscatterv)
WEFT_BLOCKING_BETWEEN(Allgather, Iallgather)
WEFT_BLOCKING_BETWEEN(Allgatherv, Iallgatherv)
WEFT_BLOCKING_BETWEEN(Alltoall, Ialltoall)
WEFT_BLOCKING_BETWEEN(Alltoallv, Ialltoallv)
WEFT_BLOCKING_BETWEEN(Alltoallw, Ialltoallw)
WEFT_BLOCKING_BETWEEN(Reduce, Ireduce)
WEFT_BLOCKING_BETWEEN(Allreduce, Iallreduce)
WEFT_BLOCKING_BETWEEN(Reduce_scatter, Ireduce_scatter)
WEFT_BLOCKING_BETWEEN(Reduce_scatter_block, Ireduce_scatter_block)
WEFT_BLOCKING_BETWEEN(Scan, Iscan)
WEFT_BLOCKING_BETWEEN(Exscan, Iscan)
#undef WEFT_BLOCKING_BETWEEN
// NOLINTEND(readability-identifier-naming)

} // namespace weft
