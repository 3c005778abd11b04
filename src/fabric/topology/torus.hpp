// SPDX-License-Identifier: LGPL-2.1-only
/* Torus and mesh: an n-dimensional grid of switches, with hosts on each of them.
 *
 * Switch s has the coordinate s / (d1 ... dj) mod d(j+1) in dimension j, dimension 0 fastest, as in SimGrid's
 * TorusZone; host h is on switch h / hosts_per_switch. In each dimension a switch is connected to the switch with the
 * next coordinate. On a torus, the last switch is also connected to the first, except in a dimension of size 2, whose
 * switches are neighbours already. (SimGrid creates that second cable and never uses it.)
 *
 * Routing is dimension-ordered, 0 first, in the shorter direction, up on a tie. (SimGrid's routes are the same except
 * from the middle of an even dimension to its coordinate 0, where they go down.) The destination selects among parallel
 * cables.
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
    int stride;      ///< difference in switch number per step in this dimension
    bool wraps;      ///< the last switch is connected to the first
    int first_cable; ///< by switch: first of the cables to the next switch; switches without a next one are skipped
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
  Hop neighbour(const Dimension& dimension, int from, bool up, int number) const;

public:
  enum class Edges { wrapped, open };

  /** Requires at least one dimension, each of a size of at least 2. */
  Torus(const TorusOptions& options, Edges edges);

  int host_count() const override { return switches_ * hosts_per_switch_; }
  int switch_count() const override { return switches_; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  /** Includes all remaining dimensions, both directions if they are equally long, and all parallel cables. */
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  bool has_detours() const override { return switches_ > 2; }
  /** Returns any switch other than the switches of the two hosts. */
  std::optional<VertexId> intermediate(VertexId from, VertexId to, std::uint32_t random) const override;
  int diameter() const override;
  /** Returns the switches of the hosts. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  std::string switch_name(int index) const override;
};

TopologyKind torus_kind();
TopologyKind mesh_kind();

} // namespace weft
