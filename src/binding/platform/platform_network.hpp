// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid platform (XML or library) whose smart switches are hosts with properties (Belbeisi et
 * al., figure 2); switch_properties.hpp describes these.
 *
 * The network is known only by its routes. A host or switch counts as cabled to a smart switch if
 * no other smart switch lies on its route there, that is, if the links to no other smart switch are
 * a prefix of the links to it. */
#pragma once

#include "binding/platform/network.hpp"
#include "fabric/fabric.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

class PlatformTopology;

class PlatformNetwork : public Network {
  std::vector<simgrid::s4u::Host*> vertices_; // hosts, then smart switches
  int host_count_ = 0;
  std::unordered_map<const simgrid::s4u::Host*, VertexId> vertex_of_;
  std::vector<std::vector<simgrid::s4u::Link*>> links_; // by LinkId
  StreamZone* streams_ = nullptr;

  void sort_hosts();
  std::vector<Link> describe_links(const Topology& topology);

public:
  /** Loads a platform into the running engine and describes it. Throws UserError. */
  static std::pair<Fabric, std::unique_ptr<PlatformNetwork>> load(const std::string& path);

  /** Checks that every host has a route to every other host, and to and from every smart switch,
   * and that no route uses a link twice: all pairs of up to 1,024 hosts, otherwise a seeded
   * sample. Returns a description of what was checked; throws UserError with the first bad route. */
  std::string check_routes(const std::string& path) const;

  /** Returns the hosts on which ranks can run, in the engine's order. */
  std::vector<simgrid::s4u::Host*> hosts() const;

  StreamZone& streams() override { return *streams_; }
  void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) override;
  bool is_host(const simgrid::s4u::Host* host) const override;
  VertexId vertex_of(const simgrid::s4u::Host* host) const override { return vertex_of_.at(host); }
  simgrid::s4u::Host* host_at(VertexId vertex) const override { return vertices_[static_cast<std::size_t>(vertex)]; }
  simgrid::s4u::Host* endpoint(VertexId vertex) override { return host_at(vertex); }
  double bytes_on_link(LinkId /*id*/) const override { return 0; }
  void count_bytes(LinkId /*id*/, Bytes /*bytes*/) override {}
};

} // namespace weft
