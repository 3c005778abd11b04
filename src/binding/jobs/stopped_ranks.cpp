// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/stopped_ranks.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/abi/private_abi.hpp"

#include <simgrid/s4u.hpp>

namespace weft {

// A suspended actor that is woken yields again (ActorImpl::yield() in SimGrid's
// src/kernel/actor/ActorImpl.cpp), and its activities take no resources.
void stop_ranks(const Job& job)
{
  const KernelScope kernel;
  for (const aid_t actor : job.actors)
    if (const simgrid::s4u::ActorPtr rank = simgrid::s4u::Actor::by_pid(actor))
      rank->get_impl()->suspend();
}

void stay_stopped()
{
  for (simgrid::kernel::actor::ActorImpl* const rank = simgrid::s4u::Actor::self()->get_impl();;)
    rank->yield();
}

} // namespace weft
