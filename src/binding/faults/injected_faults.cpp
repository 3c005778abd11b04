// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/faults/injected_faults.hpp"

#include "binding/faults/fault_rows.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

InjectedFaults::InjectedFaults(RunContext& context)
    : context_(context), actual_(context.fabric), description_(read_faults(settings().faults)),
      losses_(description_.losses)
{
}

void InjectedFaults::serve(RunContext& context)
{
  if (settings().faults.empty())
    return;
  auto* const faults = new InjectedFaults(context); // lives as long as the process
  context.call_recovery.emplace(
      CallRecovery{faults->description_.policy, faults->description_.recovery, faults->actual_, faults->losses_});
  context.record_parts.push_back(faults);
  context.hosts_down = [faults] { return faults->hosts_down(); };
  context.at_last_exit.emplace_back([faults] { faults->end(); });
  // The network is known once the ranks have started. SMPI starts the simulation without the engine's signal.
  simgrid::kernel::timer::Timer::set(0, [faults] { faults->begin(); });
}

void InjectedFaults::begin()
{
  if (ended_)
    return;
  HostNetwork& network = context_.host_network();
  network.begin_background();
  recovery_ = &network.begin_faults(actual_, context_.state, description_.recovery, losses_);
  await();
}

/** Schedules the next event. */
void InjectedFaults::await()
{
  if (next_ < description_.events.size())
    context_.host_network().call_after(description_.events[next_].at - Seconds(sg::Engine::get_clock()), *this, 0);
}

void InjectedFaults::due(std::uint64_t /*what*/)
{
  if (ended_)
    return;
  const FaultEvent& event = description_.events[next_++];
  hidden_.push_back(false); // before anything that may end the run, and write the record
  if (event.without_state)
    context_.call_recovery->tell([&event](BreakableCall& call) { call.lose_state(*event.without_state); });
  const bool changes = recovery_->apply(event.changes);
  hidden_.back()     = event.changes_what_is_up() && not changes;
  tell_calls(event.changes);
  for (const int host : event.dead_hosts)
    context_.hosts_died({{host, event.at}});
  await();
}

/** Tells calls of switches that are down, and of the bandwidths of links. */
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

std::map<int, Seconds> InjectedFaults::hosts_down() const
{
  const double now = sg::Engine::get_clock();
  std::map<int, int> faults; // that hold each host
  std::map<int, Seconds> since;
  for (const FaultEvent& event : description_.events) {
    if (event.at.value() > now && not Agenda::same(event.at.value(), now))
      break;
    for (const int host : event.dead_hosts)
      if (++faults[host] == 1)
        since[host] = event.at;
    for (const int host : event.repaired_hosts)
      if (--faults[host] == 0)
        since.erase(host);
  }
  return since;
}

void InjectedFaults::end()
{
  if (std::exchange(ended_, true) || not recovery_)
    return;
  context_.host_network().end_background();
}

void InjectedFaults::add_rows(Json& record) const
{
  const RecoveryCounts counts = recovery_ ? recovery_->counts() : RecoveryCounts();
  Json events                 = Json::array();
  for (std::size_t at = 0; at < next_; ++at) {
    events.push_back({{"at_s", description_.events[at].at.value()}, {"what", description_.events[at].what}});
    if (hidden_[at])
      events.back()["hidden"] = true;
  }
  record["faults"] =
      fault_rows(std::move(events), description_.events.size() - next_, counts, &*context_.call_recovery);
}

} // namespace weft
