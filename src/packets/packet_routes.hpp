// SPDX-License-Identifier: LGPL-2.1-only
/* Routes of packets, each stored once: its links, and the virtual lane on each of them. */
#pragma once

#include "fabric/fabric.hpp"
#include "packets/deadlock/virtual_lanes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weft {

struct StoredRoute {
  std::uint32_t first; ///< position of its first link
  std::uint16_t hops;
  double latency; ///< seconds; of its cables and switches
};

class PacketRoutes {
  const int lanes_;
  std::optional<VirtualLanes> assign_;                                 // if there are several lanes
  std::vector<double> took_;                                           // by link
  std::vector<LinkId> links_;                                          // of all routes, one after the other
  std::vector<std::uint8_t> lane_;                                     // of each; empty if there is one lane
  std::unordered_map<std::uint64_t, std::vector<StoredRoute>> stored_; // by hash

public:
  /** @p took: latency of each link and of the switch at its end. */
  PacketRoutes(const Fabric& fabric, int lanes, std::vector<double> took);

  StoredRoute store(const int* first, const int* last);
  LinkId link(std::size_t place) const { return links_[place]; }
  /** Returns the lane of link @p onward, if packets come over @p link in @p lane. */
  std::uint8_t lane_after(std::uint8_t lane, LinkId link, LinkId onward) const
  {
    return assign_ ? static_cast<std::uint8_t>(std::min(assign_->after(lane, link, onward), lanes_ - 1)) : lane;
  }
  /** Returns the number of the port of a link and its lane. */
  std::size_t port(std::size_t place) const
  {
    return lanes_ == 1 ? static_cast<std::size_t>(links_[place])
                       : static_cast<std::size_t>(links_[place]) * static_cast<std::size_t>(lanes_) + lane_[place];
  }
};

} // namespace weft
