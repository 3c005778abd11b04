// SPDX-License-Identifier: LGPL-2.1-only
/* Message costs of the MPI library, passed to SMPI. */
#pragma once

#include "binding/platform/core_noise.hpp"
#include "fabric/fabric.hpp"

#include <optional>

namespace weft {

/** Makes SMPI use the costs of @p fabric, with OS noise of the ranks' cores; command-line options take precedence. Call
 * it before SMPI starts the ranks. */
void set_mpi_costs(const Fabric& fabric, CoreNoise& noise);

/** Cost of a failed poll; empty if the run sets smpi/test or smpi/iprobe. */
std::optional<Seconds> poll_overhead(const Fabric& fabric);

} // namespace weft
