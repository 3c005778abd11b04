// SPDX-License-Identifier: LGPL-2.1-only
/* Call whose packets switches of a tree combine or copy: what a network of packets needs to carry it. If the network
 * loses packets, switches combine them, and all members get the results. */
#pragma once

#include "base/units.hpp"
#include "fabric/fabric.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft {

struct TreePackets {
  /// Directions in which packets cross an edge, the route between a switch or member and the next switch of the tree
  /// above it.
  enum class Crossing : std::uint8_t { up, down, both };
  struct Edge {
    int parent = -1;           ///< index of the switch at its upper end; -1 for the root, which has none
    std::vector<LinkId> links; ///< upwards
    Crossing crossing = Crossing::both;
  };
  struct Switch {
    VertexId vertex = 0;
    Edge edge;
    Seconds combining;   ///< from the last contribution's arrival to the result's departure
    BytesPerSecond rate; ///< at which it combines, summed over all contributions
  };

  /// Switches combine a packet of each edge below them; if not, they copy it as soon as it arrives.
  bool combines = true;
  std::vector<Switch> switches; ///< the root first, parents before their children
  std::vector<Edge> members;
  std::int64_t packets = 1; ///< of a member
  Bytes payload;            ///< of each but the last packet
  Bytes last_payload;
  Bytes overhead;             ///< of each packet
  std::int64_t window = 0;    ///< packets that a member sends before it needs results; 0: what the tree holds, twice
  BytesPerSecond member_rate; ///< at which a member's host copies
  Seconds reuse;              ///< least time from a packet to the one that reuses its slot
  Seconds delay;              ///< until the first packets leave
};

/** Network that carries such calls. */
class TreeNetwork {
public:
  TreeNetwork()                              = default;
  TreeNetwork(const TreeNetwork&)            = delete;
  TreeNetwork& operator=(const TreeNetwork&) = delete;
  virtual ~TreeNetwork()                     = default;
  /** Starts a call of the job of @p world at the present time @p now. Its first packets leave @p jitter later. Calls @p
   * done when all members that receive have all packets. */
  virtual void start(const TreePackets& call, Seconds now, Seconds jitter, int world, std::function<void()> done) = 0;
};

} // namespace weft
