// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

namespace weft {

/** Returns MPI_SUCCESS, or MPI_ERR_IN_STATUS if the last MPI_Waitsome completed a request with an error. SMPI's
 * function returns no error. */
int error_of_last_waitsome();

} // namespace weft
