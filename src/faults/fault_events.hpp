// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of a run as a list of events, each of which begins or ends faults at one instant. */
#pragma once

#include "base/units.hpp"
#include "faults/recovery.hpp"
#include "network/link_losses.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** Reaction of an in-network call whose tree is hit. */
enum class CallPolicy : std::uint8_t {
  resend,  ///< continues from its last complete window when its tree is up again
  rebuild, ///< is repeated over a new tree
  hosts,   ///< is repeated by the hosts
  abort,   ///< the job ends
};

/** Changes at one instant. */
struct FaultEvent {
  Seconds at;
  std::string what; ///< name in messages and the record
  std::vector<FabricChange> changes;
  std::optional<int> without_state; ///< switch that loses its state
  std::vector<int> dead_hosts;      ///< hosts whose ranks die
  std::vector<int> repaired_hosts;  ///< hosts for which one fault of dead_hosts is over

  /** Returns whether a link or switch changes between up and down, unless another fault holds it down. */
  bool changes_what_is_up() const;
  /** Returns whether it changes nothing but the losses and the bandwidths of links. */
  bool only_degrades() const
  {
    return not changes_what_is_up() && not without_state && dead_hosts.empty() && repaired_hosts.empty();
  }
};

struct FaultDescription {
  RecoveryModel recovery;
  LossModel losses;
  CallPolicy policy = CallPolicy::hosts;
  std::vector<FaultEvent> events; ///< by time
};

/** Faults of a run, and the reactions to them. */
struct FaultReport {
  struct Event {
    double at_s;
    std::string what;
    bool hidden; ///< had no effect on its links or switches, since other faults hold them down
  };
  std::vector<Event> events;
  std::size_t left = 0; ///< number of events after the end
  RecoveryCounts counts;
};

/** Sequence of a description's events in simulated time. */
class FaultEvents {
  std::vector<FaultEvent> all_;
  std::size_t next_ = 0;
  std::vector<bool> hidden_; // by past event: other faults hold its links or switches down

public:
  explicit FaultEvents(std::vector<FaultEvent> events) : all_(std::move(events)) {}
  /** Returns the time of the next event; nothing after the last one. */
  std::optional<Seconds> next() const { return next_ < all_.size() ? std::optional(all_[next_].at) : std::nullopt; }
  /** Returns the next event and marks it as past. */
  const FaultEvent& begin();
  /** Applies the changes of the latest event. */
  void apply(Recovery& recovery);
  /** Returns the events so far; @p recovery: null if there were none. */
  FaultReport report(const Recovery* recovery) const;
  /** Returns the hosts that are down at @p now, with the times of their failure. */
  std::map<int, Seconds> hosts_down(Seconds now) const;
};

} // namespace weft
