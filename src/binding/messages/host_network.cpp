// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/host_network.hpp"

#include "base/error.hpp"
#include "binding/abi/smpi/host_extensions.hpp"
#include "binding/observe/profile.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <simgrid/simcall.hpp>
#include <stdexcept>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace weft {
namespace {

/** Returns the message cost that SMPI computes from the user's options. */
MessageCosts::Time smpi_cost(const Network& network,
                             double (simgrid::smpi::Host::*cost)(std::size_t, sg::Host*, sg::Host*) const, bool sender)
{
  return [&network, cost, sender](Bytes size, int from, int to) {
    sg::Host* const one   = network.host_at(from);
    sg::Host* const other = network.host_at(to);
    const auto* const mpi = (sender ? one : other)->extension<simgrid::smpi::Host>();
    return Seconds((mpi->*cost)(static_cast<std::size_t>(size.value()), one, other));
  };
}

/** Returns true if a host has a property that overrides an option of SMPI. */
bool a_host_says(const char* option, int hosts, const Network& network)
{
  for (int number = 0; number < hosts; ++number)
    if (const sg::Host* const host = network.host_at(number); host && host->get_property(option))
      return true;
  return false;
}

} // namespace

MessageCosts message_costs(const Fabric& fabric, const Network& network)
{
  using simgrid::config::get_value;
  using simgrid::config::is_default;
  MessageCosts costs     = costs_of(fabric.mpi(), fabric.host());
  costs.detached_below   = Bytes(get_value<int>("smpi/send-is-detached-thresh"));
  costs.eager_below      = Bytes(get_value<int>("smpi/async-small-thresh"));
  const auto smpi_unless = [&](MessageCosts::Time& time, const char* option, auto cost, bool sender) {
    if (not is_default(option) || a_host_says(option, fabric.host_count(), network))
      time = smpi_cost(network, cost, sender);
  };
  smpi_unless(costs.blocking_send, "smpi/os", &simgrid::smpi::Host::osend, true);
  smpi_unless(costs.send, "smpi/ois", &simgrid::smpi::Host::oisend, true);
  smpi_unless(costs.receive, "smpi/or", &simgrid::smpi::Host::orecv, false);
  return costs;
}

Seconds HostNetwork::now() const
{
  return Seconds(sg::Engine::get_clock());
}

// NOLINTBEGIN(performance-unnecessary-value-param): networks that have files keep it
void HostNetwork::start_storage_flow(VertexId /*from*/, VertexId /*to*/, const std::vector<int>& /*storage*/,
                                     Bytes /*bytes*/, BytesPerSecond /*limit*/, FlowEnd /*done*/)
{
  refuse("files of MPI need weft's own network on a fabric", {});
}

std::uint64_t HostNetwork::start_breakable_flow(const StreamFlow& /*flow*/, Seconds /*latency*/, Seconds /*sharing*/,
                                                int /*world*/, FlowEnd /*done*/)
{
  throw std::logic_error("only weft's own network has faults");
}
// NOLINTEND(performance-unnecessary-value-param)

double HostNetwork::left_of_flow(std::uint64_t /*number*/)
{
  throw std::logic_error("only weft's own network has faults");
}

double HostNetwork::cancel_flow(std::uint64_t /*number*/)
{
  throw std::logic_error("only weft's own network has faults");
}

Recovery& HostNetwork::begin_faults(FabricState& /*actual*/, FabricState& /*known*/, const RecoveryModel& /*model*/,
                                    LinkLosses& /*losses*/)
{
  throw std::logic_error("only weft's own network has faults");
}

void HostNetwork::call_after(Seconds delay, Due& receiver, std::uint64_t what)
{
  agenda_.add(Seconds(sg::Engine::get_clock()) + delay, receiver, what);
  wake();
}

std::uint64_t HostNetwork::start_timer(Seconds delay, Due& receiver, std::uint64_t what)
{
  if (idle_timers_.empty()) {
    idle_timers_.push_back(timers_.size());
    timers_.push_back(nullptr);
  }
  const std::uint64_t number = idle_timers_.back();
  idle_timers_.pop_back();
  timers_[number] = Timer::set(sg::Engine::get_clock() + delay.value(), [this, number, &receiver, what] {
    idle_timers_.push_back(number); // SimGrid deletes the timer
    receiver.due(what);
  });
  return number;
}

void HostNetwork::cancel_timer(std::uint64_t number)
{
  timers_[number]->remove();
  idle_timers_.push_back(number);
}

void HostNetwork::wake()
{
  if (running_ || (timer_ && timer_->get_date() <= agenda_.next().value()))
    return;
  simgrid::kernel::actor::simcall_answered([this] { set_timer(); });
}

void HostNetwork::advance_by_calls()
{
  by_calls_ = true;
  Profile::get().on_entry([this](aid_t actor) { enter(actor); });
}

void HostNetwork::begin_progress(aid_t actor, ProgressedCall& call, int rank)
{
  entries_.outstanding[actor].push_back({&call, rank});
}

void HostNetwork::end_progress(aid_t actor, const ProgressedCall& call)
{
  std::erase_if(entries_.outstanding[actor], [&call](const Outstanding& one) { return one.call == &call; });
}

/** Called by a rank, which then sees the call's request in the new state (MPI_Test). */
void HostNetwork::enter(aid_t actor)
{
  const std::vector<Outstanding>* const calls = entries_.outstanding.find(actor);
  if (not calls || calls->empty())
    return;
  agenda_.add(Seconds(sg::Engine::get_clock()), entries_, static_cast<std::uint64_t>(actor));
  simgrid::kernel::actor::simcall_answered([this] {
    if (timer_)
      timer_->remove();
    run();
  });
}

void HostNetwork::Entries::due(std::uint64_t actor)
{
  // Iterates over a copy, since a call that ends removes itself from the list.
  for (const Outstanding& one : std::vector(outstanding[static_cast<aid_t>(actor)]))
    one.call->make_progress(one.rank);
}

void HostNetwork::end_background()
{
  --background_;
  if (background_ > 0 || running_ || calls_ > 0 || messages_ > 0)
    return;
  agenda_.clear();
  if (timer_)
    timer_->remove();
  timer_ = nullptr;
}

void HostNetwork::set_timer()
{
  if (timer_)
    timer_->remove();
  timer_ = Timer::set(std::max(agenda_.next().value(), sg::Engine::get_clock()), [this] { run(); });
}

void HostNetwork::run()
{
  timer_   = nullptr; // SimGrid deletes it
  running_ = true;
  try {
    agenda_.run_until(Seconds(sg::Engine::get_clock()));
  } catch (const UserError& problem) {
    refuse(problem.what(), {});
  }
  running_ = false;
  ended_.clear();
  // Without calls and messages, the remaining entries are obsolete ends of flows that ended earlier; the run must not
  // wait for them.
  if (calls_ == 0 && messages_ == 0 && background_ == 0)
    agenda_.clear();
  if (agenda_.next() < Seconds(std::numeric_limits<double>::infinity()))
    set_timer();
}

} // namespace weft
