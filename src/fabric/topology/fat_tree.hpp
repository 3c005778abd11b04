// SPDX-License-Identifier: LGPL-2.1-only
/* Fat tree: an extended generalized fat tree XGFT(h; m1..mh; w1..wh) with p1..ph parallel cables (Ohring et al., "On
 * Generalized Fat Trees", IPPS 1995), in the parameters of SimGrid's FatTreeZone, whose positions, parents and ways up
 * are the same.
 *
 * Level 0 are the hosts, level h the top. A node of level i is a tuple of h digits: digit j counts to m(j+1) where
 * j >= i and to w(j+1) below; its position in the level reads the digits as a number, digit 0 fastest. The neighbours
 * of a node one level up differ from it in digit i only. So a node is above another when their digits agree where both
 * count to m, and where both count to w.
 *
 * Routing is D-mod-k: up by the destination's position p, at level i on cable p / (w1 ... wi) mod (w(i+1) p(i+1)),
 * until the destination is below; then down, where only the cable among parallel ones is free and again the
 * destination's position chooses it. (SimGrid lets the source choose that one.) On the way to a switch the digits that
 * it counts to w are its own, so that the packet ends there.
 *
 * Where not all places of level 0 have a host, the last ones are missing; nothing else changes.
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

namespace weft {

/** One value a level, lowest first. */
struct FatTreeOptions {
  std::vector<int> down;   ///< m: children of a node of level 1, 2, ...
  std::vector<int> up;     ///< w: parents of a node of level 0, 1, ...
  std::vector<int> cables; ///< p: between a node of level 0, 1, ... and each of its parents
  int hosts = 0;           ///< the first of the m1 ... mh places have one; 0: all
  std::string link_aggregation{LinkAggregation().name()};
};

class FatTree : public Topology {
  /** A level's number and a position in it. */
  struct Node {
    int level;
    int position;
  };

  int levels_;
  std::vector<int> down_, up_, parallel_; // m, w, p: by level of the lower node
  std::vector<int> below_;                // by level: m1 ... ml, the hosts below a node
  std::vector<int> above_;                // by level: w1 ... wl, the nodes of that level above a host
  std::vector<int> first_;                // by level: its first vertex; at the end their number
  std::vector<int> first_cable_;          // by level: the first cable that goes up from it
  LinkAggregation aggregation_;

  int size(int level) const { return first_[index(level) + 1] - first_[index(level)]; }
  static std::size_t index(int level) { return static_cast<std::size_t>(level); }
  Node node(VertexId vertex) const;
  int stride(int level, int digit) const;
  int shared_level(std::span<const VertexId> hosts) const;
  bool is_above(Node upper, Node lower) const;
  int cable(int level, int child, int parent_digit, int number) const;
  int parallel(int level, Node to) const;
  Hop climb(Node from, Node to) const;
  Hop descend(Node from, Node to) const;

public:
  /** The lists have the same length, at least 1, and all values in them are positive. */
  explicit FatTree(const FatTreeOptions& options);

  int host_count() const override { return first_[1]; }
  int switch_count() const override { return first_.back() - first_[1]; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  int diameter() const override;
  /** The lowest common ancestors. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  /** "level1-07". */
  std::string switch_name(int index) const override;
};

TopologyKind fat_tree_kind();

} // namespace weft
