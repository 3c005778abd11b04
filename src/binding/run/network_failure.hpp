// SPDX-License-Identifier: LGPL-2.1-only
/* Network failures detected while no rank runs. */
#pragma once

#include <string>

namespace weft {

class RunContext;

/** Ends the job of @p world because the network has failed. @p whose: the subject of a clause, which needs the network.
 * Called by SimGrid's kernel; returns if other jobs continue. */
void end_job_for_failure(RunContext& context, int world, const std::string& failure, const std::string& whose);

} // namespace weft
