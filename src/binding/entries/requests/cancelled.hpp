// SPDX-License-Identifier: LGPL-2.1-only
/* Persistent requests that are restarted after MPI_Cancel, or cancelled after a restart. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Clears the state of a persistent @p request's last message; called before the request is started. */
void forget_last_use(MPI_Request request);

} // namespace weft
