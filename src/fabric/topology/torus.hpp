// SPDX-License-Identifier: LGPL-2.1-only
/* Torus and mesh: switches on a grid of n dimensions, hosts on each of them.
 *
 * Switch s has in dimension j the coordinate s / (d1 ... dj) mod d(j+1), dimension 0 fastest, as in SimGrid's
 * TorusZone; host h is on switch h / hosts_per_switch. Along each dimension a switch is cabled to the one with the next
 * coordinate; on a torus the last is cabled to the first, but where a dimension has size 2, whose two switches are
 * neighbours already. (SimGrid makes that second cable and never uses it.)
 *
 * Routing goes dimension by dimension, 0 first, the shorter way round, and up where both are as long. (So does SimGrid,
 * but from the middle of an even dimension to its coordinate 0, where it goes down.) The destination chooses among
 * parallel cables.
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

namespace weft {

struct TorusOptions {
  std::vector<int> dimensions;
  int hosts_per_switch = 1;
  int cables           = 1; ///< between neighbouring switches
  std::string link_aggregation{LinkAggregation().name()};
};

class Torus : public Topology {
  struct Dimension {
    int size;
    int stride;      ///< switches that one more in this dimension goes further
    bool wraps;      ///< the last is cabled to the first
    int first_cable; ///< to the next switch, by switch; without those that have no next one
  };

  std::vector<Dimension> dimensions_;
  int switches_ = 1;
  int hosts_per_switch_;
  int parallel_;
  int cable_count_ = 0;
  LinkAggregation aggregation_;

  VertexId vertex(int switch_index) const { return host_count() + switch_index; }
  static int coordinate(int switch_index, const Dimension& dimension);
  static int next_in(const Dimension& dimension, int switch_index);
  int cable_to_next(const Dimension& dimension, int switch_index, int number) const;
  Hop step(const Dimension& dimension, int from, int to, int destination) const;

public:
  enum class Edges { wrapped, open };

  /** Every dimension has a size of at least 2, and there is one. */
  Torus(const TorusOptions& options, Edges edges);

  int host_count() const override { return switches_ * hosts_per_switch_; }
  int switch_count() const override { return switches_; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  int diameter() const override;
  /** The hosts' own switches. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  std::string switch_name(int index) const override;
};

TopologyKind torus_kind();
TopologyKind mesh_kind();

} // namespace weft
