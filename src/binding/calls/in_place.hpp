// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_IN_PLACE with derived datatypes: copies the contribution before calling SMPI's function
 * @p theirs (in_place.cpp). */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** For collectives with equal send and receive counts. */
int in_place_reduction(decltype(&PMPI_Iallreduce) next_definition, const void* send, void* receive, int count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
inline constexpr auto in_place_Iscan   = &in_place_reduction;
inline constexpr auto in_place_Iexscan = &in_place_reduction;
int in_place_Ireduce_scatter(decltype(&PMPI_Ireduce_scatter) next_definition, const void* send, void* receive,
                             const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int in_place_Ireduce_scatter_block(decltype(&PMPI_Ireduce_scatter_block) next_definition, const void* send,
                                   void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                   MPI_Request* request);
int in_place_Ialltoall(decltype(&PMPI_Ialltoall) next_definition, const void* send, int send_count,
                       MPI_Datatype send_type, void* receive, int count, MPI_Datatype type, MPI_Comm comm,
                       MPI_Request* request);
int in_place_Ialltoallv(decltype(&PMPI_Ialltoallv) next_definition, const void* send, const int* send_counts,
                        const int* send_displacements, MPI_Datatype send_type, void* receive, const int* counts,
                        const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request);
int in_place_Ialltoallw(decltype(&PMPI_Ialltoallw) next_definition, const void* send, const int* send_counts,
                        const int* send_displacements, const MPI_Datatype* send_types, void* receive, const int* counts,
                        const int* displacements, const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
