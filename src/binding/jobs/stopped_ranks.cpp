// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/stopped_ranks.hpp"

#include "binding/abi/kernel/actors.hpp"
#include "binding/abi/kernel_scope.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>

namespace weft {

// A suspended actor that is woken yields again (ActorImpl::yield() in SimGrid's src/kernel/actor/ActorImpl.cpp), and
// its activities use no resources.
void stop_ranks(const Job& job)
{
  const KernelScope kernel;
  const auto stop = [](aid_t actor) {
    if (const simgrid::s4u::ActorPtr its = simgrid::s4u::Actor::by_pid(actor))
      its->get_impl()->suspend();
  };
  for (const aid_t rank : job.actors) {
    stop(rank);
    std::ranges::for_each(threads_of_rank(rank), stop);
  }
}

void stay_stopped()
{
  for (simgrid::kernel::actor::ActorImpl* const rank = simgrid::s4u::Actor::self()->get_impl();;)
    rank->yield();
}

} // namespace weft
