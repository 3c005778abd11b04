// SPDX-License-Identifier: LGPL-2.1-only
/* Custom: hosts, switches and cables as the file lists them.
 *
 * A cable joins a host and a switch, two switches, or two hosts, which reach each other by it and nobody else.
 * A packet takes a shortest way by number of links that passes through no host: from each vertex the first cable in the
 * file that begins such a way, or of those parallel to it the one that the destination chooses. A breadth-first search
 * back from a destination finds the cable at every vertex; the tables of the destinations searched last are kept, as
 * far as a fixed amount of memory goes. So next_hop() changes what is kept: one thread at a time.
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

#include <map>

namespace weft {

class Custom final : public Topology {
public:
  /** Ids of cables; their upper ends are switches where one end is. */
  struct Graph {
    std::vector<std::string> hosts;
    std::vector<std::string> switches;
    std::vector<Cable> cables;
  };
  /** Two vertices without a way between them; the first is a host. */
  struct Gap {
    VertexId host;
    VertexId other;
  };

private:
  /** A cable end: the link that leaves the vertex there, and where to. */
  struct Port {
    LinkId link;
    VertexId to;
  };
  /** The way to one destination. */
  struct Table {
    VertexId to = -1;
    std::vector<LinkId> next; // by vertex
  };

  Graph graph_;
  LinkAggregation aggregation_;
  std::vector<int> first_port_;       // by vertex: its ports begin there; at the end their number
  std::vector<Port> ports_;           // by vertex, then in the order of the cables
  mutable std::vector<Table> tables_; // that of a destination is at its number modulo their count
  mutable int diameter_ = 0;          // 0: not searched for yet

  int vertices() const { return static_cast<int>(graph_.hosts.size() + graph_.switches.size()); }
  std::span<const Port> ports(VertexId vertex) const;
  std::vector<int> distances(VertexId to) const;
  LinkId pick(VertexId at, const Port& first, VertexId to) const;
  void search(VertexId to, Table& table) const;
  std::vector<int> switch_parts(int& count) const;
  int farthest_host(VertexId from) const;

public:
  /** Between any host and any other vertex there is a way through switches, or a cable; see find_gap(). */
  explicit Custom(Graph graph, LinkAggregation aggregation = LinkAggregation());

  /** A pair that is not connected; two hosts where there are such. */
  std::optional<Gap> find_gap() const;

  int host_count() const override { return static_cast<int>(graph_.hosts.size()); }
  int switch_count() const override { return static_cast<int>(graph_.switches.size()); }
  std::vector<Cable> cables() const override { return graph_.cables; }
  Hop next_hop(VertexId at, VertexId to) const override;
  int diameter() const override;
  /** The switches that the hosts are cabled to. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::string host_name(int index) const override { return graph_.hosts[static_cast<std::size_t>(index)]; }
  std::string switch_name(int index) const override { return graph_.switches[static_cast<std::size_t>(index)]; }
};

TopologyKind custom_kind();

} // namespace weft
