// SPDX-License-Identifier: LGPL-2.1-only
/* Dragonfly: groups of routers (switches), with a cable between any two groups (Kim et al., ISCA 2008), with the
 * parameters of SimGrid's DragonflyZone, which follows the Cray Cascade (Faanes et al., SC 2012).
 *
 * A group has `chassis` chassis of `routers` routers with `hosts` hosts each, numbered in that order, hosts fastest.
 * The routers of a chassis are connected all to all ("green" cables), as are the routers of a group at the same
 * position in their chassis ("black"). Groups i and j are connected ("blue") between router j of group i and router i
 * of group j, modulo the routers of a group. (SimGrid has no rule for more groups than routers in a chassis.)
 *
 * Routing is minimal: within a group green before black; between groups to the router with the blue cable, across it,
 * and on to the destination. (SimGrid's routes are the same except within groups from chassis other than 0: see the
 * tests against SimGrid's zones in tests/python.) The destination selects among parallel cables. (SimGrid has one link
 * with their total bandwidth.)
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

namespace weft {

struct DragonflyOptions {
  int groups         = 0;
  int chassis        = 1; ///< per group
  int routers        = 0; ///< per chassis
  int hosts          = 0; ///< per router
  int global_cables  = 1; ///< blue: between two groups
  int chassis_cables = 1; ///< black: between routers at the same position in two chassis of a group
  int router_cables  = 1; ///< green: between two routers of a chassis
  std::string link_aggregation{LinkAggregation().name()};
};

class Dragonfly : public Topology {
  DragonflyOptions options_;
  LinkAggregation aggregation_;
  int group_routers_; // routers of a group
  int first_green_, first_black_, first_blue_;

  /** Position of a router. */
  struct Place {
    int group;
    int chassis;
    int router;
  };

  Place place(int router_index) const;
  int router_index(Place place) const;
  VertexId vertex(Place place) const { return host_count() + router_index(place); }
  Place gateway(int group, int other_group) const;
  int green(int chassis_index, int router, int other) const;
  int black(int group, int router, int chassis, int other) const;
  int blue(int group, int other) const;
  Hop cross(Place at, int group, int spread) const;
  Hop approach(Place at, Place target, int spread) const;
  int spread(VertexId destination) const;
  void append_inside(Place at, Place target, std::vector<Hop>& into) const;

public:
  /** All values must be positive. */
  explicit Dragonfly(const DragonflyOptions& options);

  int host_count() const override { return switch_count() * options_.hosts; }
  int switch_count() const override { return options_.groups * group_routers_; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  /** Next hops include both orders of green and black within a group, and all parallel cables. */
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  bool has_detours() const override { return options_.groups > 2; }
  /** Returns the router at which packets from the group of @p from enter a third group, chosen at random. */
  std::optional<VertexId> intermediate(VertexId from, VertexId to, std::uint32_t random) const override;
  int diameter() const override;
  /** Returns the routers of the hosts. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  /** "group-03-router-07". */
  std::string switch_name(int index) const override;
};

TopologyKind dragonfly_kind();

} // namespace weft
