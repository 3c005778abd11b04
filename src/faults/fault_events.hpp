// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of a run as a list of events, each of which begins or ends some at one instant. */
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

/** Reaction of a call in the network whose tree is hit. */
enum class CallPolicy : std::uint8_t {
  resend,  ///< it goes on from its last complete window when its tree is up again
  rebuild, ///< it is repeated over a new tree
  hosts,   ///< it is repeated by the hosts
  abort,   ///< the job ends
};

/** Changes at one instant. */
struct FaultEvent {
  Seconds at;
  std::string what; ///< as messages and the record name it
  std::vector<FabricChange> changes;
  std::optional<int> without_state; ///< switch that loses its state
  std::vector<int> dead_hosts;      ///< whose ranks die
  std::vector<int> repaired_hosts;  ///< for each, one fault of dead_hosts is over

  /** Returns whether a link or switch goes down or comes up, unless another fault holds it down. */
  bool changes_what_is_up() const;
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
    bool hidden; ///< it has left what it names as it was, since other faults hold that down
  };
  std::vector<Event> events;
  std::size_t left = 0; ///< events after the end
  RecoveryCounts counts;
};

/** Events of a description as time passes. */
class FaultEvents {
  std::vector<FaultEvent> all_;
  std::size_t next_ = 0;
  std::vector<bool> hidden_; // by past event: its links or switches stay down through other faults

public:
  explicit FaultEvents(std::vector<FaultEvent> events) : all_(std::move(events)) {}
  /** Returns when the next event happens; nothing after the last one. */
  std::optional<Seconds> next() const { return next_ < all_.size() ? std::optional(all_[next_].at) : std::nullopt; }
  /** Returns the next event, which counts as past from now on. */
  const FaultEvent& begin();
  /** Applies the changes of the latest event. */
  void apply(Recovery& recovery);
  /** Returns what has happened; @p recovery: null if nothing has. */
  FaultReport report(const Recovery* recovery) const;
  /** Returns the hosts that are down at @p now, with the times at which they failed. */
  std::map<int, Seconds> hosts_down(Seconds now) const;
};

} // namespace weft
