// SPDX-License-Identifier: LGPL-2.1-only
/* Fabric as a SimGrid zone.
 *
 * Routes are computed on demand, for each message, with the delay of every switch on them in their
 * latency; there is no all-pairs table. Most programs use only a part of a large fabric, so SimGrid
 * objects exist only for what is used: the hosts of ranks, and each link and memory from its first
 * message on. SimGrid needs some kilobytes per host and one per link. */
#pragma once

#include "binding/platform/fabric_resources.hpp"
#include "binding/platform/fabric_traffic.hpp"
#include "binding/platform/network.hpp"
#include "binding/platform/stream_zone.hpp"
#include "fabric/fabric_state.hpp"
#include "network/job_traffic.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

/** Message for which SimGrid has created an action, on a fabric where messages between the same
 * hosts take equal times. */
struct LatestMessage {
  const simgrid::s4u::Host* from;
  const simgrid::s4u::Host* to;
  double bytes;
  simgrid::kernel::resource::NetworkModel* model;
};

class FabricZone : public simgrid::kernel::routing::NetZoneImpl, public Network {
  const FabricState& state_;
  const Fabric& fabric_;
  FabricTraffic traffic_;
  FabricResources resources_;
  ForwardingState::MessageNumber started_ = ForwardingState::NONE;           // started, not begun yet
  std::unordered_map<const void*, ForwardingState::MessageNumber> followed_; // by SimGrid action
  StreamZone* streams_ = nullptr;
  std::vector<int> way_;              // resources of the latest route
  JobTraffic* job_traffic_ = nullptr; // counts messages of SimGrid's by job
  std::vector<simgrid::s4u::Host*> switches_;
  std::vector<simgrid::s4u::Host*> hosts_; // by vertex; null if no rank is placed there
  std::vector<VertexId> vertices_;         // by id of the net point
  std::optional<LatestMessage> latest_;
  double latency_ = 0;                     // latency of the message that is starting
  std::unique_ptr<RoutingPolicy> hashing_; // routes SimGrid's messages, if by a hash; null: static routes

  std::optional<int> number_of(const simgrid::s4u::Link* link, std::size_t position) const;
  void route_message(VertexId from, VertexId to, bool starts, Route& into);
  void add_hosts(const std::optional<std::unordered_set<std::string>>& used);
  simgrid::s4u::Host* add_host(VertexId vertex, double speed);
  void set_factors();
  VertexId vertex_at(const simgrid::kernel::routing::NetPoint* point) const;
  void follow_messages();
  Seconds jitter_of(const std::vector<simgrid::s4u::Link*>& links, VertexId from);
  /** Begins the message that has started, for which SimGrid is creating the action. */
  void begin_simgrids(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                      const std::vector<simgrid::s4u::Link*>& links, Seconds latency);
  double latency_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                        const std::vector<simgrid::s4u::Link*>& links);
  double bandwidth_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;
  /** Returns the factors of a message between hosts, with @p size bytes including MPI's envelope;
   * null for other flows. */
  const PointToPointSegment* segment(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

public:
  /** Adds the zone, and one for streams, to the root zone. The engine owns both; @p state must
   * outlive them. Only the hosts named in @p used are created in SimGrid; without @p used, all are.
   * If @p messages is not empty, the source and destination of every message between hosts are
   * written to that file as two ints, the numbers of the hosts. */
  static FabricZone* create(const FabricState& state, const std::optional<std::unordered_set<std::string>>& used,
                            const std::string& messages);
  explicit FabricZone(const FabricState& state);

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  /** Returns the latest message between hosts, each one only once. Returns nothing on SimGrid
   * platforms, or if equal messages may take different times because of caches, port intervals or
   * jitter. */
  static std::optional<LatestMessage> take_latest_message();

  StreamZone& streams() override { return *streams_; }
  void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) override;
  double use_of(LinkId id) override;
  bool is_host(const simgrid::s4u::Host* host) const override;
  simgrid::s4u::Host* host_at(VertexId vertex) const override { return hosts_.at(static_cast<std::size_t>(vertex)); }
  simgrid::s4u::Host* make_host_at(VertexId vertex, int cores) override;

  /** Returns the effects of messages on the fabric, for those that weft carries itself. */
  FabricTraffic& traffic() { return traffic_; }
  /** Returns SimGrid's links for the fabric's resources. */
  FabricResources& resources() { return resources_; }
  simgrid::s4u::Host* endpoint(VertexId vertex) override;
  VertexId vertex_of(const simgrid::s4u::Host* host) const override;
  double bytes_on_link(LinkId id) const override { return traffic_.bytes_on_link(id); }
  std::optional<LookupCounters> lookups(int switch_index) const override { return traffic_.lookups(switch_index); }
  void count_bytes(LinkId id, Bytes bytes) override { traffic_.count_bytes(id, bytes); }
  /** Counts messages that SimGrid carries as traffic of the job of their hosts from now on. */
  void count_by_job(JobTraffic& traffic) { job_traffic_ = &traffic; }
};

} // namespace weft
