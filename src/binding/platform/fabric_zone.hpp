// SPDX-License-Identifier: LGPL-2.1-only
/* A fabric as a SimGrid zone.
 *
 * Routes are computed when a message asks for one, with the delay of every switch on the way in their latency; there is
 * no all-pairs table. Of a large fabric most programs use a part, so SimGrid has of it what is used: the hosts that
 * ranks are placed on, and each link and memory from when a message first passes it. SimGrid takes some kilobytes for a
 * host and one for a link.
 */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/platform/stream_zone.hpp"
#include "fabric/fabric_state.hpp"
#include "model/noise/jitter.hpp"
#include "network/flow_network.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft {

/** A message whose action SimGrid has made, on a fabric where those between the same hosts take equal times. */
struct LatestMessage {
  const simgrid::s4u::Host* from;
  const simgrid::s4u::Host* to;
  double bytes;
  simgrid::kernel::resource::NetworkModel* model;
};

class FabricZone : public simgrid::kernel::routing::NetZoneImpl, public Network {
  const FabricState& state_;
  const Fabric& fabric_;
  std::optional<ForwardingState> forwarding_; // where a switch has a cache, or a port an interval
  bool has_caches_                        = false;
  bool ports_bound_                       = false;
  ForwardingState::MessageNumber started_ = ForwardingState::NONE;           // of SimGrid's, which has not begun
  std::unordered_map<const void*, ForwardingState::MessageNumber> followed_; // by SimGrid's action
  std::ofstream messages_; // open where the ends of messages are wanted
  StreamZone* streams_ = nullptr;
  std::vector<simgrid::s4u::Link*> resources_; // as FabricRoutes::capacities() numbers them; null until it is asked for
  std::unordered_map<const simgrid::s4u::Link*, int> numbers_;       // of those that are not null
  std::vector<int> way_;                                             // of the route that was asked for last
  std::unordered_map<unsigned long, simgrid::s4u::Link*> loopbacks_; // by net point, of those that sent to themselves
  std::vector<double> bytes_on_link_;                                // by LinkId
  std::vector<simgrid::s4u::Host*> switches_;
  std::vector<simgrid::s4u::Host*> hosts_; // by vertex; null where no rank is placed
  std::vector<VertexId> vertices_;         // by the number of the net point
  std::vector<double> use_begins_;         // by resource: until then SimGrid's own answer does not count
  std::vector<bool> seen_used_;            // by resource: SimGrid may use it
  std::function<void(int)> on_use_;
  std::optional<LatestMessage> latest_;
  double latency_ = 0;                       // of the message that starts now
  std::optional<Jitter> jitter_;             // where links have some
  std::vector<std::uint32_t> messages_sent_; // by vertex, where they have

