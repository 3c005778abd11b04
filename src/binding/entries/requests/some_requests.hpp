// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "binding/requests/request_list.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Returns MPI_SUCCESS, or MPI_ERR_IN_STATUS if the last MPI_Waitsome completed a request with an error. SMPI's
 * function returns no error. */
int error_of_last_waitsome();

/** Completes the finished requests of a list, at least one, like MPI_Waitsome. @return their number */
int wait_for_some(RequestList& list, int* indices, MPI_Status* statuses);
/** Completes the finished requests of a list like MPI_Testsome, and sets their number. */
int test_some(RequestList& list, int* ended, int* indices, MPI_Status* statuses);

} // namespace weft
