// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/torus.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

namespace {

/** Returns the number of cables in a row along a dimension of @p size switches. */
int cables_of_row(int size, bool wraps)
{
  return wraps ? size : size - 1;
}

bool wraps_around(int size, Torus::Edges edges)
{
  return edges == Torus::Edges::wrapped && size > 2;
}

} // namespace

Torus::Torus(const TorusOptions& options, Edges edges)
    : hosts_per_switch_(options.hosts_per_switch), parallel_(options.cables), aggregation_(options.link_aggregation)
{
  for (const int size : options.dimensions)
    switches_ *= size;
  int cable  = switches_ * hosts_per_switch_;
  int stride = 1;
  for (const int size : options.dimensions) {
    if (size < 2)
      throw std::logic_error("a dimension of a torus has at least two switches");
    const bool wraps = wraps_around(size, edges);
    dimensions_.push_back({size, stride, wraps, cable});
    cable += switches_ / size * cables_of_row(size, wraps) * parallel_;
    stride *= size;
  }
  cable_count_ = cable;
}

int Torus::coordinate(int switch_index, const Dimension& dimension)
{
  return switch_index / dimension.stride % dimension.size;
}

int Torus::next_in(const Dimension& dimension, int switch_index)
{
  const bool last = coordinate(switch_index, dimension) == dimension.size - 1;
  return switch_index + dimension.stride * (last ? 1 - dimension.size : 1);
}

int Torus::cable_to_next(const Dimension& dimension, int switch_index, int number) const
{
  const int rows = switch_index / (dimension.stride * dimension.size) * dimension.stride;
  const int rank = dimension.wraps ? switch_index : switch_index - rows; // each earlier row has one cable fewer
  return dimension.first_cable + rank * parallel_ + number;
}

/** Returns the hop along @p dimension. The destination selects among parallel cables by its coordinates in this and
 * higher dimensions and its host, in which destinations behind these cables differ. */
Hop Torus::step(const Dimension& dimension, int from, int to, int destination) const
{
  const int host    = destination < host_count() ? destination % hosts_per_switch_ : 0;
  const int number  = aggregation_.choice(destination, to / dimension.stride * hosts_per_switch_ + host) % parallel_;
  const int forward = (coordinate(to, dimension) - coordinate(from, dimension) + dimension.size) % dimension.size;
  const bool up =
      dimension.wraps ? 2 * forward <= dimension.size : coordinate(to, dimension) > coordinate(from, dimension);
  return neighbour(dimension, from, up, number);
}

/** Returns the hop to the next (@p up) or previous switch along @p dimension, over parallel cable @p number. */
Hop Torus::neighbour(const Dimension& dimension, int from, bool up, int number) const
{
  if (up)
    return {up_link(static_cast<std::size_t>(cable_to_next(dimension, from, number))),
            vertex(next_in(dimension, from))};
  const bool first = coordinate(from, dimension) == 0;
  const int before = from + dimension.stride * (first ? dimension.size - 1 : -1);
  return {down_link(static_cast<std::size_t>(cable_to_next(dimension, before, number))), vertex(before)};
}

void Torus::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  const int from   = at - host_count();
  const int target = is_host(to) ? to / hosts_per_switch_ : to - host_count();
  if (is_host(at) || from == target) {
    into.push_back(next_hop(at, to));
    return;
  }
  for (const Dimension& dimension : dimensions_) {
    const int ahead = coordinate(target, dimension) - coordinate(from, dimension);
    if (ahead == 0)
      continue;
    const int forward = (ahead + dimension.size) % dimension.size;
    const bool up     = dimension.wraps ? 2 * forward <= dimension.size : ahead > 0;
    const bool down   = dimension.wraps ? 2 * forward >= dimension.size : ahead < 0;
    for (int number = 0; number < parallel_; ++number) {
      if (up)
        into.push_back(neighbour(dimension, from, true, number));
      if (down)
        into.push_back(neighbour(dimension, from, false, number));
    }
  }
}

std::optional<VertexId> Torus::intermediate(VertexId from, VertexId to, std::uint32_t random) const
{
  const int first = from / hosts_per_switch_;
  const int last  = to / hosts_per_switch_;
  if (first == last || not has_detours())
    return std::nullopt;
  return vertex(scaled_without(random, switches_, first, last));
}

