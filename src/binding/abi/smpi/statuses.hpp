// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's functions on statuses (src/smpi/include/smpi_status.hpp). */
#pragma once

#include <smpi/smpi.h>

namespace simgrid::smpi {

class Status {
public:
  static void empty(MPI_Status* status); ///< may be MPI_STATUS_IGNORE
};

} // namespace simgrid::smpi
