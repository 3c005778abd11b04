// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/fabric_ways.hpp"

#include <algorithm>
#include <limits>

namespace weft {

std::vector<double> FabricWays::capacities(const Fabric& fabric)
{
  std::vector<double> all;
  for (const Link& link : fabric.links())
    all.push_back(link.bandwidth.value());
  for (const SharedMedium& medium : fabric.shared())
    all.push_back(medium.bandwidth.value());
  return all;
}

void FabricWays::find(int from, int to, Bytes bytes, FlowWay& into)
{
  if (from == to) {
    into.latency = fabric_.host().loopback_latency.value();
    into.volume  = bytes.value();
    into.bound   = fabric_.host().loopback_bandwidth.value();
    return;
  }
  route_.links.clear();
  route_.through.clear();
  fabric_.route(from, to, route_);
  const std::size_t links = fabric_.links().size();
  double narrowest        = std::numeric_limits<double>::infinity();
  for (const LinkId id : route_.links) {
    into.resources.push_back(id);
    narrowest = std::min(narrowest, fabric_.link(id).bandwidth.value());
    if (const std::optional<std::size_t> medium = fabric_.shared_by(id)) {
      into.resources.push_back(static_cast<int>(links + *medium));
      narrowest = std::min(narrowest, fabric_.shared()[*medium].bandwidth.value());
    }
  }
  const PointToPointSegment& factors = fabric_.segment(Bytes(std::max(0.0, (bytes - SMPI_ENVELOPE).value())));
  // The factor of bandwidth says how much a message gets of what it occupies.
  const Seconds latency = fabric_.latency(route_) + start(route_, from, to, bytes);
  into.latency          = (latency * factors.latency_factor).value();
  into.penalty          = latency.value();
  into.bound            = narrowest;
  into.volume = bytes.value() / std::min(factors.bandwidth_factor, limit(route_, bytes, BytesPerSecond(narrowest)));
}

} // namespace weft
