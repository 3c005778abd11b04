// SPDX-License-Identifier: LGPL-2.1-only
/* Persistent requests that are restarted after MPI_Cancel, or cancelled after a restart. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Removes what a persistent @p request keeps of its last message; called before it is started. */
void forget_last_use(MPI_Request request);

} // namespace weft
