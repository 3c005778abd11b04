// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a workload on a network of its own, which background traffic and faults may disturb. */
#pragma once

#include "fabric/fabric.hpp"
#include "workload/iteration.hpp"
#include "workload/program.hpp"

namespace weft {

/** Executes a workload with one rank per host, in order; executes it again without reuse if the reuse of calls turns
 * out to be wrong. On a network of packets, all calls are executed. Throws UserError, naming ranks and operations, if
 * it cannot finish, or if the options need flows. */
IterationTimes run_iteration(const Workload& workload, const Fabric& fabric, IterationOptions options);

} // namespace weft
