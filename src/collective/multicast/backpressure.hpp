// SPDX-License-Identifier: LGPL-2.1-only
/* Backpressure of lossless links on the roots of one multicast call.
 *
 * Roots that together exceed the rate of a receiver's cable fill the switches' buffers, which then throttle the roots.
 * The model is generalized processor sharing (Parekh and Gallager, IEEE/ACM Transactions on Networking 1(3), 1993) with
 * block sizes as weights: all blocks in flight progress by the same fraction per second, at the rate of the fastest of
 * the receivers that get the most data. Blocks that start together leave together, and times change continuously with
 * the starts.
 *
 * Members that nothing reaches any more, since a link has failed, throttle nobody: switches discard what is for them.
 *
 * A block that starts at progress p leaves at progress p + 1: blocks leave in the order of their starts.
 */
#pragma once

#include "base/units.hpp"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

class Backpressure {
public:
  /** Sending member and size of its block. */
  using Sent = std::pair<std::size_t, Bytes>;

  Backpressure() = default;
  /** @p rates: receive rate of each member; 0 for one that receives nothing. */
  explicit Backpressure(std::vector<BytesPerSecond> rates);

  /** Changes the rates at @p now. */
  void set_rates(Seconds now, std::vector<BytesPerSecond> rates);

  /** Adds blocks that start together at @p now. Blocks are numbered from 0 in the order of their starts. */
  void start(Seconds now, std::vector<Sent> sent);
  /** Returns the time at which the next blocks leave; nothing if no block is in flight. */
  std::optional<Seconds> next() const;
  /** Returns the blocks that have left by @p now, each once. */
  std::vector<std::size_t> take_left(Seconds now);

private:
  struct Blocks {
    double leave_at = 0; // progress
    std::vector<Sent> sent;
  };
  std::vector<BytesPerSecond> rates_;
  std::vector<double> own_; // by member: bytes of its own blocks in flight
  double in_flight_ = 0;    // bytes
  double progress_  = 0;
  double pace_      = 0; // progress per second
  double now_       = 0;
  std::deque<Blocks> blocks_; // in flight
  std::size_t left_ = 0;      // blocks that have left

  void advance(Seconds now);
  void set_pace();
};

} // namespace weft
