// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for requests that complete with their parts (entries/requests/composed.hpp). */
#pragma once

#include <smpi/smpi.h>

#include <functional>
#include <optional>
#include <span>

namespace weft {

bool is_composed(MPI_Request request);
/** Returns whether some part of an active composed request is still active; its parts may be complete. */
bool has_active_parts(MPI_Request request);

/** Finishes the parts of a composed request. @param only_ended finishes them only if all are complete, otherwise waits
 * for them. @return whether they are finished */
bool finish_parts(MPI_Request request, bool only_ended);
/** Calls @p hook once the parts of a composed request are finished. */
void on_finished_parts(MPI_Request request, std::function<void(MPI_Request)> hook);
/** Returns the last part of a composed request; MPI_REQUEST_NULL if it is finished, or if there are no parts. */
MPI_Request last_part(MPI_Request request);
/** Completes the status of a composed request whose last part is finished. */
void look_at_status(MPI_Request request, MPI_Status* status);
/** Completes the status of a request that SMPI has finished, and removes its entry. */
void take_status(MPI_Request request, MPI_Status* status);
/** Returns MPI_SUCCESS, or MPI_ERR_TRUNCATE if the last status taken had that error. */
int error_of_last_status();

/** Waits among the parts of composed requests and all other active requests until one of @p requests is complete, and
 * finishes it if it is not composed. @return its index; nothing if none is active */
std::optional<int> wait_among_parts(std::span<MPI_Request> requests, MPI_Status* status);

} // namespace weft
