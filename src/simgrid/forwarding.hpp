// SPDX-License-Identifier: LGPL-2.1-only
/* The forwarding caches of a run's switches: one at each input port, whose state lasts as long as the run.
 *
 * A message between hosts looks its destination up at every switch that it crosses, as it starts; so the order of
 * lookups is that of the messages' starts. Streams, and messages that a switch sends or gets, take a hit's latency.
 */
#pragma once

#include "fabric/fabric.hpp"

#include <vector>

namespace weft {

/** What the lookups of a switch's ports were. */
struct LookupCounters {
  std::int64_t hits   = 0;
  std::int64_t misses = 0;
};

class ForwardingState {
  const Fabric& fabric_;
  std::vector<ForwardingCache> caches_;  // in the order of their first use
  std::vector<int> cache_of_;            // by link that ends at a port: its cache; -1: none yet
  std::vector<LookupCounters> counters_; // by switch

  ForwardingCache& cache_at(LinkId into, int switch_index);

public:
  explicit ForwardingState(const Fabric& fabric);

  /** Look the host @p to up along a route to it; returns what the misses add to the route's latency. */
  Seconds look_up(const Route& route, VertexId to);
  const LookupCounters& counters(int switch_index) const { return counters_[static_cast<std::size_t>(switch_index)]; }
};

} // namespace weft