Hop Torus::next_hop(VertexId at, VertexId to) const
{
  if (is_host(at))
    return {up_link(static_cast<std::size_t>(at)), vertex(at / hosts_per_switch_)};
  const int from   = at - host_count();
  const int target = is_host(to) ? to / hosts_per_switch_ : to - host_count();
  for (const Dimension& dimension : dimensions_)
    if (coordinate(from, dimension) != coordinate(target, dimension))
      return step(dimension, from, target, to);
  return {down_link(static_cast<std::size_t>(to)), to};
}

std::vector<Cable> Torus::cables() const
{
  std::vector<Cable> cables;
  cables.reserve(static_cast<std::size_t>(cable_count_));
  for (VertexId host = 0; host < host_count(); ++host)
    cables.push_back({host, vertex(host / hosts_per_switch_)});
  for (const Dimension& dimension : dimensions_) {
    for (int at = 0; at < switches_; ++at) {
      if (not dimension.wraps && coordinate(at, dimension) == dimension.size - 1)
        continue;
      for (int number = 0; number < parallel_; ++number)
        cables.push_back({vertex(at), vertex(next_in(dimension, at)), number});
    }
  }
  return cables;
}

int Torus::diameter() const
{
  int links = 2;
  for (const Dimension& dimension : dimensions_)
    links += dimension.wraps ? dimension.size / 2 : dimension.size - 1;
  return links;
}

std::vector<VertexId> Torus::meeting_switches(std::span<const VertexId> hosts) const
{
  std::vector<VertexId> switches;
  for (const VertexId host : hosts)
    switches.push_back(vertex(host / hosts_per_switch_));
  std::ranges::sort(switches);
  const auto repeated = std::ranges::unique(switches);
  switches.erase(repeated.begin(), repeated.end());
  return switches;
}

std::unique_ptr<const ForwardingHash> Torus::forwarding_hash() const
{
  CubeShape shape{{}, hosts_per_switch_, parallel_, aggregation_};
  for (const Dimension& dimension : dimensions_)
    shape.dimensions.push_back({dimension.size, dimension.wraps});
  return make_cube_hash(shape);
}

std::string Torus::switch_name(int index) const
{
  return numbered("switch", index, switches_);
}

namespace {

const std::vector<Option<TorusOptions>>& torus_options()
{
  using M = TorusOptions;
  static const std::vector<Option<M>> ROWS{
      {"dimensions", "switches along each dimension, such as [4, 4, 4]", &M::dimensions},
      {"hosts_per_switch", "hosts on each switch", &M::hosts_per_switch, Need::optional},
      {"cables", "parallel cables between neighbouring switches", &M::cables, Need::optional},
      link_aggregation_option<M>(),
  };
  return ROWS;
}

void check_size(const OptionTable& table, const TorusOptions& options, Torus::Edges edges)
{
  double switches = 1;
  for (const int size : options.dimensions) {
    if (size < 2)
      table.fail("dimensions", "found a size of " + std::to_string(size) +
                                   "; allowed: at least 2 switches along each dimension; omit that dimension");
    switches *= size;
  }
  check_cable_count(table, "dimensions", switches);
  double cables = switches * options.hosts_per_switch;
  check_cable_count(table, "hosts_per_switch", cables);
  for (const int size : options.dimensions)
    cables += switches / size * cables_of_row(size, wraps_around(size, edges)) * options.cables;
  check_cable_count(table, options.cables > 1 ? "cables" : "dimensions", cables);
}

std::unique_ptr<Topology> build_torus(const OptionTable& table, Torus::Edges edges)
{
  TorusOptions options;
  require_options(table, torus_options(), read_options(table, torus_options(), {"kind"}, options));
  check_size(table, options, edges);
  return std::make_unique<Torus>(options, edges);
}

} // namespace

TopologyKind torus_kind()
{
  return {"torus", "switches on a grid with wrap-around; dimension-order routing, the shorter way round",
          describe_options(torus_options()),
          [](const OptionTable& table) { return build_torus(table, Torus::Edges::wrapped); }};
}

TopologyKind mesh_kind()
{
  return {"mesh", "switches on a grid; dimension-order routing", describe_options(torus_options()),
          [](const OptionTable& table) { return build_torus(table, Torus::Edges::open); }};
}

} // namespace weft
