// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_routes.hpp"

#include <algorithm>
#include <utility>

namespace weft {

PacketRoutes::PacketRoutes(const Fabric& fabric, int lanes, std::vector<double> took)
    : lanes_(lanes), took_(std::move(took))
{
  if (lanes > 1)
    assign_.emplace(fabric);
}

/** Returns the position of a route's links, which are stored once. */
StoredRoute PacketRoutes::store(const int* first, const int* last)
{
  constexpr std::uint64_t BASIS = 0xcbf29ce484222325; // FNV-1a, draft-eastlake-fnv, by words instead of octets
  constexpr std::uint64_t PRIME = 0x100000001b3;
  std::uint64_t hash            = BASIS;
  for (const int* link = first; link != last; ++link)
    hash = (hash ^ static_cast<std::uint64_t>(*link)) * PRIME;
  const auto hops                  = static_cast<std::uint16_t>(last - first);
  std::vector<StoredRoute>& equals = stored_[hash];
  for (const StoredRoute& known : equals)
    if (known.hops == hops && std::equal(first, last, links_.begin() + known.first))
      return known;
  StoredRoute route{static_cast<std::uint32_t>(links_.size()), hops, 0};
  for (const int* link = first; link != last; ++link)
    route.latency += took_[static_cast<std::size_t>(*link)];
  links_.insert(links_.end(), first, last);
  if (assign_)
    for (const int lane : assign_->lanes({first, last}))
      lane_.push_back(static_cast<std::uint8_t>(std::min(lane, lanes_ - 1)));
  equals.push_back(route);
  return route;
}

} // namespace weft
