// SPDX-License-Identifier: LGPL-2.1-only
/* Faults in force at an instant. Faults of one part may overlap: the state of a part follows from all faults that hold
 * it, and the end of one fault repairs nothing that another one holds.
 *
 *   - A link or switch is down while any fault holds it down.
 *   - A slow link has the bandwidth that the slowest of its faults leaves.
 *   - The losses of a link are independent: a packet arrives if none of its faults loses it. */
#pragma once

#include "fabric/fabric.hpp"

#include <cstdint>
#include <map>
#include <set>

namespace weft {

/** Begin or end of a fault of one link or switch. */
struct FabricChange {
  enum class What : std::uint8_t { link, device, bandwidth, loss };
  What what     = What::link;
  int number    = 0;     ///< of a link, or index of a switch
  bool over     = false; ///< the fault ends; the other members are those of its begin
  double factor = 1;     ///< part of a link's bandwidth that the fault leaves
  double loss   = 0;     ///< probability that a packet is lost through the fault
};

class FaultsInForce {
  std::map<LinkId, int> links_down_; // number of faults
  std::map<int, int> switches_down_; // the same, by index
  std::map<LinkId, std::multiset<double>> factors_;
  std::map<LinkId, std::multiset<double>> losses_;

public:
  /** Begins or ends a fault. Returns whether that changes what is up. Throws std::logic_error if a fault ends that is
   * not in force. */
  bool apply(const FabricChange& change);
  /** Returns the part of its bandwidth that a link has. */
  double bandwidth(LinkId link) const;
  /** Returns the probability that a link loses a packet. */
  double loss(LinkId link) const;
};

} // namespace weft
