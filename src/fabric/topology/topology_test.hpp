// SPDX-License-Identifier: LGPL-2.1-only
/* What must hold of every topology, for the tests of each. */
#pragma once

#include "fabric/topology/topology.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/** A topology with its cables, and the checks on it; each reports failures to GoogleTest. */
class TopologyCheck {
  const Topology& topology_;
  std::vector<Cable> cables_;
  std::vector<std::vector<VertexId>> neighbours_;
  Route route_;

  void check_cables();
  void check_steps(VertexId from, VertexId to) const;

public:
  explicit TopologyCheck(const Topology& topology);

  const std::vector<Cable>& cables() const { return cables_; }
  int vertices() const { return topology_.host_count() + topology_.switch_count(); }
  int cables_between(VertexId one, VertexId other) const;
  /** Cables that end at @p vertex. */
  std::size_t ports(VertexId vertex) const { return neighbours_[static_cast<std::size_t>(vertex)].size(); }
  /** Links to each vertex from @p from on the shortest way that passes through no host; -1 where there is none. */
  std::vector<int> distances(VertexId from) const;

  /** Walk from @p from to @p to: joins, existing cables only, through no host, nothing twice. Returns its links. */
  const std::vector<LinkId>& walk(VertexId from, VertexId to);
  /** All ways between hosts, from hosts to switches and back. The diameter is reached and not passed. */
  void check_all();
  /** The same of @p count hosts with as many other vertices, without the diameter being reached. */
  void check_sample(unsigned seed, int count);
  /** Every way between hosts is as short as any. */
  void check_minimal();
  /** The most ways of a permutation of the hosts that share a link, where host h sends to h + @p shift. */
  int busiest_link(int shift);
};

/** Read a [topology] table from text. */
std::unique_ptr<Topology> topology_of(const std::string& text);
/** The message with which reading a [topology] table from text fails; empty where it does not. */
std::string failure_of(const std::string& text);

} // namespace weft
