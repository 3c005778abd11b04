// SPDX-License-Identifier: LGPL-2.1-only
/* Requests of messages to and from MPI_PROC_NULL (MPI 4.1, 3.10), which complete immediately.
 *
 * SMPI looks up the actor of MPI_PROC_NULL when a persistent one is started, and frees the program's handle when it is
 * waited for. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Adds the operation that starts a message to or from MPI_PROC_NULL to the persistent request that SMPI has created
 * with @p result.
 * @return @p result */
int add_null_message(int result, int peer, const MPI_Request* request);

// NOLINTBEGIN(readability-identifier-naming): MPI's names
/** Create persistent messages; @p next_definition creates SMPI's. */
int null_peer_Recv_init(decltype(&PMPI_Recv_init) next_definition, void* buffer, int count, MPI_Datatype type, int peer,
                        int tag, MPI_Comm comm, MPI_Request* request);
int null_peer_Send_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                        int peer, int tag, MPI_Comm comm, MPI_Request* request);
int null_peer_Rsend_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                         int peer, int tag, MPI_Comm comm, MPI_Request* request);
int null_peer_Ssend_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                         int peer, int tag, MPI_Comm comm, MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
