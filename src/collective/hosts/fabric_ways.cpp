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
  if (fabric.host().shares_memory())
    all.resize(all.size() + static_cast<std::size_t>(fabric.host_count()), fabric.host().memory_bandwidth.value());
  return all;
}

void FabricWays::within(int host, Bytes bytes, FlowWay& into) const
{
  const HostModel& model = fabric_.host();
  into.latency           = model.loopback_latency.value();
  into.penalty           = std::max(into.latency, 1e-9); // the same for all that share a host's memory
  into.volume            = bytes.value();
  into.bound             = model.loopback_bandwidth.value();
  if (model.shares_memory()) {
    const std::size_t memory = fabric_.links().size() + fabric_.shared().size() + static_cast<std::size_t>(host);
    into.resources.assign(static_cast<std::size_t>(model.copies(bytes - SMPI_ENVELOPE)), static_cast<int>(memory));
  }
}

void FabricWays::find(int from, int to, Bytes bytes, FlowWay& into)
{
  if (from == to) {
    within(from, bytes, into);
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
