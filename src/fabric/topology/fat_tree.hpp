// SPDX-License-Identifier: LGPL-2.1-only
/* Fat tree: an extended generalized fat tree XGFT(h; m1..mh; w1..wh) with p1..ph parallel cables (Ohring et al., "On
 * Generalized Fat Trees", IPPS 1995), with the parameters of SimGrid's FatTreeZone, and the same positions, parents and
 * upward routes.
 *
 * Level 0 contains the hosts, level h is the top. A node of level i is a tuple of h digits: digit j is less than m(j+1)
 * if j >= i, and less than w(j+1) otherwise; read as a number, digit 0 fastest, they are its position in the level. The
 * parents of a node differ from it in digit i only. A node is above another if they agree in all digits that have range
 * m in both nodes, and in all digits that have range w in both.
 *
 * Routing is D-mod-k: up by the destination's position p, at level i on cable p / (w1 ... wi) mod (w(i+1) p(i+1)),
 * until the destination is below; then down, where only parallel cables leave a choice, which the destination's
 * position again determines. (In SimGrid, the source's position does.) On the way to a switch, its own digits with
 * range w replace those of p, so that the packet ends there.
 *
 * If there are fewer hosts than positions in level 0, the last positions are empty and routes are unchanged.
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

namespace weft {

/** Parameters, one value per level, lowest first. */
struct FatTreeOptions {
  std::vector<int> down;   ///< m: children of a node of level 1, 2, ...
  std::vector<int> up;     ///< w: parents of a node of level 0, 1, ...
  std::vector<int> cables; ///< p: between a node of level 0, 1, ... and each of its parents
  int hosts = 0;           ///< number of hosts, at the first of the m1 ... mh positions; 0: all
  std::string link_aggregation{LinkAggregation().name()};
};

class FatTree : public Topology {
  /** Level, and position in that level. */
  struct Node {
    int level;
    int position;
  };

  int levels_;
  std::vector<int> down_, up_, parallel_; // m, w, p: by level of the lower node
  std::vector<int> below_;                // by level: m1 ... ml, hosts below a node
  std::vector<int> above_;                // by level: w1 ... wl, nodes of that level above a host
  std::vector<int> first_;                // by level: its first vertex; last element: number of vertices
  std::vector<int> first_cable_;          // by level: first of the cables upwards
  LinkAggregation aggregation_;

  int size(int level) const { return first_[index(level) + 1] - first_[index(level)]; }
  static std::size_t index(int level) { return static_cast<std::size_t>(level); }
  Node node(VertexId vertex) const;
  int stride(int level, int digit) const;
  int shared_level(std::span<const VertexId> hosts) const;
  bool is_above(Node upper, Node lower) const;
  int cable(int level, int child, int parent_digit, int number) const;
  int parallel(int level, Node to) const;
  Hop up(Node from, int digit, int number) const;
  Hop down(Node from, Node to, int number) const;
  Hop climb(Node from, Node to) const;
  Hop descend(Node from, Node to) const;

public:
  /** The lists must have the same length, at least 1, and positive values. */
  explicit FatTree(const FatTreeOptions& options);

  int host_count() const override { return first_[1]; }
  int switch_count() const override { return first_.back() - first_[1]; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  /** Every parent is an equal-cost next hop, as is every parallel cable; towards a switch, parents are equal only at or
   * above the switch's level.
   */
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  /** A subtree is a host, or the hosts and switches below a set of common parents. All its upward cables form one pool
   * per direction. */
  std::vector<int> spray_pools() const override;
  int diameter() const override;
  /** Returns the lowest common ancestors. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  /** "level1-07". */
  std::string switch_name(int index) const override;
};

TopologyKind fat_tree_kind();

} // namespace weft
