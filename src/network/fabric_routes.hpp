// SPDX-License-Identifier: LGPL-2.1-only
/* Routes of messages on a fabric, between hosts, or between a host and a switch. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "fabric/rerouting.hpp"
#include "fabric/routing/static_routing.hpp"
#include "network/flow_network.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace weft {

/** Resource numbers of a fabric's storage targets and disks, which follow those of links, media and memories. Each
 * device has three resources: reads, writes, and both, with the read bandwidth, the write bandwidth and the larger of
 * the two, as in SimGrid's disks (src/kernel/resource/DiskImpl.cpp). */
class StorageResources {
  int targets_from_;
  int disks_from_;

public:
  explicit StorageResources(const Fabric& fabric);
  static void append_capacities(const Fabric& fabric, std::vector<double>& into);
  void append_target(int target, bool write, std::vector<int>& into) const;
  void append_disk(int host, bool write, std::vector<int>& into) const;
  bool contains(int resource) const { return resource >= targets_from_; }
};

class FabricRoutes : public MessageRoutes {
  const Fabric& fabric_;
  const FabricState* state_; // state known to routing; null: everything is up
  std::optional<Rerouting> rerouting_;
  std::unique_ptr<RoutingPolicy> policy_; // null: static routes
  StaticRouting static_;                  // routes stripes if there is no policy
  const bool routes_each_message_;
  const int most_stripes_; // maximum per message
  Bytes eager_below_;
  PointToPointSegment no_factors_; // for messages from or to a switch
  /** Cached route between two hosts, unless each message has its own route. Programs use the same routes again and
   * again. */
  struct KnownRoute {
    int from          = -1;
    int to            = -1;
    FabricEpoch epoch = 0; // of the state for which it was found
    Route route;
    std::vector<int> resources; // links and shared media
    double narrowest = 0;       // minimum bandwidth in bytes per second
    bool exists      = true;    // false if routing knows of no route
    bool is_usual    = true;    // the fabric's own route, without detours around failures
    Seconds latency;
    int stripes = 1; // number of stripes, each with its own route; `route` is then the union of these
    int asked   = 1; // number of stripes requested
  };
  std::vector<KnownRoute> known_;   // direct-mapped cache, indexed by a hash of both hosts; its size is a power of two
  std::vector<KnownRoute> striped_; // likewise, for striped messages; empty if no message is striped
  Route stripe_;                    // reused to avoid allocations
  int last_stripes_ = 1;

  const KnownRoute& between(int from, int to);
  const KnownRoute& between(int from, int to, Bytes bytes);
  bool is_valid(KnownRoute& known) const;
  KnownRoute& place(std::vector<KnownRoute>& all, int from, int to) const;
  void begin(KnownRoute& known, int from, int to) const;
  void add_resources(KnownRoute& known, const Route& route, bool sprayed) const;
  void divide(KnownRoute& known, int from, int to, int stripes);

  void within(int host, Bytes bytes, double missed, FlowRoute& into) const;
  void within_anyhow(int host, Bytes bytes, FlowRoute& into) const;
  void within_sockets(const SocketMessage& message, FlowRoute& into) const;
  void add_memories(int host, FlowRoute& into) const;
  bool loads_memories(Bytes bytes, double missed) const;
  int memory(int host, int socket = 0) const;

protected:
  /** Returns the number of stripes of the message whose route was found last. */
  int stripes() const { return last_stripes_; }
  /** Returns the start-up cost of a message in addition to its route's latency; @p bytes cross each link. */
  virtual Seconds start(const Route& /*route*/, int /*from*/, int /*to*/, Bytes /*bytes*/) { return {}; }

public:
  explicit FabricRoutes(const Fabric& fabric);
  /** Routes around the failures in @p known, the state known to routing, which must outlive this object. */
  explicit FabricRoutes(const FabricState* known);

  /** Returns the capacities, in bytes per second, of the resources in routes: the fabric's links by id, its shared
   * media, the memories of its hosts' sockets if those are limited, and its storage. */
  static std::vector<double> capacities(const Fabric& fabric);

  /** Returns the vertex at the tail of each link and, for each shared medium, of its first link: the classes of flows
   * that are ClassFairShare::BY_LINK. */
  static std::vector<int> tails(const Fabric& fabric);

  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override;
  void find_on_sockets(const SocketMessage& message, FlowRoute& into) override;
  void find_work(const SocketWork& work, FlowRoute& into) override;
  /** Returns the links and media of a route. */
  const std::vector<int>* known_route(int from, int to) override;
  bool repeats() const override { return not routes_each_message_ && most_stripes_ == 1; }
  /** Returns whether messages between the same hosts may have different routes. */
  bool routes_each_message() const { return routes_each_message_; }
  bool follows() const override { return policy_ && policy_->uses_loads(); }
  void entered(const FlowRoute& way) override { policy_->enter(way.resources); }
  void left(const FlowRoute& way) override
  {
    if (policy_)
      policy_->leave(way.resources);
  }
  /** Finds the route of data between a host and storage, without latency and without costs of the MPI library. Returns
   * the number of stripes; the flow found is one of them, and they proceed together. */
  int find_for_storage(int from, int to, Bytes bytes, FlowRoute& into);
};

} // namespace weft
