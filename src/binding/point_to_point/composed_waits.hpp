// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for requests that end with their parts (entries/requests/composed.hpp). */
#pragma once

#include <smpi/smpi.h>

#include <functional>
#include <optional>
#include <span>

namespace weft {

bool is_composed(MPI_Request request);
/** Returns whether some part of an active composed request is still active; its parts may have ended. */
bool has_active_parts(MPI_Request request);

/** Finishes the parts of a composed request. @param only_ended does so only if all have ended, otherwise waits for
 * them. @return whether they are finished */
bool finish_parts(MPI_Request request, bool only_ended);
/** Calls @p hook once the parts of a composed request are finished. */
void on_finished_parts(MPI_Request request, std::function<void(MPI_Request)> hook);
/** Returns the last part of a composed request; MPI_REQUEST_NULL if it is finished, or if there are no parts. */
MPI_Request last_part(MPI_Request request);
/** Completes the status of a composed request whose last part is finished. */
void look_at_status(MPI_Request request, MPI_Status* status);
/** Does so for a request that SMPI has finished, and forgets it. */
void take_status(MPI_Request request, MPI_Status* status);
/** Returns MPI_SUCCESS, or MPI_ERR_TRUNCATE if that was the error of the last status taken. */
int error_of_last_status();

/** Waits among the parts of composed requests and the other active requests until one of all @p requests has ended,
 * which is finished if it is not composed. @return its position; nothing if none is active */
std::optional<int> wait_among_parts(std::span<MPI_Request> requests, MPI_Status* status);

} // namespace weft
