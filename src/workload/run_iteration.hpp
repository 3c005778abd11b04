// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a workload on a network of its own, which background traffic and faults may disturb. */
#pragma once

#include "fabric/fabric.hpp"
#include "workload/iteration.hpp"
#include "workload/program.hpp"

namespace weft {

/** Executes a workload with one rank per host, in order; executes it again without reuse if the reuse of calls turns
 * out to be wrong. Throws UserError, naming ranks and operations, if it cannot finish. */
IterationTimes run_iteration(const Workload& workload, const Fabric& fabric, IterationOptions options);

} // namespace weft
