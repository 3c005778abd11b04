// SPDX-License-Identifier: LGPL-2.1-only
/* Label of a message, like a packet's entropy field: a seeded hash from which switches select next hops.
 *
 * Selections at different vertices are independent, as on switches whose hash functions have different seeds. */
#pragma once

#include "fabric/topology/topology.hpp"
#include "model/noise/random.hpp"

namespace weft {

class RouteLabel {
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> hash_;

public:
  /** @p message: number of the message; constant if messages are not distinguished. */
  RouteLabel(int seed, VertexId from, VertexId to, std::uint32_t message)
      : key_{static_cast<std::uint32_t>(seed), 0},
        hash_(philox(
            {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), message, RandomPurpose::ROUTE_LABELS},
            key_))
  {
  }

  /** Selects one of @p count next hops at vertex @p at. */
  std::size_t select(VertexId at, std::size_t count) const
  {
    const auto bits = philox({hash_[0], hash_[1], static_cast<std::uint32_t>(at), RandomPurpose::ROUTE_HOPS}, key_);
    return static_cast<std::size_t>(scaled(bits[0], static_cast<int>(count)));
  }
  /** Returns 32 bits that select() does not use. */
  std::uint32_t bits() const { return hash_[2]; }
};

} // namespace weft
