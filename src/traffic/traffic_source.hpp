// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of background traffic: each of a set of hosts sends a Poisson process of messages of one size, to
 * destinations that follow a pattern. */
#pragma once

#include "base/units.hpp"
#include "fabric/topology/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/** Pattern of destinations. */
enum class TrafficPattern : std::uint8_t {
  uniform,     ///< each message to a different random host
  permutation, ///< each host to one other host, and each host from one: a random cycle through all hosts
  incast,      ///< all hosts to the targets in rotation
  hot_spot,    ///< a fraction of the messages to the targets in rotation, the rest as in `uniform`
};

struct TrafficLoad {
  TrafficPattern pattern = TrafficPattern::uniform;
  std::vector<VertexId> hosts;   ///< senders; for `incast`, without the targets
  std::vector<VertexId> targets; ///< for `incast` and `hot_spot`
  Bytes bytes;                   ///< size of a message
  BytesPerSecond rate;           ///< mean rate of each host
  double hot         = 0;        ///< for `hot_spot`: fraction of the messages that go to the targets
  std::uint64_t seed = 1;
};

/** Generates the messages of each sender. A sender is an index in TrafficLoad::hosts. All values are functions of the
 * seed, the sender and the number of its message, independent of the order of calls. */
class TrafficSource {
  TrafficLoad load_;
  std::vector<std::size_t> partner_; // for `permutation`: destination of each sender

public:
  /** Throws std::logic_error if the load is impossible: fewer than two hosts, or no targets. */
  explicit TrafficSource(TrafficLoad load);

  const TrafficLoad& load() const { return load_; }
  std::size_t senders() const { return load_.hosts.size(); }
  /** Returns the exponentially distributed time between message @p number and its predecessor. */
  Seconds gap(std::size_t sender, std::uint32_t number) const;
  /** Returns the destination of message @p number, which is not the sender. */
  VertexId destination(std::size_t sender, std::uint32_t number) const;
};

} // namespace weft
