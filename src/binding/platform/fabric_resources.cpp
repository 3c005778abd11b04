// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/fabric_resources.hpp"

#include "binding/abi/versions.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"
#include "network/fabric_routes.hpp"

#include <limits>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <string>

namespace sg = simgrid::s4u;

namespace weft {

FabricResources::FabricResources(simgrid::kernel::routing::NetZoneImpl& zone, const Fabric& fabric,
                                 FabricTraffic& traffic)
    : zone_(zone), fabric_(fabric), traffic_(traffic), links_(FabricRoutes::capacities(fabric).size())
{
}

// Each host has its own loopback. Flows on it do not slow each other down, but SimGrid solves again
// for all flows that share a link, and visits all other flows on the link for each: with one
// loopback for all hosts, the cost would be quadratic in the flows.
sg::Link* FabricResources::loopback(const simgrid::kernel::routing::NetPoint& point)
{
  sg::Link*& known = loopbacks_[is_on(TuningId::host_loopbacks) ? point.id() : 0];
  if (not known) {
    unseal_zone(zone_);
    known = zone_.get_iface()->add_link(point.get_name() + ".loopback", fabric_.host().loopback_bandwidth.value());
    known->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    known->set_latency(fabric_.host().loopback_latency.value())->seal();
  }
  return known;
}

sg::Link* FabricResources::link(int number)
{
  sg::Link*& known = links_[static_cast<std::size_t>(number)];
  if (not known) {
    known = make(number);
    numbers_.emplace(known, number);
  }
  return known;
}

sg::Link* FabricResources::make(int number)
{
  unseal_zone(zone_);
  if (is_link(number)) {
    const Link& link = fabric_.link(number);
    sg::Link* const added =
        zone_.get_iface()->add_link(link.name, link.bandwidth.value())->set_latency(link.latency.value());
    if (not settings().contention)
      added->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    else if (traffic_.bounds(number))
      added->set_sharing_policy(sg::Link::SharingPolicy::NONLINEAR,
                                [this, number](double fixed, int) { return traffic_.capacity(number, fixed); });
    return added->seal();
  }
  const std::size_t beyond = static_cast<std::size_t>(number) - fabric_.links().size();
  if (beyond < fabric_.shared().size()) {
    sg::Link* const medium = zone_.get_iface()->add_link("weft.shared." + std::to_string(beyond),
                                                         fabric_.shared()[beyond].bandwidth.value());
    if (not settings().contention)
      medium->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    return medium->seal();
  }
  if (StorageResources(fabric_).contains(number))
    return zone_.get_iface()
        ->add_link("weft.storage." + std::to_string(number),
                   FabricRoutes::capacities(fabric_)[static_cast<std::size_t>(number)])
        ->seal();
  const int memory   = static_cast<int>(beyond - fabric_.shared().size());
  const int memories = fabric_.host().memories();
  std::string name   = fabric_.topology().host_name(memory / memories) + ".memory";
  if (memories > 1)
    name += "-" + std::to_string(memory % memories);
  return zone_.get_iface()->add_link(name, fabric_.host().memory_bandwidth.value())->seal();
}

std::optional<int> FabricResources::number_of(const sg::Link* link) const
{
  const auto found = numbers_.find(link);
  return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
}

void FabricResources::append_numbers(LinkId id, std::vector<int>& into) const
{
  into.push_back(id);
  if (const std::optional<std::size_t> medium = fabric_.shared_by(id))
    into.push_back(static_cast<int>(fabric_.links().size() + *medium));
}

// Assumes a long message between two sockets, since its size and the sockets of its ranks are not known here: the first
// of them copies it if it is copied once.
void FabricResources::append_memory(VertexId host, std::vector<simgrid::kernel::resource::StandardLinkImpl*>& into)
{
  const int memories = fabric_.host().memories();
  if (memories == 0 || host >= fabric_.host_count())
    return;
  const int before = static_cast<int>(fabric_.links().size() + fabric_.shared().size());
  const int copies = fabric_.host().copies(Bytes(std::numeric_limits<double>::max()));
  for (int copy = 0; copy < copies; ++copy)
    into.push_back(link(before + host * memories + copy % memories)->get_impl());
}

} // namespace weft
