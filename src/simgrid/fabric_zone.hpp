/* A fabric as a SimGrid zone.
 *
 * Routes are computed when a message asks for one, with the delay of every switch on the way in their latency; there is
 * no all-pairs table. The zone's net points are, in order, the fabric's vertices: hosts, then switches.
 */
#pragma once

#include "fabric/fabric.hpp"
#include "simgrid/stream_zone.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <functional>
#include <unordered_map>
#include <vector>

namespace weft {

class FabricZone : public simgrid::kernel::routing::NetZoneImpl {
  const Fabric& fabric_;
  StreamZone* streams_ = nullptr;
  std::vector<simgrid::s4u::Link*> links_; // by LinkId
  std::unordered_map<const simgrid::s4u::Link*, LinkId> link_ids_;
  simgrid::s4u::Link* loopback_ = nullptr;
  std::vector<double> bytes_on_link_; // by LinkId
  std::vector<simgrid::s4u::Host*> switches_;

  void add_hosts();
  void add_links();
  void add_switches();
  void set_factors();
  double latency_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                        const std::vector<simgrid::s4u::Link*>& links);
  double bandwidth_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;
  /** The factors of a message from host to host, which has @p size bytes with MPI's envelope; none for another flow. */
  const PointToPointSegment* segment(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

public:
  /** Add the zone, and one for streams, to the root zone. The engine owns both; @p fabric must outlive them. */
  static FabricZone* create(const Fabric& fabric);
  explicit FabricZone(const Fabric& fabric);

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  StreamZone& streams() { return *streams_; }
  simgrid::s4u::Link* link(LinkId id) const { return links_[static_cast<std::size_t>(id)]; }
  simgrid::s4u::Host* switch_host(int index);
  /** Whether it is one of the fabric's hosts, where ranks run. */
  bool is_host(const simgrid::s4u::Host* host) const;
  VertexId vertex_of(const simgrid::s4u::Host* host) const;
  double bytes_on_link(LinkId link) const { return bytes_on_link_.at(static_cast<std::size_t>(link)); }
};

} // namespace weft
