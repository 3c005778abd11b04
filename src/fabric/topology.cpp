#include "fabric/topology.hpp"

#include "fabric/star.hpp"

#include <algorithm>

namespace weft {

const std::vector<Option<LinkModel>>& link_options()
{
  using M = LinkModel;
  static const std::vector<Option<M>> ROWS{
      {"bandwidth", "of each direction of a cable", &M::bandwidth},
      {"latency", "of each direction of a cable, with the host's or NIC's part where it ends at a host", &M::latency,
       Need::required, Bound::non_negative},
  };
  return ROWS;
}

LinkModel read_link(const OptionTable& table)
{
  LinkModel model;
  require_options(table, link_options(), read_options(table, link_options(), {}, model));
  return model;
}

std::string Topology::host_name(int index) const
{
  // Zero-padded: SimGrid lists hosts by name, and ranks are placed in that order.
  const std::string last   = std::to_string(host_count() - 1);
  const std::string number = std::to_string(index);
  return "host-" + std::string(last.size() - number.size(), '0') + number;
}

std::string Topology::vertex_name(VertexId vertex) const
{
  return vertex < host_count() ? host_name(vertex) : switch_name(vertex - host_count());
}

const std::vector<TopologyKind>& topology_kinds()
{
  static const std::vector<TopologyKind> ROWS{star_kind()};
  return ROWS;
}

std::unique_ptr<Topology> read_topology(const OptionTable& table, const LinkModel& link, std::string& kind)
{
  std::vector<std::string> names;
  for (const TopologyKind& row : topology_kinds())
    names.push_back(row.name);
  const std::optional<std::string> wanted = table.text("kind");
  if (not wanted)
    table.fail("kind", "is missing; allowed: " + join(names));
  for (const TopologyKind& row : topology_kinds()) {
    if (row.name != *wanted)
      continue;
    kind = row.name;
    return row.build(table, link);
  }
  table.fail("kind", "found \"" + *wanted + "\"; allowed: " + join(names));
}

} // namespace weft
