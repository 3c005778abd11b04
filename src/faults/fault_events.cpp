// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/fault_events.hpp"

#include <algorithm>

namespace weft {

bool FaultEvent::changes_what_is_up() const
{
  return std::ranges::any_of(changes, [](const FabricChange& change) {
    return change.what == FabricChange::What::link || change.what == FabricChange::What::device;
  });
}

const FaultEvent& FaultEvents::begin()
{
  hidden_.push_back(false);
  return all_[next_++];
}

void FaultEvents::apply(Recovery& recovery)
{
  const FaultEvent& event = all_[next_ - 1];
  const bool changes      = recovery.apply(event.changes);
  hidden_.back()          = event.changes_what_is_up() && not changes;
}

FaultReport FaultEvents::report(const Recovery* recovery) const
{
  FaultReport report;
  for (std::size_t at = 0; at < next_; ++at)
    report.events.push_back({all_[at].at.value(), all_[at].what, hidden_[at]});
  report.left = all_.size() - next_;
  if (recovery)
    report.counts = recovery->counts();
  return report;
}

std::map<int, Seconds> FaultEvents::hosts_down(Seconds now) const
{
  std::map<int, int> faults; // number of faults that hold each host down
  std::map<int, Seconds> since;
  for (const FaultEvent& event : all_) {
    if (event.at > now && not Agenda::same(event.at.value(), now.value()))
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

} // namespace weft
