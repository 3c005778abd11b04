/* A fabric as a SimGrid zone.
 *
 * Routes are computed when a message asks for one, with the delay of every switch on the way in their latency; there is
 * no all-pairs table. The zone's net points are, in order: hosts, switches, then the two end points of each stream.
 *
 * A stream is the flow of one in-network collective over all links of a tree switch, both directions at once. It is an
 * ordinary SimGrid communication between two end points whose route is that list of links while it lasts, so the
 * solver shares the links exactly with all other traffic. A link listed k times is charged k-fold.
 *
 * SimGrid's solver weighs a flow by one over its route's latency. So that a stream competes as the point-to-point
 * messages over the same links do, its route reports their latency, and the latency factor turns it into the stream's
 * own base latency.
 */
#pragma once

#include "fabric/fabric.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

/** What a stream needs to know to start. */
struct StreamRequest {
  std::vector<LinkId> links; ///< with repetitions: a link that k contributions cross stands there k times
  Seconds base_latency;
  Seconds sharing_latency; ///< of the point-to-point messages that it competes as
  Bytes wire;
  BytesPerSecond rate_limit;
};

class FabricZone : public simgrid::kernel::routing::NetZoneImpl {
  struct Stream;

  const Fabric& fabric_;
  std::vector<simgrid::s4u::Link*> links_; // by LinkId
  std::unordered_map<const simgrid::s4u::Link*, LinkId> link_ids_;
  simgrid::s4u::Link* loopback_ = nullptr;
  std::vector<double> bytes_on_link_; // by LinkId
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Host*> switches_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> idle_;

  void add_switches();
  Stream& borrow_stream();
  void start(const StreamRequest& request, std::function<void()> done);
  int vertices() const { return fabric_.host_count() + fabric_.switch_count(); }
  Stream* stream_of(unsigned long net_point) const;
  double latency_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                        const std::vector<simgrid::s4u::Link*>& links);
  double bandwidth_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;
  bool point_to_point(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

public:
  /** Add the zone to the root zone. The engine owns it; @p fabric must outlive it. */
  static FabricZone* create(const Fabric& fabric);
  explicit FabricZone(const Fabric& fabric);
  ~FabricZone() override;

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  /** Start a stream; @p done runs in SimGrid's kernel context when its last byte has arrived. */
  void start_stream(const StreamRequest& request, std::function<void()> done);

  simgrid::s4u::Host* host(int index) const { return hosts_.at(static_cast<std::size_t>(index)); }
  simgrid::s4u::Host* switch_host(int index);
  /** Whether it is one of the fabric's hosts, where ranks run. */
  bool is_host(const simgrid::s4u::Host* host) const;
  VertexId vertex_of(const simgrid::s4u::Host* host) const;
  double bytes_on_link(LinkId link) const { return bytes_on_link_.at(static_cast<std::size_t>(link)); }
};

} // namespace weft
