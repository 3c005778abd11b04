// SPDX-License-Identifier: LGPL-2.1-only
/* Fabric as a SimGrid zone.
 *
 * Routes are computed on demand, for each message, with the delay of every switch on them in their
 * latency; there is no all-pairs table. Most programs use only a part of a large fabric, so SimGrid
 * objects exist only for what is used: the hosts of ranks, and each link and memory from its first
 * message on. SimGrid needs some kilobytes per host and one per link. */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/platform/stream_zone.hpp"
#include "fabric/fabric_state.hpp"
#include "model/noise/jitter.hpp"
#include "network/flow_network.hpp"
#include "network/job_traffic.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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
  std::optional<ForwardingState> forwarding_; // if a switch has a cache or a port an interval
  bool has_caches_                        = false;
  bool ports_bound_                       = false;
  ForwardingState::MessageNumber started_ = ForwardingState::NONE;           // started, not begun yet
  std::unordered_map<const void*, ForwardingState::MessageNumber> followed_; // by SimGrid action
  std::ofstream messages_;                                                   // open if messages are recorded
  StreamZone* streams_ = nullptr;
  std::vector<simgrid::s4u::Link*> resources_; // numbered as in FabricRoutes::capacities(); null until used
  std::unordered_map<const simgrid::s4u::Link*, int> numbers_;       // inverse of resources_
  std::vector<int> way_;                                             // resources of the latest route
  std::unordered_map<unsigned long, simgrid::s4u::Link*> loopbacks_; // by net point; only if used
  std::vector<double> bytes_;                                        // as Fabric::counted_as()
  JobTraffic* traffic_ = nullptr;                                    // counts messages of SimGrid's by job
  std::vector<simgrid::s4u::Host*> switches_;
  std::vector<simgrid::s4u::Host*> hosts_; // by vertex; null if no rank is placed there
  std::vector<VertexId> vertices_;         // by id of the net point
  std::optional<LatestMessage> latest_;
  double latency_ = 0;                       // latency of the message that is starting
  std::optional<Jitter> jitter_;             // if links have jitter
  std::unique_ptr<RoutingPolicy> hashing_;   // routes SimGrid's messages, if by a hash; null: static routes
  std::vector<std::uint32_t> messages_sent_; // by vertex, if links have jitter

  bool is_link(int resource) const { return std::cmp_less(resource, fabric_.links().size()); }
  /** Returns the number of a resource; nothing if @p link is none. Needs no hash lookup if the
   * link is at @p position of the latest route. */
  std::optional<int> number_of(const simgrid::s4u::Link* link, std::size_t position) const;
  void route_message(VertexId from, VertexId to, bool starts, Route& into);
  void add_hosts(const std::optional<std::unordered_set<std::string>>& used);
  simgrid::s4u::Host* add_host(VertexId vertex, double speed);
  simgrid::s4u::Link* make_resource(int number);
  void add_switches();
  void set_factors();
  VertexId vertex_at(const simgrid::kernel::routing::NetPoint* point) const;
  /** Returns the link that a message within a host uses. */
  simgrid::s4u::Link* loopback(const simgrid::kernel::routing::NetPoint* point);
  /** Appends the memory of @p host, once per copy of a message. */
  void add_memory(VertexId host, simgrid::kernel::routing::Route* into);
  void follow_messages();
  ForwardingState::Start start_message(const Route& route, VertexId from, VertexId to);
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

  /* Flows that weft simulates itself. Resources are numbered as in FabricRoutes. */

  /** Appends the numbers of the resources that a message on link @p id uses. */
  void append_numbers(LinkId id, std::vector<int>& into) const;
  /** Counts a message between two hosts; returns what its route adds to its latency. */
  ForwardingState::Start count_message(const Route& route, VertexId from, VertexId to, Bytes bytes);
  /** Counts another message that leaves at the same time on the same route. */
  void count_again(const FlowRoute& way, VertexId from, VertexId to, Bytes bytes);
  /** Returns whether ports have an interval, so that they may limit messages. */
  bool ports_bound() const { return ports_bound_; }
  /** Returns whether switches have forwarding caches, so that equal messages may take different times. */
  bool has_caches() const { return has_caches_; }
  bool has_jitter() const { return jitter_.has_value(); }
  /** Returns the delay that jitter on @p links adds to the next message from @p from. */
  Seconds next_jitter(std::span<const LinkId> links, VertexId from);
  /** Announces that a counted message uses its links, with @p volume on each, once its latency is
   * over. */
  void begin_message(ForwardingState::MessageNumber message, Bytes bytes, Bytes volume, Seconds latency);
  void end_message(ForwardingState::MessageNumber message);
  /** Flushes forwarding caches, since routes are those of @p known from now on. Returns the links whose ports may limit
   * messages differently. */
  std::vector<LinkId> change_routes(const FabricState& known)
  {
    return forwarding_ ? forwarding_->change_routes(known) : std::vector<LinkId>();
  }
  /** Returns the current capacity of a resource: its bandwidth @p fixed, or less if the port at
   * its end looks up packets more slowly. */
  double capacity(int resource, double fixed);
  /** Returns SimGrid's link for a resource, created if absent. Call it only in SimGrid's kernel
   * context; elsewhere other ranks would run meanwhile. */
  simgrid::s4u::Link* resource(int number);
  simgrid::s4u::Host* endpoint(VertexId vertex) override;
  VertexId vertex_of(const simgrid::s4u::Host* host) const override;
  double bytes_on_link(LinkId id) const override
  {
    return fabric_.bytes_on_link(id, [this](int counted) { return bytes_.at(static_cast<std::size_t>(counted)); });
  }
  std::optional<LookupCounters> lookups(int switch_index) const override
  {
    return forwarding_ ? forwarding_->counters(switch_index) : std::nullopt;
  }
  void count_bytes(LinkId id, Bytes bytes) override { bytes_.at(static_cast<std::size_t>(id)) += bytes.value(); }
  /** Counts messages that SimGrid carries as traffic of the job of their hosts from now on. */
  void count_by_job(JobTraffic& traffic) { traffic_ = &traffic; }
};

} // namespace weft
