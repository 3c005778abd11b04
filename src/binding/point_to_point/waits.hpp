// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for requests of weft's transport, for direct calls. */
#pragma once

#include <smpi/smpi.h>

#include <span>

namespace weft {

/** Returns whether all active requests are own or complete, so that SMPI need not wait for any. */
bool are_plain(std::span<const MPI_Request> requests);
/** Waits for plain requests as MPI_Waitall does. Returns MPI_SUCCESS or MPI_ERR_IN_STATUS. */
int wait_for_plain(std::span<MPI_Request> requests, MPI_Status* statuses);
/** Waits for an active request of pooled_request() as MPI_Wait does. Returns MPI_SUCCESS or MPI_ERR_TRUNCATE. */
int wait_for_pooled(MPI_Request* request, MPI_Status* status);

} // namespace weft
