// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of background traffic: each of a set of hosts is a Poisson process of messages of one size, to destinations
 * that follow a pattern. */
#pragma once

#include "base/units.hpp"
#include "fabric/topology/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/** Pattern of destinations. */
enum class TrafficPattern : std::uint8_t {
  uniform,     ///< each message to another host at random
  permutation, ///< each host to one other host, and each host from one: a cycle through all hosts at random
  incast,      ///< all hosts to the targets in turn
  hot_spot,    ///< a part of the messages to the targets in turn, the others as in `uniform`
};

struct TrafficLoad {
  TrafficPattern pattern = TrafficPattern::uniform;
  std::vector<VertexId> hosts;   ///< senders; of `incast` without the targets
  std::vector<VertexId> targets; ///< of `incast` and `hot_spot`
  Bytes bytes;                   ///< of a message
  BytesPerSecond rate;           ///< mean of each host
  double hot         = 0;        ///< part of the messages that go to the targets, of `hot_spot`
  std::uint64_t seed = 1;
};

/** Yields the messages of each sender. A sender is a position in TrafficLoad::hosts. All values are functions of the
 * seed, the sender and the number of its message, in any order of calls. */
class TrafficSource {
  TrafficLoad load_;
  std::vector<std::size_t> partner_; // of each sender, of a permutation

public:
  /** Throws std::logic_error if the load is impossible: fewer than two hosts, or no targets. */
  explicit TrafficSource(TrafficLoad load);

  const TrafficLoad& load() const { return load_; }
  std::size_t senders() const { return load_.hosts.size(); }
  /** Returns the time between message @p number and the one before it, exponentially distributed. */
  Seconds gap(std::size_t sender, std::uint32_t number) const;
  /** Returns the host that message @p number goes to, which is not the sender. */
  VertexId destination(std::size_t sender, std::uint32_t number) const;
};

} // namespace weft
