// SPDX-License-Identifier: LGPL-2.1-only
/* The chunks that wait at a host for the workers of one rank and communicator.
 *
 * A fluid, but for the chunks that get lost: chunks come evenly in the time in which they cross the cable, workers
 * process at their rate, and the ring holds what is left over. When it is full, of what comes as much stays as the
 * workers free; the other chunks find no request posted and are dropped (receiver not ready; Khalilov et al., SC '24,
 * section III-C). Workers that the first chunk wakes process nothing before they are awake.
 *
 * What waits in a switch for a host's cable is the same, with the cable as its worker.
 */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class StagingRing {
public:
  /** Chunks that come at an even pace. */
  struct Arrival {
    double first  = 0; ///< when the first begins to come, s
    double last   = 0; ///< when the last has come
    double chunks = 0;
  };
  struct Taken {
    double processed = 0;           ///< when the last one that was taken has been, s
    std::vector<std::int64_t> lost; ///< which of the arrival's chunks, counted from 0, rising
  };

  /** @p room: chunks that it holds; infinite where nothing bounds it. @p activation: of its workers. */
  explicit StagingRing(double room, Seconds activation = {}) : room_(room), activation_(activation.value()) {}

  /** Chunks that have come, in the order of their ends; others may have come at the same time. @p rate: chunks that its
   *  workers process a second meanwhile. @p going: when others began to come that still do, at the same pace. */
  Taken take(const Arrival& arrival, double rate, std::span<const double> going = {});
  /** Whether its workers sleep at a time, when chunks have begun to come at the times @p coming. */
  bool sleeps(double time, std::span<const double> coming) const;

private:
  double room_;
  double activation_;
  double awake_ = -1; // since when workers process; negative: no chunk has come
  double level_ = 0;  // at since_
  double since_ = 0;
  std::vector<Arrival> known_; // those that others may have come together with

  /** What happens from since_ to some time. @p full: told of each period in which chunks are dropped, with the part
   * that stays. Returns the level then. */
  template <typename Full>
  double run_to(const std::vector<Arrival>& arrivals, double end, double rate, const Full& full) const;
  void forget_before(double time, double rate);
};

} // namespace weft
