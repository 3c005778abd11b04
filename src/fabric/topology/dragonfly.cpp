// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/dragonfly.hpp"

#include <algorithm>

namespace weft {

namespace {

/** Returns the number of pairs of @p count elements. */
constexpr int pairs(int count)
{
  return count * (count - 1) / 2;
}

/** Returns the lexicographic rank of a pair among all pairs of @p count elements. */
int pair_rank(int one, int other, int count)
{
  const auto [lower, upper] = std::minmax(one, other);
  return lower * (2 * count - lower - 1) / 2 + upper - lower - 1;
}

/** Returns the link from @p from to @p to of a cable whose lower end is the vertex with the lower number. */
LinkId link_between(int cable, int from, int to)
{
  const auto id = static_cast<std::size_t>(cable);
  return from < to ? up_link(id) : down_link(id);
}

} // namespace

Dragonfly::Dragonfly(const DragonflyOptions& options)
    : options_(options), aggregation_(options.link_aggregation), group_routers_(options.chassis * options.routers),
      first_green_(options.groups * group_routers_ * options.hosts),
      first_black_(first_green_ + options.groups * options.chassis * pairs(options.routers) * options.router_cables),
      first_blue_(first_black_ + options.groups * options.routers * pairs(options.chassis) * options.chassis_cables)
{
}

Dragonfly::Place Dragonfly::place(int router_index) const
{
  return {router_index / group_routers_, router_index % group_routers_ / options_.routers,
          router_index % options_.routers};
}

int Dragonfly::router_index(Place place) const
{
  return place.group * group_routers_ + place.chassis * options_.routers + place.router;
}

/** Returns the router of @p group with the cable to @p other_group. */
Dragonfly::Place Dragonfly::gateway(int group, int other_group) const
{
  return place(group * group_routers_ + other_group % group_routers_);
}

int Dragonfly::green(int chassis_index, int router, int other) const
{
  return first_green_ + (chassis_index * pairs(options_.routers) + pair_rank(router, other, options_.routers)) *
                            options_.router_cables;
}

int Dragonfly::black(int group, int router, int chassis, int other) const
{
  const int pair = group * pairs(options_.chassis) + pair_rank(chassis, other, options_.chassis);
  return first_black_ + (pair * options_.routers + router) * options_.chassis_cables;
}

int Dragonfly::blue(int group, int other) const
{
  return first_blue_ + pair_rank(group, other, options_.groups) * options_.global_cables;
}

/** Returns the number that selects among parallel cables: a sum over all coordinates of the destination. */
int Dragonfly::spread(VertexId destination) const
{
  const bool host    = is_host(destination);
  const Place target = place(host ? destination / options_.hosts : destination - host_count());
  const int last     = host ? destination % options_.hosts : 0;
  return aggregation_.choice(destination, target.group + target.chassis + target.router + last);
}

/** Returns the next hop within the group of both routers. */
Hop Dragonfly::approach(Place at, Place target, int spread) const
{
  if (at.router != target.router) {
    const int cable = green(at.group * options_.chassis + at.chassis, at.router, target.router);
    return {link_between(cable + spread % options_.router_cables, at.router, target.router),
            vertex({at.group, at.chassis, target.router})};
  }
  const int cable = black(at.group, at.router, at.chassis, target.chassis);
  return {link_between(cable + spread % options_.chassis_cables, at.chassis, target.chassis), vertex(target)};
}

/** Returns the next hop towards another group. */
Hop Dragonfly::cross(Place at, int group, int spread) const
{
  const Place leaving = gateway(at.group, group);
  if (router_index(at) != router_index(leaving))
    return approach(at, leaving, spread);
  return {link_between(blue(at.group, group) + spread % options_.global_cables, at.group, group),
          vertex(gateway(group, at.group))};
}

Hop Dragonfly::next_hop(VertexId at, VertexId to) const
{
  if (is_host(at))
    return {up_link(static_cast<std::size_t>(at)), host_count() + at / options_.hosts};
  const int target = is_host(to) ? to / options_.hosts : to - host_count();
  const int from   = at - host_count();
  if (from == target)
    return {down_link(static_cast<std::size_t>(to)), to};
  const Place here  = place(from);
  const Place there = place(target);
  return here.group == there.group ? approach(here, there, spread(to)) : cross(here, there.group, spread(to));
}

/** Appends the equal-cost next hops to another router of the group. */
void Dragonfly::append_inside(Place at, Place target, std::vector<Hop>& into) const
{
  if (at.router != target.router) {
    const int first = green(at.group * options_.chassis + at.chassis, at.router, target.router);
    for (int number = 0; number < options_.router_cables; ++number)
      into.push_back(
          {link_between(first + number, at.router, target.router), vertex({at.group, at.chassis, target.router})});
  }
  if (at.chassis != target.chassis) {
    const int first = black(at.group, at.router, at.chassis, target.chassis);
    for (int number = 0; number < options_.chassis_cables; ++number)
      into.push_back(
          {link_between(first + number, at.chassis, target.chassis), vertex({at.group, target.chassis, at.router})});
  }
}

void Dragonfly::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  const int target = is_host(to) ? to / options_.hosts : to - host_count();
  if (is_host(at) || at - host_count() == target) {
    into.push_back(next_hop(at, to));
    return;
  }
  const Place here    = place(at - host_count());
  const Place there   = place(target);
  const Place leaving = here.group == there.group ? there : gateway(here.group, there.group);
  if (router_index(here) != router_index(leaving)) {
    append_inside(here, leaving, into);
    return;
  }
  for (int number = 0; number < options_.global_cables; ++number)
    into.push_back({link_between(blue(here.group, there.group) + number, here.group, there.group),
                    vertex(gateway(there.group, here.group))});
}

