// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a workload on a network of its own, which background traffic and faults may disturb. */
#pragma once

#include "fabric/fabric.hpp"
#include "workload/iteration.hpp"
#include "workload/program.hpp"

namespace weft {

/** Executes a workload, a rank a host in their order; again with all calls if reusing some turns out to be wrong.
 * Throws UserError that names ranks and operations if it cannot end. */
IterationTimes run_iteration(const Workload& workload, const Fabric& fabric, IterationOptions options);

} // namespace weft
