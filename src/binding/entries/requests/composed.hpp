// SPDX-License-Identifier: LGPL-2.1-only
/* Requests that complete with several others: MPI_Isendrecv, and request-based one-sided calls.
 *
 * SMPI's MPI_Isendrecv does not set the status of its receive, and completes immediately if one side is
 * MPI_PROC_NULL. */
#pragma once

#include <smpi/smpi.h>

#include <span>

namespace weft {

/** Returns a request that completes once all @p parts, non-persistent requests, are complete. Its status is the last
 * part's. Without parts it is complete. */
MPI_Request compose(std::span<const MPI_Request> parts);

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
int composed_Isendrecv(decltype(&PMPI_Isendrecv) next_definition, const void* sent, int send_count,
                       MPI_Datatype send_type, int to, int send_tag, void* received, int receive_count,
                       MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm, MPI_Request* request);

} // namespace weft
