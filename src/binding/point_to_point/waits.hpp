// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for requests of weft's transport, for direct calls and long lists. */
#pragma once

#include <smpi/smpi.h>

#include <span>

namespace weft {

/** Returns whether all active requests are weft's or complete, so that SMPI need not wait for any. */
bool are_plain(std::span<const MPI_Request> requests);
/** Waits for plain requests like MPI_Waitall. Returns MPI_SUCCESS or MPI_ERR_IN_STATUS. */
int wait_for_plain(std::span<MPI_Request> requests, MPI_Status* statuses);
/** Waits for an active request of pooled_request() like MPI_Wait. Returns MPI_SUCCESS or MPI_ERR_TRUNCATE. */
int wait_for_pooled(MPI_Request* request, MPI_Status* status);

} // namespace weft
