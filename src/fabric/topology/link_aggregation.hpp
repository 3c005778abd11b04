// SPDX-License-Identifier: LGPL-2.1-only
/* Link aggregation: selects one of the parallel cables between two vertices by the packet's destination.
 *
 * Both routing and the forwarding hashes (forwarding_hash.hpp) use it, so that the tag of a destination corresponds to
 * the cable of its route.
 */
#pragma once

#include "base/option.hpp"
#include "fabric/topology/graph.hpp"

#include <string>
#include <string_view>

namespace weft {

class LinkAggregation {
  bool crc_ = false;

public:
  LinkAggregation() = default;
  /** @p name: an allowed value of the option. */
  explicit LinkAggregation(const std::string& name) : crc_(name == "crc") {}

  std::string_view name() const { return crc_ ? "crc" : "coordinates"; }
  /** Returns a number that, modulo the number of parallel cables, selects one: @p coordinates, a number that differs
   *  between the destinations behind the cables, or the CRC-24 of the destination's number ("a port selection among a
   *  bundled link is selected by the packet destination, and a CRC circuit is used": Hirasawa et al. (CLUSTER 2021),
   *  section V.B). */
  int choice(VertexId destination, int coordinates) const;
};

/** Returns the key for topologies that can have parallel cables. */
template <class T> Option<T> link_aggregation_option()
{
  return {"link_aggregation",
          R"(hash that selects among parallel cables: of the destination's "coordinates", or its "crc")",
          &T::link_aggregation, Need::optional, Allowed::one_of({"coordinates", "crc"})};
}

} // namespace weft
