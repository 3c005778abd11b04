// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/topology.hpp"

#include "fabric/topology/custom.hpp"
#include "fabric/topology/dragonfly.hpp"
#include "fabric/topology/fat_tree.hpp"
#include "fabric/topology/gpu_cluster.hpp"
#include "fabric/topology/star.hpp"
#include "fabric/topology/torus.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace weft {

std::string numbered(const std::string& name, int index, int count)
{
  const std::string last   = std::to_string(count - 1);
  const std::string number = std::to_string(index);
  return name + "-" + std::string(last.size() - number.size(), '0') + number;
}

int scaled_without(std::uint32_t random, int count, int one, int other)
{
  int number = scaled(random, count - 2);
  for (const int skipped : {std::min(one, other), std::max(one, other)})
    number += number >= skipped ? 1 : 0;
  return number;
}

int Topology::stripes_between(VertexId from, VertexId to) const
{
  std::vector<Hop> hops;
  equal_hops(from, to, hops);
  return static_cast<int>(hops.size());
}

std::string Topology::host_name(int index) const
{
  return numbered("host", index, host_count());
}

std::string Topology::vertex_name(VertexId vertex) const
{
  return is_host(vertex) ? host_name(vertex) : switch_name(vertex - host_count());
}

void Topology::route(VertexId from, VertexId to, Route& into) const
{
  const int vertices = host_count() + switch_count();
  for (VertexId at = from; at != to;) {
    const Hop hop = next_hop(at, to);
    into.links.push_back(hop.link);
    if (hop.to != to && not is_host(hop.to))
      into.through.push_back(hop.to);
    if (std::cmp_greater(into.links.size(), vertices))
      throw std::logic_error("the way from " + vertex_name(from) + " to " + vertex_name(to) + " does not end");
    at = hop.to;
  }
}

void check_cable_count(const OptionTable& table, const std::string& key, double count)
{
  if (count <= MOST_CABLES)
    return;
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "makes a fabric of " << count << " cables; allowed: at most "
       << MOST_CABLES;
  table.fail(key, text.str());
}

const std::vector<TopologyKind>& topology_kinds()
{
  static const std::vector<TopologyKind> ROWS{star_kind(), fat_tree_kind(), dragonfly_kind(),  torus_kind(),
                                              mesh_kind(), custom_kind(),   gpu_cluster_kind()};
  return ROWS;
}

std::vector<std::string> topology_names()
{
  std::vector<std::string> names;
  for (const TopologyKind& row : topology_kinds())
    names.push_back(row.name);
  return names;
}

std::unique_ptr<Topology> read_topology(const OptionTable& table, std::string& kind)
{
  const std::vector<std::string> names    = topology_names();
  const std::optional<std::string> wanted = table.text("kind");
  if (not wanted)
    throw MissingError(table.place("kind") + ": is missing; allowed: " + join(names));
  for (const TopologyKind& row : topology_kinds()) {
    if (row.name != *wanted)
      continue;
    kind = row.name;
    return row.build(table);
  }
  table.fail("kind", "found \"" + *wanted + "\"; " + did_you_mean(*wanted, names) + "allowed: " + join(names));
}

} // namespace weft
