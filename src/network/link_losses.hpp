// SPDX-License-Identifier: LGPL-2.1-only
/* Links that lose packets, each with a probability and independently.
 *
 * Senders of messages detect a gap and retransmit the lost packet: alone (selective repeat, as RoCE NICs can), or with
 * the packets that followed it (go-back-N). On average a packet is then sent 1 / (1 - p) times, and W further packets
 * after each loss: for each 1 - p useful packets, 1 + pW packets arrive at the lossy link. The efficiency (1 - p) / (1
 * + pW) is that of go-back-N with a window of W + 1 packets (D. Bertsekas, R. Gallager: Data Networks, 2nd edition,
 * section 2.4). No packet follows the last one of a message: if it is lost, the sender detects the loss by timeout. */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct LossModel {
  Bytes packet{4096}; ///< payload of a packet
  Bytes go_back;      ///< bytes that a sender retransmits after each lost packet, in addition to that packet
  std::uint64_t seed = 1;
};

class LinkLosses {
  LossModel model_;
  std::vector<double> probability_; // by resource, up to the last one that ever lost packets
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
  /** Returns the links and pools that currently lose packets. */
  std::vector<int> lossy() const;
  std::uint64_t seed() const { return model_.seed; }
  bool any() const { return not probability_.empty(); }
  Bytes packet() const { return model_.packet; }
  /** Returns the probability that a packet is lost on a route. A resource counts once for each time it is listed. */
  double lost(std::span<const int> way) const;
  /** Returns the mean number of times that a byte is sent over a route until it has arrived. */
  double effort(std::span<const int> way) const;
  /** Returns the next random number in [0, 1). */
  double draw();
};

} // namespace weft
