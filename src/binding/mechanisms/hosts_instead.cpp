// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/hosts_instead.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns the fastest algorithms of the hosts, which choices refer to. There is one run per process. */
const HostFallback& fastest_hosts(RunContext& context)
{
  static const auto& fastest = *new HostFallback([&context] {
    HostFallback best = HostFallback::parse(HostFallback::BEST);
    best.predict_on(context.fabric, [&context] { return context.costs(); });
    return best;
  }());
  return fastest;
}

Selection::Choice choice_of(RunContext& context, const Communicator& communicator, const HostCall& call)
{
  if (const Selection::Choice choice = context.fallback_of(communicator).choose(call); choice.algorithm)
    return choice;
  // SMPI's algorithms need the ranks, which sleep.
  return fastest_hosts(context).choose(call);
}

} // namespace

HostsInstead::HostsInstead(RunContext& context, const Communicator& communicator, const CallDescriptor& call,
                           Repeated& repeated)
    : network_(context.host_network()), call_(repeated), actors_(network_, communicator),
      hosts_call_(host_call(
          call, [&communicator](int rank) { return communicator.rank_hosts[static_cast<std::size_t>(rank)]; })),
      choice_(choice_of(context, communicator, hosts_call_)),
      execution_(
          network_.agenda(), network_.messages_of(communicator.world), network_.costs, communicator.rank_hosts,
          [this](int rank) { return choice_.algorithm->schedule(hosts_call_, rank, choice_.tuning); }, *this,
          network_.memory),
      ranks_(communicator.size())
{
  hosts_call_ = context.fallback_of(communicator).resolved(std::move(hosts_call_), choice_);
  execution_.work_on(buffers_of_a_rank(hosts_call_));
}

void HostsInstead::start(std::shared_ptr<void> kept)
{
  kept_ = std::move(kept);
  network_.begin();
  for (int rank = 0; rank < ranks_; ++rank)
    execution_.enter(rank, Seconds(sg::Engine::get_clock()));
  network_.wake();
}

void HostsInstead::rank_ended(int rank)
{
  if (++ended_ == ranks_)
    network_.end(std::exchange(kept_, nullptr));
  call_.repetition_ended(rank);
}

} // namespace weft
