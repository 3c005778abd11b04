// SPDX-License-Identifier: LGPL-2.1-only
/* Which chunks get lost: the [[multicast.drops]] of a fabric, drawn with their seed.
 *
 * What is drawn for a block depends on the seed, the rule, the communicator, the call, the root and the place, and on
 * nothing that happened before: so runs repeat, and one more communicator changes nothing for the others.
 */
#pragma once

#include "collective/multicast/plan.hpp"

#include <cstdint>
#include <vector>

namespace weft {

/** A block on its way. */
struct MulticastTrip {
  int communicator    = 0;
  std::int64_t call   = 0; ///< number of the multicast call on it
  int root            = 0;
  std::int64_t chunks = 0;
};

class Drops {
  const Fabric& fabric_;
  const MulticastGroup& group_;

  struct Losses;
  void at_receivers(std::size_t rule, const MulticastTrip& trip, Losses& losses) const;
  void on_links(std::size_t rule, const MulticastTrip& trip, Losses& losses) const;

public:
  /** Both must outlive it. */
  Drops(const Fabric& fabric, const MulticastGroup& group) : fabric_(fabric), group_(group) {}

  /** By rank: the chunks that do not reach it. Empty where nothing can get lost. */
  std::vector<std::vector<ChunkRun>> of(const MulticastTrip& trip) const;
};

} // namespace weft
