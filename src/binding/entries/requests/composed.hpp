// SPDX-License-Identifier: LGPL-2.1-only
/* Requests that end with several others: MPI_Isendrecv, and request-based one-sided calls.
 *
 * SMPI's MPI_Isendrecv has no status of its receive, and ends at once if one side is MPI_PROC_NULL. */
#pragma once

#include <smpi/smpi.h>

#include <span>

namespace weft {

/** Returns a request that ends once all @p parts, non-persistent requests, have ended. Its status is the last part's.
 * Without parts it has ended. */
MPI_Request compose(std::span<const MPI_Request> parts);

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
int composed_Isendrecv(decltype(&PMPI_Isendrecv) next_definition, const void* sent, int send_count,
                       MPI_Datatype send_type, int to, int send_tag, void* received, int receive_count,
                       MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm, MPI_Request* request);

} // namespace weft
