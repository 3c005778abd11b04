// SPDX-License-Identifier: LGPL-2.1-only
/* Link aggregation: which of the parallel cables between two vertices a packet takes, by its destination.
 *
 * The topologies' routing and the hashes of the forwarding caches (forwarding_hash.hpp) both ask here, so that the tag
 * of a destination stands for the cable that routing takes.
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
  /** By a name that its option allows. */
  explicit LinkAggregation(const std::string& name) : crc_(name == "crc") {}

  std::string_view name() const { return crc_ ? "crc" : "coordinates"; }
  /** The cable, modulo as many as there are: @p coordinates, which varies with what the destinations beyond differ in,
   *  or the CRC-24 of the destination's number ("a port selection among a bundled link is selected by the packet
   *  destination, and a CRC circuit is used": Hirasawa et al. (CLUSTER 2021), section V.B). */
  int choice(VertexId destination, int coordinates) const;
};

/** The key, for the options of a topology that may have parallel cables. */
template <class T> Option<T> link_aggregation_option()
{
  return {"link_aggregation", R"(what chooses among parallel cables: the destination's "coordinates", or its "crc")",
          &T::link_aggregation, Need::optional, Allowed::one_of({"coordinates", "crc"})};
}

} // namespace weft
