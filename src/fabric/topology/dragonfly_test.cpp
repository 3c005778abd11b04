// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/dragonfly.hpp"

#include "fabric/topology/topology_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Coordinates of a host, computed independently of the implementation. */
struct Coordinates {
  int group, chassis, router;

  Coordinates(const DragonflyOptions& options, int router_index)
      : group(router_index / (options.chassis * options.routers)),
        chassis(router_index / options.routers % options.chassis), router(router_index % options.routers)
  {
  }
};

int links_inside(Coordinates from, Coordinates to)
{
  return (from.chassis == to.chassis ? 0 : 1) + (from.router == to.router ? 0 : 1);
}

/** Returns the number of links between two hosts on a minimal route, from its definition. */
int links_between(const DragonflyOptions& options, VertexId from, VertexId to)
{
  const Coordinates first(options, from / options.hosts);
  const Coordinates last(options, to / options.hosts);
  if (first.group == last.group)
    return 2 + links_inside(first, last);
  const int routers = options.chassis * options.routers;
  const Coordinates leaving(options, first.group * routers + last.group % routers);
  const Coordinates entering(options, last.group * routers + first.group % routers);
  return 3 + links_inside(first, leaving) + links_inside(entering, last);
}

class Dragonflies : public ::testing::TestWithParam<DragonflyOptions> {};

TEST_P(Dragonflies, ways_are_right)
{
  const Dragonfly dragonfly(GetParam());
  TopologyCheck check(dragonfly);
  check.check_all();
  check.check_equal_hops(false); // a route over two global cables may be shorter, but minimal routing never takes it
}

TEST_P(Dragonflies, ways_are_minimal_and_cross_one_global_cable_at_most)
{
  const Dragonfly dragonfly(GetParam());
  TopologyCheck check(dragonfly);
  for (VertexId host = 0; host < dragonfly.host_count(); ++host) {
    for (VertexId other = 0; other < dragonfly.host_count(); ++other) {
      if (host == other)
        continue;
      ASSERT_EQ(check.walk(host, other).size(), links_between(GetParam(), host, other));
    }
  }
}

TEST_P(Dragonflies, every_kind_of_cable_is_there)
{
  const DragonflyOptions& options = GetParam();
  const Dragonfly dragonfly(options);
  const TopologyCheck check(dragonfly);
  const int hosts         = dragonfly.host_count();
  std::size_t global_ends = 0;
  for (int index = 0; index < dragonfly.switch_count(); ++index) {
    const int local =
        options.hosts + (options.routers - 1) * options.router_cables + (options.chassis - 1) * options.chassis_cables;
    global_ends += check.ports(hosts + index) - static_cast<std::size_t>(local);
    const Coordinates here(options, index);
    for (int other = 0; other < dragonfly.switch_count(); ++other) {
      const Coordinates there(options, other);
      if (other == index || here.group != there.group)
        continue;
      const int expected = links_inside(here, there) == 2  ? 0
                           : here.chassis == there.chassis ? options.router_cables
                                                           : options.chassis_cables;
      EXPECT_EQ(check.cables_between(hosts + index, hosts + other), expected);
    }
  }
  EXPECT_EQ(global_ends, options.groups * (options.groups - 1) * options.global_cables);
}

INSTANTIATE_TEST_SUITE_P(Parameters, Dragonflies,
                         ::testing::Values(DragonflyOptions{1, 1, 1, 3},  // a star
                                           DragonflyOptions{1, 1, 4, 2},  // a group
                                           DragonflyOptions{4, 1, 1, 2},  // groups of one router
                                           DragonflyOptions{3, 1, 4, 2},  // fewer groups than routers
                                           DragonflyOptions{5, 1, 4, 1},  // more groups than routers by one
                                           DragonflyOptions{11, 1, 4, 1}, // more groups, several cables per router
                                           DragonflyOptions{3, 2, 3, 1},  // chassis
                                           DragonflyOptions{5, 2, 3, 2},  // gateways in both chassis
                                           DragonflyOptions{9, 3, 2, 1},  //
                                           DragonflyOptions{4, 3, 2, 2, 2, 3, 4})); // parallel cables

TEST(Dragonfly, groups_share_the_cable_between_router_j_of_group_i_and_router_i_of_group_j)
{
  const Dragonfly dragonfly({5, 2, 3, 1});
  const TopologyCheck check(dragonfly);
  EXPECT_EQ(check.cables_between(30 + 1 * 6 + 4, 30 + 4 * 6 + 1), 1);
  EXPECT_EQ(check.cables_between(30 + 0 * 6 + 2, 30 + 2 * 6 + 0), 1);
}

TEST(Dragonfly, green_comes_before_black)
{
  const Dragonfly dragonfly({1, 2, 3, 1});
  Route route;
  dragonfly.route(0, 5, route);
  EXPECT_EQ(route.through, (std::vector<VertexId>{6, 6 + 2, 6 + 5}));
}

TEST(Dragonfly, destinations_spread_over_parallel_cables)
{
  const Dragonfly dragonfly({2, 1, 4, 2, 4});
  TopologyCheck check(dragonfly);
  EXPECT_EQ(check.busiest_link(8), 2); // eight routes over four cables
}

TEST(Dragonfly, meeting_switches_are_the_routers_of_the_hosts)
{
  const Dragonfly dragonfly({3, 1, 4, 2});
  EXPECT_EQ(dragonfly.meeting_switches(std::vector<VertexId>{23, 0, 1, 9}), (std::vector<VertexId>{24, 28, 35}));
}

TEST(Dragonfly, names_say_the_group)
{
  const Dragonfly dragonfly({16, 4, 4, 1});
  EXPECT_EQ(dragonfly.switch_name(3 * 16 + 7), "group-03-router-07");
}

TEST(Dragonfly, samples_of_large_ones_are_right)
{
  TopologyCheck(Dragonfly({65, 4, 16, 16})).check_sample(1, 2000);
}

TEST(Dragonfly, is_read_with_one_chassis_and_single_cables)
{
  EXPECT_EQ(topology_of("kind = \"dragonfly\"\ngroups = 16\nrouters = 16\nhosts = 1")->cables().size(),
            256 + 16 * 120 + 120);
}

TEST(Dragonfly, impossible_parameters_are_refused)
{
  const std::string kind = "kind = \"dragonfly\"\n";
  EXPECT_EQ(failure_of(kind + "groups = 4\nrouters = 4"), "[topology] hosts: is missing; it says: hosts per router");
  EXPECT_EQ(failure_of(kind + "groups = 0\nrouters = 4\nhosts = 1"),
            "[topology] groups: found 0; allowed: more than zero");
  EXPECT_EQ(failure_of(kind + "groups = 4\nrouters = 4\nhosts = 1\nrouter_cables = 0"),
            "[topology] router_cables: found 0; allowed: more than zero");
  EXPECT_EQ(failure_of(kind + "groups = 1\nrouters = 100000\nhosts = 1"),
            "[topology] routers: makes a fabric of 5000050000 cables; allowed: at most 16777216");
  EXPECT_EQ(failure_of(kind + "groups = 1000000\nrouters = 4\nhosts = 1"),
            "[topology] groups: makes a fabric of 500009500000 cables; allowed: at most 16777216");
}

} // namespace
} // namespace weft
