// SPDX-License-Identifier: LGPL-2.1-only
/* Faults in force at an instant. Faults of one part may overlap: all of them determine its state, and the end of one
 * fault does not undo another.
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

/** Start or end of a fault of one link or switch. */
struct FabricChange {
  enum class What : std::uint8_t { link, device, bandwidth, loss };
  What what     = What::link;
  int number    = 0;     ///< id of a link, or index of a switch
  bool over     = false; ///< true if the fault ends; all other members equal those of its start
  double factor = 1;     ///< remaining fraction of a link's bandwidth
  double loss   = 0;     ///< probability that the fault loses a packet
};

class FaultsInForce {
  std::map<LinkId, int> links_down_; // number of faults
  std::map<int, int> switches_down_; // number of faults, by index of the switch
  std::map<LinkId, std::multiset<double>> factors_;
  std::map<LinkId, std::multiset<double>> losses_;

public:
  /** Begins or ends a fault. Returns whether a link or switch goes up or down. Throws std::logic_error if a fault ends
   * that is not in force. */
  bool apply(const FabricChange& change);
  /** Returns the remaining fraction of a link's bandwidth. */
  double bandwidth(LinkId link) const;
  /** Returns the probability that a link loses a packet. */
  double loss(LinkId link) const;
};

} // namespace weft
