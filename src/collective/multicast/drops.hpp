// SPDX-License-Identifier: LGPL-2.1-only
/* Dropped chunks: the [[multicast.drops]] tables of a fabric, and links that lose packets because of a fault.
 *
 * Random numbers are functions of seed, rule, communicator, call, root and place, not of earlier events: runs are
 * reproducible, and an additional communicator does not affect the others.
 */
#pragma once

#include "collective/multicast/plan.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/** Multicast of one block. */
struct MulticastTrip {
  int communicator    = 0;
  std::int64_t call   = 0; ///< number of the multicast call on the communicator
  int root            = 0;
  std::int64_t chunks = 0;
};

/** Rules besides those of the fabric. */
struct MoreDrops {
  std::vector<DropRule> rules; ///< of links
  std::int64_t seed = 0;
};

class Drops {
  const Fabric& fabric_;
  const MulticastGroup& group_;
  const MoreDrops more_;

  struct Losses;
  void at_receivers(std::size_t rule, const MulticastTrip& trip, Losses& losses) const;
  void on_links(const DropRule& its, std::int64_t number_of_rule, const MulticastTrip& trip, Losses& losses) const;

public:
  /** The fabric and the group must outlive the object. */
  Drops(const Fabric& fabric, const MulticastGroup& group, MoreDrops more = {})
      : fabric_(fabric), group_(group), more_(std::move(more))
  {
  }

  /** Returns the dropped chunks by receiving rank; empty if no rule applies. */
  std::vector<std::vector<ChunkRun>> of(const MulticastTrip& trip) const;
};

} // namespace weft