std::optional<VertexId> Dragonfly::intermediate(VertexId from, VertexId to, std::uint32_t random) const
{
  const int first = from / (options_.hosts * group_routers_);
  const int last  = to / (options_.hosts * group_routers_);
  if (first == last || not has_detours())
    return std::nullopt;
  return vertex(gateway(scaled_without(random, options_.groups, first, last), first));
}

std::vector<Cable> Dragonfly::cables() const
{
  std::vector<Cable> cables;
  const auto add = [&cables](VertexId lower, VertexId upper, int count) {
    for (int number = 0; number < count; ++number)
      cables.push_back({lower, upper, number});
  };
  for (VertexId host = 0; host < host_count(); ++host)
    add(host, host_count() + host / options_.hosts, 1);
  for (int group = 0; group < options_.groups; ++group)
    for (int chassis = 0; chassis < options_.chassis; ++chassis)
      for (int router = 0; router < options_.routers; ++router)
        for (int other = router + 1; other < options_.routers; ++other)
          add(vertex({group, chassis, router}), vertex({group, chassis, other}), options_.router_cables);
  for (int group = 0; group < options_.groups; ++group)
    for (int chassis = 0; chassis < options_.chassis; ++chassis)
      for (int other = chassis + 1; other < options_.chassis; ++other)
        for (int router = 0; router < options_.routers; ++router)
          add(vertex({group, chassis, router}), vertex({group, other, router}), options_.chassis_cables);
  for (int group = 0; group < options_.groups; ++group)
    for (int other = group + 1; other < options_.groups; ++other)
      add(vertex(gateway(group, other)), vertex(gateway(other, group)), options_.global_cables);
  return cables;
}

int Dragonfly::diameter() const
{
  const int inside = (options_.routers > 1 ? 1 : 0) + (options_.chassis > 1 ? 1 : 0);
  return 2 + (options_.groups > 1 ? 2 * inside + 1 : inside);
}

std::vector<VertexId> Dragonfly::meeting_switches(std::span<const VertexId> hosts) const
{
  std::vector<VertexId> switches;
  for (const VertexId host : hosts)
    switches.push_back(host_count() + host / options_.hosts);
  std::ranges::sort(switches);
  const auto repeated = std::ranges::unique(switches);
  switches.erase(repeated.begin(), repeated.end());
  return switches;
}

std::unique_ptr<const ForwardingHash> Dragonfly::forwarding_hash() const
{
  return make_dragonfly_hash(options_);
}

std::string Dragonfly::switch_name(int index) const
{
  const std::string group = numbered("group", index / group_routers_, options_.groups);
  return numbered(group + "-router", index % group_routers_, group_routers_);
}

namespace {

const std::vector<Option<DragonflyOptions>>& dragonfly_options()
{
  using M = DragonflyOptions;
  static const std::vector<Option<M>> ROWS{
      {"groups", "number of groups; every group is cabled to every other", &M::groups},
      {"chassis", "chassis per group; 1 connects all routers of a group directly", &M::chassis, Need::optional},
      {"routers", "routers (switches) per chassis, connected all to all", &M::routers},
      {"hosts", "hosts per router", &M::hosts},
      {"global_cables", "parallel cables between two groups (blue)", &M::global_cables, Need::optional},
      {"chassis_cables", "parallel cables between routers at the same position in two chassis of a group (black)",
       &M::chassis_cables, Need::optional},
      {"router_cables", "parallel cables between two routers of a chassis (green)", &M::router_cables, Need::optional},
      link_aggregation_option<M>(),
  };
  return ROWS;
}

double pairs_of(int count)
{
  return static_cast<double>(count) * (count - 1) / 2;
}

/** Checks the parameters one rule at a time, so that no product overflows an int. */
void check_size(const OptionTable& table, const DragonflyOptions& options)
{
  const double chassis = static_cast<double>(options.groups) * options.chassis;
  const double places  = static_cast<double>(options.groups) * options.routers;
  double cables        = chassis * options.routers * options.hosts;
  check_cable_count(table, "hosts", cables);
  cables += chassis * pairs_of(options.routers) * options.router_cables;
  check_cable_count(table, options.router_cables > 1 ? "router_cables" : "routers", cables);
  cables += places * pairs_of(options.chassis) * options.chassis_cables;
  check_cable_count(table, options.chassis_cables > 1 ? "chassis_cables" : "chassis", cables);
  cables += pairs_of(options.groups) * options.global_cables;
  check_cable_count(table, options.global_cables > 1 ? "global_cables" : "groups", cables);
}

std::unique_ptr<Topology> build_dragonfly(const OptionTable& table)
{
  DragonflyOptions options;
  require_options(table, dragonfly_options(), read_options(table, dragonfly_options(), {"kind"}, options));
  check_size(table, options);
  return std::make_unique<Dragonfly>(options);
}

} // namespace

TopologyKind dragonfly_kind()
{
  return {"dragonfly", "groups of routers, every group cabled to every other; minimal routing",
          describe_options(dragonfly_options()), build_dragonfly};
}

} // namespace weft
