// SPDX-License-Identifier: LGPL-2.1-only
/* Staging ring: chunks that wait at a host for the workers of one rank and communicator.
 *
 * A fluid model, except for dropped chunks: chunks arrive at a constant rate while they cross the cable, workers
 * process at their rate, and the ring stores the difference. While the ring is full, chunks are accepted at the rate of
 * the workers; the remaining chunks find no receive request and are dropped (receiver not ready; Khalilov et al., SC
 * '24, section III-C). Sleeping workers are woken by the first chunk, and process nothing until they are awake.
 *
 * The egress buffer of a switch towards a host uses the same model, with the link as the worker.
 */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class StagingRing {
public:
  /** Chunks that arrive at a constant rate. */
  struct Arrival {
    double first  = 0; ///< start of the first chunk's arrival, s
    double last   = 0; ///< end of the last chunk's arrival
    double chunks = 0;
  };
  struct Taken {
    double processed = 0;           ///< time at which the last accepted chunk has been processed, s
    std::vector<std::int64_t> lost; ///< indices of the dropped chunks, increasing
  };

  /** @p room: capacity in chunks, may be infinite. @p activation: wake-up time of the workers. */
  explicit StagingRing(double room, Seconds activation = {}) : room_(room), activation_(activation.value()) {}

  /** Adds an arrival. Call it in order of the arrivals' ends; arrivals may overlap. @p rate: chunks per second that the
   * workers process meanwhile. @p going: start times of other arrivals of the same rate that are still in progress. */
  Taken take(const Arrival& arrival, double rate, std::span<const double> going = {});
  /** Returns true if the workers sleep at @p time, given the start times of current arrivals. */
  bool sleeps(double time, std::span<const double> coming) const;

private:
  double room_;
  double activation_;
  double awake_ = -1; // time at which workers are awake; negative: no chunk has arrived
  double level_ = 0;  // at since_
  double since_ = 0;
  std::vector<Arrival> known_; // arrivals that later ones may overlap

  /** Simulates from since_ to @p end and returns the level. Calls @p full for each period in which chunks are dropped,
   *  with the fraction that is kept. */
  template <typename Full>
  double run_to(const std::vector<Arrival>& arrivals, double end, double rate, const Full& full) const;
  void forget_before(double time, double rate);
};

} // namespace weft
