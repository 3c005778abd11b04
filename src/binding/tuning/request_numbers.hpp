// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran numbers of requests. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Returns true if @p request has a number. Returns early if no request has one, which avoids a
 *  cache miss. */
bool has_number(MPI_Request request);

} // namespace weft
