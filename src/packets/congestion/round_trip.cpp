// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/congestion/round_trip.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Returns the round trip between the first host and host @p to, on the route that the topology prefers. */
Seconds round_trip_to(const Fabric& fabric, VertexId to)
{
  const PacketModel& model = fabric.packets();
  const Bytes bytes        = model.packet + model.control_packet;
  Seconds latency;
  Seconds sending;
  for (VertexId at = 0; at != to;) {
    const Hop hop    = fabric.topology().next_hop(at, to);
    const Link& link = fabric.link(hop.link);
    latency += link.latency;
    if (not fabric.topology().is_host(link.to))
      latency += fabric.model_at(link.to).hop_latency();
    const Seconds its = bytes / link.bandwidth;
    sending           = model.switching == Switching::store_and_forward ? sending + its : std::max(sending, its);
    at                = hop.to;
  }
  return 2 * latency + sending;
}

} // namespace

Seconds base_round_trip(const Fabric& fabric)
{
  Seconds longest = fabric.packets().nscc.base_round_trip;
  if (longest > Seconds())
    return longest;
  for (VertexId to = 1; to < fabric.host_count(); ++to)
    longest = std::max(longest, round_trip_to(fabric, to));
  return longest;
}

} // namespace weft
