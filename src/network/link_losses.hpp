// SPDX-License-Identifier: LGPL-2.1-only
/* Links that lose packets, each with a probability and independently.
 *
 * Senders of messages notice a gap, and send the lost packet again: alone (selective repeat, as RoCE NICs can), or with
 * what had followed it (go-back-N). On average a packet is then sent 1 / (1 - p) times, and W further packets after
 * each loss: 1 + pW packets arrive at the lossy link for each 1 - p that are of use. The efficiency
 * (1 - p) / (1 + pW) is that of go-back-N with a window of W + 1 packets (D. Bertsekas, R. Gallager: Data Networks,
 * 2nd edition, section 2.4). Nothing follows the last packet of a message: if that is lost, the sender notices at its
 * timeout. */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct LossModel {
  Bytes packet{4096}; ///< payload of a packet
  Bytes go_back;      ///< what a sender sends again after each lost packet, besides that one
  std::uint64_t seed = 1;
};

class LinkLosses {
  LossModel model_;
  std::vector<double> probability_; // by resource, up to the last that ever lost packets
  std::uint64_t draws_ = 0;

public:
  explicit LinkLosses(const LossModel& model = {}) : model_(model) {}

  /** Sets the probability, less than 1, that a link or pool of links loses a packet. */
  void set(int resource, double probability);
  double probability(int resource) const
  {
    const auto at = static_cast<std::size_t>(resource);
    return at < probability_.size() ? probability_[at] : 0;
  }
  /** Returns the links and pools that lose packets now. */
  std::vector<int> lossy() const;
  std::uint64_t seed() const { return model_.seed; }
  bool any() const { return not probability_.empty(); }
  Bytes packet() const { return model_.packet; }
  /** Returns the probability that a packet is lost on the way. Each resource counts once for each time that it is
   * named. */
  double lost(std::span<const int> way) const;
  /** Returns how often a byte is sent over a way on average until it has arrived. */
  double effort(std::span<const int> way) const;
  /** Returns the next random number in [0, 1). */
  double draw();
};

} // namespace weft
