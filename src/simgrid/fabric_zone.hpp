// SPDX-License-Identifier: LGPL-2.1-only
/* A fabric as a SimGrid zone.
 *
 * Routes are computed when a message asks for one, with the delay of every switch on the way in their latency; there is
 * no all-pairs table. The zone's net points are, in order, the fabric's vertices: hosts, then switches.
 */
#pragma once

#include "fabric/fabric.hpp"
#include "simgrid/network.hpp"
#include "simgrid/stream_zone.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <fstream>
#include <functional>
#include <unordered_map>
#include <vector>

namespace weft {

class FabricZone : public simgrid::kernel::routing::NetZoneImpl, public Network {
  const Fabric& fabric_;
  std::optional<ForwardingState> forwarding_; // where a switch has a cache
  bool limits_lookups_ = false;               // where a port has an interval
  std::ofstream messages_;                    // open where the ends of messages are wanted
  StreamZone* streams_ = nullptr;
  std::vector<simgrid::s4u::Link*> links_; // by LinkId
  std::unordered_map<const simgrid::s4u::Link*, LinkId> link_ids_;
  std::vector<simgrid::s4u::Link*> shared_;
  simgrid::s4u::Link* loopback_ = nullptr;
  std::vector<simgrid::s4u::Link*> engines_; // progress engines, by host; none where the fabric has no such
  std::vector<double> bytes_on_link_;        // by LinkId
  std::vector<simgrid::s4u::Host*> switches_;

  simgrid::s4u::Link* link(LinkId id) const { return links_[static_cast<std::size_t>(id)]; }
  void add_hosts();
  void add_links();
  void add_engines();
  void add_switches();
  void set_factors();
  /** What a message that starts pays beside its route's latency. */
  Seconds start_message(const Route& route, VertexId from, VertexId to);
  double latency_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                        const std::vector<simgrid::s4u::Link*>& links);
  double bandwidth_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                          const std::vector<simgrid::s4u::Link*>& links) const;
  /** The part of the narrowest link's bandwidth that the lookups of a message's frames leave it, at most 1. */
  double lookup_factor(Bytes size, const std::vector<simgrid::s4u::Link*>& links) const;
  /** The factors of a message from host to host, which has @p size bytes with MPI's envelope; none for another flow. */
  const PointToPointSegment* segment(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

public:
  /** Add the zone, and one for streams, to the root zone. The engine owns both; @p fabric must outlive them. The ends
   * of all messages between hosts go to the file @p messages, where it is given: two numbers of hosts each, as ints. */
  static FabricZone* create(const Fabric& fabric, const std::string& messages);
  explicit FabricZone(const Fabric& fabric);

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  StreamZone& streams() override { return *streams_; }
  void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) const override;
  void append_engine(LinkId id, std::vector<simgrid::s4u::Link*>& into) const override;
  simgrid::s4u::Host* switch_host(int index) override;
  bool is_host(const simgrid::s4u::Host* host) const override;
  VertexId vertex_of(const simgrid::s4u::Host* host) const override;
  std::optional<double> bytes_on_link(LinkId id) const override
  {
    return bytes_on_link_.at(static_cast<std::size_t>(id));
  }
  std::optional<LookupCounters> lookups(int switch_index) const override
  {
    return fabric_.forwarding_hash(switch_index) ? std::optional(forwarding_->counters(switch_index)) : std::nullopt;
  }

protected:
  void count_bytes(LinkId id, Bytes bytes) override
  {
    bytes_on_link_.at(static_cast<std::size_t>(id)) += bytes.value();
  }
};

} // namespace weft
