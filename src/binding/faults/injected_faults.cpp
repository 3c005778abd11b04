// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/faults/injected_faults.hpp"

#include "binding/faults/fault_rows.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"
#include "descriptions/fault_file.hpp"

#include <algorithm>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

InjectedFaults::InjectedFaults(RunContext& context, FaultDescription description)
    : context_(context), actual_(context.fabric), model_(description.recovery), policy_(description.policy),
      events_(std::move(description.events)), losses_(description.losses)
{
}

void InjectedFaults::serve(RunContext& context)
{
  if (settings().faults.empty())
    return;
  FaultDescription description = read_faults(settings().faults);
  const bool only_degrades     = std::ranges::all_of(description.events, &FaultEvent::only_degrades);
  auto* const faults           = new InjectedFaults(context, std::move(description)); // lives as long as the process
  context.call_recovery.emplace(
      CallRecovery{faults->policy_, faults->model_, faults->actual_, faults->losses_, only_degrades});
  context.record_parts.push_back(faults);
  context.hosts_down = [faults] { return faults->events_.hosts_down(Seconds(sg::Engine::get_clock())); };
  context.at_last_exit.emplace_back([faults] { faults->end(); });
  // Deferred until the ranks have started, when the network is known. SMPI starts the simulation without the engine's
  // signal.
  simgrid::kernel::timer::Timer::set(0, [faults] { faults->begin(); });
}

void InjectedFaults::begin()
{
  if (ended_)
    return;
  HostNetwork& network = context_.host_network();
  network.begin_background();
  recovery_ = &network.begin_faults(actual_, context_.state, model_, losses_);
  await();
}

/** Schedules the next event. */
void InjectedFaults::await()
{
  if (const auto next = events_.next())
    context_.host_network().call_after(*next - Seconds(sg::Engine::get_clock()), *this, 0);
}

void InjectedFaults::due(std::uint64_t /*what*/)
{
  if (ended_)
    return;
  const FaultEvent& event = events_.begin(); // before any action that may end the run and write the record
  if (event.without_state)
    context_.call_recovery->tell([&event](BreakableCall& call) { call.lose_state(*event.without_state); });
  events_.apply(*recovery_);
  tell_calls(event.changes);
  for (const int host : event.dead_hosts)
    context_.hosts_died({{host, event.at}});
  await();
}

/** Notifies running calls of failed switches and of changed link bandwidths. */
void InjectedFaults::tell_calls(const std::vector<FabricChange>& changes)
{
  CallRecovery& recovery = *context_.call_recovery;
  bool is_slow           = false;
  for (const FabricChange& change : changes) {
    if (change.what == FabricChange::What::device && not change.over)
      recovery.tell([&change](BreakableCall& call) { call.lose_state(change.number); });
    if (change.what == FabricChange::What::bandwidth) {
      recovery.bandwidths[change.number] = recovery_->in_force().bandwidth(change.number);
      is_slow                            = true;
    }
  }
  if (is_slow)
    recovery.tell([](BreakableCall& call) { call.change_bandwidths(); });
}

void InjectedFaults::end()
{
  if (std::exchange(ended_, true) || not recovery_)
    return;
  context_.host_network().end_background();
}

void InjectedFaults::add_rows(Json& record) const
{
  record["faults"] = fault_rows(events_.report(recovery_), &*context_.call_recovery);
}

} // namespace weft
