// SPDX-License-Identifier: LGPL-2.1-only
/* Schedule of rate updates of a network's flows: at each event or, while a crowd shares links, one resolution apart. */
#pragma once

#include "fabric/fabric_tables.hpp"
#include "network/agenda.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace weft {

class UpdateSchedule {
public:
  static constexpr std::size_t CROWD =
      512; ///< number of flows that share links above which they are not updated at each instant

private:
  static constexpr double NEVER = std::numeric_limits<double>::infinity();
  TimeResolution resolution_;
  double next_         = 0;     // earliest time of the next update, if the resolution is not exact
  double due_          = NEVER; // time of the update that is on the agenda
  double first_change_ = 0;     // time of the first pending change
  double change_sum_   = 0;     // sum of the times of all pending changes
  std::size_t changes_ = 0;     // number of pending changes

public:
  void set_resolution(TimeResolution resolution) { resolution_ = resolution; }
  bool is_exact() const { return resolution_.is_exact(); }
  /** Returns whether changes at @p now are deferred to a later update. */
  bool merges(double now) const { return not is_exact() && now < next_; }
  /** Returns whether an update after one that solved @p coupled flows together is a crowd's. */
  bool has_crowd(std::size_t coupled) const { return not is_exact() && coupled > CROWD; }
  /** Records a change at @p now, which the next update applies. */
  void note_change(double now);
  /** Returns true if there is no update at @p now. */
  bool waits(double now) const { return merges(now) && not Agenda::same(now, next_); }
  /** Returns the time of the update for pending changes, unless it is already on the agenda. */
  std::optional<double> to_put_on_agenda();
  /** Begins an update at @p now. Returns the mean time of the changes that it applies, if they were deferred. */
  std::optional<double> begin_update(double now);
  /** Returns whether the update after one that solved @p coupled flows together must be delayed. */
  bool is_paced(std::size_t coupled) const { return not is_exact() && (not resolution_.automatic || coupled > CROWD); }
  /** Ends a paced update at @p now. @p duration: time that its flows take to send all their bytes. Returns the minimum
   * time until the next update. */
  double end_update(double now, double duration);
  /** Removes the update that was on the agenda. */
  void clear() { due_ = NEVER; }
};

} // namespace weft
