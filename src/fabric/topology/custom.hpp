// SPDX-License-Identifier: LGPL-2.1-only
/* Custom: hosts, switches and cables as the file lists them.
 *
 * A cable connects a host and a switch, two switches, or two hosts; a cable between two hosts carries only their own
 * traffic. Packets take a shortest path, by number of links, that passes through no host. If there is no switch, hosts
 * forward, which takes no time beyond that of the cables. If a vertex has several next hops on shortest paths, it uses
 * the cable that the file lists first; the destination selects among parallel cables. Routing tables come from a
 * breadth-first search from the destination and are cached up to a fixed amount of memory, so next_hop() is not
 * thread-safe.
 */
#pragma once

#include "fabric/topology/link_aggregation.hpp"
#include "fabric/topology/topology.hpp"

#include <map>

namespace weft {

class Custom final : public Topology {
public:
  /** Vertices and cables. A switch is always the upper end of its cable to a host. */
  struct Graph {
    std::vector<std::string> hosts;
    std::vector<std::string> switches;
    std::vector<Cable> cables;
  };
  /** Two unconnected vertices; the first is a host. */
  struct Gap {
    VertexId host;
    VertexId other;
  };

private:
  /** Port of a vertex: the link that leaves it, and the vertex to which the link leads. */
  struct Port {
    LinkId link;
    VertexId to;
  };
  /** Routing table of one destination. */
  struct Table {
    VertexId to = -1;
    std::vector<LinkId> next; // by vertex
  };
  /** Distances to one destination. */
  struct Distances {
    VertexId to = -1;
    std::vector<int> links; // by vertex; -1: unreachable
  };

  Graph graph_;
  LinkAggregation aggregation_;
  std::vector<int> first_port_;              // by vertex: index of its first port; last element: number of ports
  std::vector<Port> ports_;                  // by vertex, then in the order of the cables
  mutable std::vector<Table> tables_;        // direct-mapped cache, indexed by destination modulo size
  mutable std::vector<Distances> distances_; // likewise; empty until equal_hops() is called
  mutable int diameter_ = 0;                 // 0: not computed yet

  bool forwards(VertexId vertex) const { return not is_host(vertex) || hosts_forward(); }
  int vertices() const { return static_cast<int>(graph_.hosts.size() + graph_.switches.size()); }
  std::span<const Port> ports(VertexId vertex) const;
  std::vector<int> distances(VertexId to) const;
  LinkId pick(VertexId at, const Port& first, VertexId to) const;
  void search(VertexId to, Table& table) const;
  std::vector<int> switch_parts(int& count) const;
  int farthest_host(VertexId from) const;

public:
  /** Every host must be connected to every other vertex through vertices that forward, or by a cable; see find_gap().
   */
  explicit Custom(Graph graph, LinkAggregation aggregation = LinkAggregation());

  /** Returns an unconnected pair, if there is one; two hosts if possible. */
  std::optional<Gap> find_gap() const;

  int host_count() const override { return static_cast<int>(graph_.hosts.size()); }
  int switch_count() const override { return static_cast<int>(graph_.switches.size()); }
  std::vector<Cable> cables() const override { return graph_.cables; }
  Hop next_hop(VertexId at, VertexId to) const override;
  void equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const override;
  int diameter() const override;
  bool hosts_forward() const override { return graph_.switches.empty(); }
  /** Returns the switches to which the hosts are cabled. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::string host_name(int index) const override { return graph_.hosts[static_cast<std::size_t>(index)]; }
  std::string switch_name(int index) const override { return graph_.switches[static_cast<std::size_t>(index)]; }
};

TopologyKind custom_kind();

} // namespace weft
