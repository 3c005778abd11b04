// SPDX-License-Identifier: LGPL-2.1-only
/* Backpressure of lossless links on the roots of one multicast call.
 *
 * Roots that together send more than a receiver's cable carries fill the switches' buffers, which then hold the roots
 * back. The model is generalized processor sharing (Parekh and Gallager, IEEE/ACM Transactions on Networking 1(3),
 * 1993) with the blocks' sizes as weights: all blocks in flight advance by the same fraction of themselves a second, at
 * the rate of the fastest receiver among those that get most of them. So blocks that leave together leave at once, and
 * one that starts a little later changes all times by as little.
 *
 * A block that starts at progress p leaves at progress p + 1: blocks leave in the order in which they start.
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
  /** A member that sends, and its bytes. */
  using Sent = std::pair<std::size_t, Bytes>;

  Backpressure() = default;
  /** @p rates: of the data that reach each member. */
  explicit Backpressure(std::vector<BytesPerSecond> rates);

  /** Add blocks that start together at @p now. They are numbered from 0 on, in the order of their starts. */
  void start(Seconds now, std::vector<Sent> sent);
  /** The time at which the next blocks leave; none when nothing is in flight. */
  std::optional<Seconds> next() const;
  /** Blocks that have left by @p now and have not been returned before. */
  std::vector<std::size_t> take_left(Seconds now);

private:
  struct Blocks {
    double leave_at = 0; // progress
    std::vector<Sent> sent;
  };
  std::vector<BytesPerSecond> rates_;
  std::vector<double> own_; // by member: bytes in flight that it sends itself
  double in_flight_ = 0;    // bytes
  double progress_  = 0;
  double pace_      = 0; // progress a second
  double now_       = 0;
  std::deque<Blocks> blocks_; // in flight
  std::size_t left_ = 0;      // blocks that have left

  void advance(Seconds now);
  void set_pace();
};

} // namespace weft
