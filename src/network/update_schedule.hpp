// SPDX-License-Identifier: LGPL-2.1-only
/* When the rates of a network's flows are updated: at each event, or, while a crowd shares links, a resolution apart.
 */
#pragma once

#include "fabric/fabric_tables.hpp"
#include "network/agenda.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace weft {

class UpdateSchedule {
public:
  static constexpr std::size_t CROWD = 512; ///< flows that share links: more are not updated at each instant

private:
  static constexpr double NEVER = std::numeric_limits<double>::infinity();
  TimeResolution resolution_;
  double next_         = 0;     // no update before, if the resolution is not exact
  double due_          = NEVER; // update that is on the agenda
  double first_change_ = 0;     // time of the first change that waits for an update
  double change_sum_   = 0;     // sum of the times of all that wait
  std::size_t changes_ = 0;     // number of these

public:
  void set_resolution(TimeResolution resolution) { resolution_ = resolution; }
  bool is_exact() const { return resolution_.is_exact(); }
  /** Returns whether changes at @p now wait for a later update. */
  bool merges(double now) const { return not is_exact() && now < next_; }
  /** Returns whether an update after one that solved @p coupled flows together is a crowd's. */
  bool has_crowd(std::size_t coupled) const { return not is_exact() && coupled > CROWD; }
  /** Notes a change at @p now, which counts at the next update. */
  void note_change(double now);
  /** Returns whether there is no update at @p now. */
  bool waits(double now) const { return merges(now) && not Agenda::same(now, next_); }
  /** Returns the time of the update for which changes wait, unless it is on the agenda already. */
  std::optional<double> to_put_on_agenda();
  /** Begins an update at @p now. Returns the mean time of the changes that it applies, if they have waited. */
  std::optional<double> begin_update(double now);
  /** Returns whether the update after one that solved @p coupled flows together may not follow at once. */
  bool is_paced(std::size_t coupled) const { return not is_exact() && (not resolution_.automatic || coupled > CROWD); }
  /** Ends a paced update at @p now of flows that take @p duration to send all that they have. Returns the time until
   * the next one may follow. */
  double end_update(double now, double duration);
  /** Forgets the update that was on the agenda. */
  void clear() { due_ = NEVER; }
};

} // namespace weft
