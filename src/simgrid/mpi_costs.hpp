// SPDX-License-Identifier: LGPL-2.1-only
/* The MPI library's part of a message, told to SMPI. */
#pragma once

#include "fabric/mpi_model.hpp"

namespace weft {

/** Make SMPI use @p model, but for what the command line sets. Must come before SMPI starts the ranks. */
void set_mpi_costs(const MpiModel& model);

} // namespace weft
