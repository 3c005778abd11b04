// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/network_failure.hpp"

#include "base/units.hpp"
#include "binding/run/run_context.hpp"

#include <simgrid/s4u/Engine.hpp>

namespace weft {

void end_job_for_failure(RunContext& context, int world, const std::string& failure, const std::string& whose)
{
  const std::string message = failure + " at " + to_text(Seconds(simgrid::s4u::Engine::get_clock())) +
                              " of simulated time, and " + whose + " needs it";
  if (Job* const job = context.jobs.launched(world))
    context.stop_job(*job, {"network-failure", message}, 1);
  else
    context.abort("network-failure", message);
}

} // namespace weft