  bool is_link(int resource) const { return std::cmp_less(resource, fabric_.links().size()); }
  /** The number of a resource; nothing where it is none. Found at once where it has that position on the way that was
   * asked for last. */
  std::optional<int> number_of(const simgrid::s4u::Link* link, std::size_t position) const;
  /** Those of what a message on a link passes. */
  void append_numbers(LinkId id, std::vector<int>& into) const;
  void add_hosts(const std::optional<std::unordered_set<std::string>>& used);
  simgrid::s4u::Host* add_host(VertexId vertex, double speed);
  simgrid::s4u::Link* make_resource(int number);
  void add_switches();
  void set_factors();
  VertexId vertex_at(const simgrid::kernel::routing::NetPoint* point) const;
  /** What a message within a host passes. */
  simgrid::s4u::Link* loopback(const simgrid::kernel::routing::NetPoint* point);
  /** And its memory. */
  void add_memory(VertexId host, simgrid::kernel::routing::Route* into);
  void follow_messages();
  ForwardingState::Start start_message(const Route& route, VertexId from, VertexId to);
  Seconds jitter_of(const std::vector<simgrid::s4u::Link*>& links, VertexId from);
  /** SimGrid makes the action of the message that has started. */
  void begin_simgrids(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                      const std::vector<simgrid::s4u::Link*>& links, Seconds latency);
  double latency_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                        const std::vector<simgrid::s4u::Link*>& links);
  double bandwidth_factor(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;
  /** A flow of SimGrid's uses @p links once its latency is over. */
  void expect_use(const std::vector<simgrid::s4u::Link*>& links, Seconds latency);
  /** The factors of a message from host to host, which has @p size bytes with MPI's envelope; none for another flow. */
  const PointToPointSegment* segment(double size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) const;

public:
  /** Add the zone, and one for streams, to the root zone. The engine owns both; @p state must outlive them. SimGrid
   * gets the hosts whose names are in @p used; all, where it is not given. The ends of all messages between hosts go to
   * the file @p messages, where it is given: two numbers of hosts each, as ints. */
  static FabricZone* create(const FabricState& state, const std::optional<std::unordered_set<std::string>>& used,
                            const std::string& messages);
  explicit FabricZone(const FabricState& state);

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  /** The message between hosts that has started last; each once. None where equal ones may take other times, by caches,
   * intervals of ports or jitter, and on platforms of SimGrid's. */
  static std::optional<LatestMessage> take_latest_message();

  StreamZone& streams() override { return *streams_; }
  void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) override;
  double use_of(LinkId id) override;
  simgrid::s4u::Host* switch_host(int index) override;
  bool is_host(const simgrid::s4u::Host* host) const override;
  simgrid::s4u::Host* host_at(VertexId vertex) const override { return hosts_.at(static_cast<std::size_t>(vertex)); }

  /* For messages that are not SimGrid's. Resources are numbered as FabricRoutes has them. */

  /** Count a message between two hosts, and what its route makes it pay beside its latency. */
  ForwardingState::Start count_message(const Route& route, VertexId from, VertexId to, Bytes bytes);
  /** Another one that leaves with it. */
  void count_again(const FlowRoute& way, VertexId from, VertexId to, Bytes bytes);
  /** Whether ports have an interval, so that they may bound messages. */
  bool ports_bound() const { return ports_bound_; }
  /** Whether packets are looked up in caches, so that equal messages need not take equal times. */
  bool has_caches() const { return has_caches_; }
  /** Whether links have jitter. */
  bool has_jitter() const { return jitter_.has_value(); }
  /** What the next message that @p from sends is later by, because of @p links. */
  Seconds next_jitter(std::span<const LinkId> links, VertexId from);
  /** A message that has been counted uses its links when its latency is over, as @p volume on each. */
  void begin_message(ForwardingState::MessageNumber message, Bytes bytes, Bytes volume, Seconds latency);
  void end_message(ForwardingState::MessageNumber message);
  /** What a resource takes now: its bandwidth, @p fixed, or what the port at its end can look up. */
  double capacity(int resource, double fixed);
  /** SimGrid's link for a resource, made where there is none yet. Only in SimGrid's kernel context: in a rank's, others
   * would run meanwhile. */
  simgrid::s4u::Link* resource(int number);
  /** Whether flows of SimGrid's use a resource, or will before anybody is told; so it seems where it is off. */
  bool uses(int resource);
  /** Tell of each resource that a flow of SimGrid's begins to use, or that goes off. */
  void on_use(std::function<void(int resource)> told);
  VertexId vertex_of(const simgrid::s4u::Host* host) const override;
  std::optional<double> bytes_on_link(LinkId id) const override
  {
    return bytes_on_link_.at(static_cast<std::size_t>(id));
  }
  std::optional<LookupCounters> lookups(int switch_index) const override
  {
    return forwarding_ ? forwarding_->counters(switch_index) : std::nullopt;
  }

protected:
  void count_bytes(LinkId id, Bytes bytes) override
  {
    bytes_on_link_.at(static_cast<std::size_t>(id)) += bytes.value();
  }
};

} // namespace weft
