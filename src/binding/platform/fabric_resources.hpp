// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid's links for the resources of a fabric, each created when the first message uses it. Resources are numbered as
 * in FabricRoutes::capacities(): links, shared media, the hosts' memories if they are limited, and storage. */
#pragma once

#include "binding/platform/fabric_traffic.hpp"
#include "fabric/fabric.hpp"

#include <cstddef>
#include <optional>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

class FabricResources {
  simgrid::kernel::routing::NetZoneImpl& zone_;
  const Fabric& fabric_;
  FabricTraffic& traffic_;
  std::vector<simgrid::s4u::Link*> links_;                           // by resource; null until used
  std::unordered_map<const simgrid::s4u::Link*, int> numbers_;       // inverse of links_
  std::unordered_map<unsigned long, simgrid::s4u::Link*> loopbacks_; // by net point; only if used

  simgrid::s4u::Link* make(int number);

public:
  /** Adds links to @p zone, whose capacities follow @p traffic. */
  FabricResources(simgrid::kernel::routing::NetZoneImpl& zone, const Fabric& fabric, FabricTraffic& traffic);

  bool is_link(int resource) const { return std::cmp_less(resource, fabric_.links().size()); }
  /** Returns SimGrid's link for a resource, created if absent. Call it only in SimGrid's kernel context; elsewhere
   * other ranks would run meanwhile. */
  simgrid::s4u::Link* link(int number);
  /** Returns whether a resource's link has been created. */
  bool exists(int number) const { return links_[static_cast<std::size_t>(number)]; }
  /** Returns whether @p link is that of a resource. */
  bool is(int number, const simgrid::s4u::Link* link) const { return links_[static_cast<std::size_t>(number)] == link; }
  /** Returns the number of a link's resource; nothing if it has none. */
  std::optional<int> number_of(const simgrid::s4u::Link* link) const;
  /** Appends the numbers of the resources that a message on link @p id uses. */
  void append_numbers(LinkId id, std::vector<int>& into) const;
  /** Appends the memory of @p host, once per copy of a message. */
  void append_memory(VertexId host, std::vector<simgrid::kernel::resource::StandardLinkImpl*>& into);
  /** Returns the link that a message within a host uses. */
  simgrid::s4u::Link* loopback(const simgrid::kernel::routing::NetPoint& point);
};

} // namespace weft
