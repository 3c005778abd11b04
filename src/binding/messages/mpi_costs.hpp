// SPDX-License-Identifier: LGPL-2.1-only
/* The MPI library's part of a message, told to SMPI. */
#pragma once

#include "binding/platform/core_noise.hpp"
#include "fabric/fabric.hpp"

#include <optional>

namespace weft {

/** Make SMPI use what @p fabric says, but for what the command line sets, with the detours of the ranks' cores. Must
 *  come before SMPI starts the ranks. */
void set_mpi_costs(const Fabric& fabric, CoreNoise& noise);

/** Cost of a poll that finds nothing; nothing where the run has chosen smpi/test or smpi/iprobe. */
std::optional<Seconds> poll_overhead(const Fabric& fabric);

} // namespace weft
