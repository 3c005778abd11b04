// SPDX-License-Identifier: LGPL-2.1-only
/* Whether requests have numbers, by which Fortran knows them. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Whether @p request has one. It is not looked at where none has: it may be far away. */
bool has_number(MPI_Request request);

} // namespace weft
