// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/star.hpp"

#include "fabric/topology/fat_tree.hpp"

#include <stdexcept>

namespace weft {

Star::Star(int hosts) : hosts_(hosts)
{
  if (hosts < 1)
    throw std::logic_error("a star has at least one host");
}

std::vector<Cable> Star::cables() const
{
  std::vector<Cable> cables;
  cables.reserve(static_cast<std::size_t>(hosts_));
  for (int host = 0; host < hosts_; ++host)
    cables.push_back({host, hosts_});
  return cables;
}

Hop Star::next_hop(VertexId at, VertexId to) const
{
  const VertexId hub = hosts_;
  if (at == hub)
    return {down_link(static_cast<std::size_t>(to)), to};
  return {up_link(static_cast<std::size_t>(at)), hub};
}

std::vector<VertexId> Star::meeting_switches(std::span<const VertexId>) const
{
  return {hosts_};
}

std::unique_ptr<const ForwardingHash> Star::forwarding_hash() const
{
  return make_fat_tree_hash({{hosts_}, {1}, {1}}); // one level
}

std::string Star::switch_name(int) const
{
  return "switch";
}

namespace {

struct StarOptions {
  int hosts = 0;
};

const std::vector<Option<StarOptions>>& star_options()
{
  static const std::vector<Option<StarOptions>> ROWS{{"hosts", "number of hosts", &StarOptions::hosts}};
  return ROWS;
}

std::unique_ptr<Topology> build_star(const OptionTable& table)
{
  StarOptions options;
  require_options(table, star_options(), read_options(table, star_options(), {"kind"}, options));
  check_cable_count(table, "hosts", options.hosts);
  return std::make_unique<Star>(options.hosts);
}

} // namespace

TopologyKind star_kind()
{
  return {"star", "one switch with a cable to each host", describe_options(star_options()), build_star};
}

} // namespace weft
