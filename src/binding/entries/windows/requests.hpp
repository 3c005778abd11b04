// SPDX-License-Identifier: LGPL-2.1-only
/* Requests of MPI_Rput, MPI_Rget, MPI_Raccumulate and MPI_Rget_accumulate.
 *
 * SMPI returns MPI_REQUEST_NULL for calls that complete immediately and for MPI_Rget_accumulate, and does not complete
 * an MPI_Rget at the end of its epoch. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Calls @p call with a null request, and replaces the request that it sets by one that completes at the end of an
 * epoch.
 */
template <class Call> int with_window_request(MPI_Win win, MPI_Request* request, Call&& call);

/** Replaces the request of a one-sided call, which is MPI_REQUEST_NULL if the call is complete. */
MPI_Request window_request(MPI_Win win, MPI_Request request);

/** Completes the requests of a window. */
void complete_window_requests(MPI_Win win);

template <class Call> int with_window_request(MPI_Win win, MPI_Request* request, Call&& call)
{
  if (request)
    *request = MPI_REQUEST_NULL;
  const int result = call();
  if (result == MPI_SUCCESS && request)
    *request = window_request(win, *request);
  return result;
}

} // namespace weft
