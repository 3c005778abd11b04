// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/star.hpp"

#include "fabric/topology/topology_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

class Stars : public testing::TestWithParam<int> {};

TEST_P(Stars, HaveOneCableAHost)
{
  const int hosts = GetParam();
  const Star star(hosts);
  EXPECT_EQ(star.host_count(), hosts);
  EXPECT_EQ(star.switch_count(), 1);
  const TopologyCheck check(star);
  EXPECT_EQ(check.cables().size(), hosts);
  EXPECT_EQ(check.ports(hosts), hosts);
  for (VertexId host = 0; host < hosts; ++host) {
    EXPECT_EQ(check.ports(host), 1);
    EXPECT_EQ(check.cables_between(host, hosts), 1);
  }
}

TEST_P(Stars, RouteEveryPairThroughTheSwitch)
{
  const int hosts    = GetParam();
  const VertexId hub = hosts;
  const Star star(hosts);
  TopologyCheck(star).check_all();
  Route route;
  for (VertexId from = 0; from < hosts; ++from)
    for (VertexId to = 0; to < hosts; ++to) {
      if (from == to)
        continue;
      route.clear();
      star.route(from, to, route);
      EXPECT_EQ(route.links, (std::vector<LinkId>{2 * from, 2 * to + 1}));
      EXPECT_EQ(route.through, std::vector<VertexId>{hub});
    }
}

TEST_P(Stars, RouteToAndFromTheSwitch)
{
  const int hosts    = GetParam();
  const VertexId hub = hosts;
  const Star star(hosts);
  for (VertexId host = 0; host < hosts; ++host) {
    Route up;
    star.route(host, hub, up);
    EXPECT_EQ(up.links, std::vector<LinkId>{2 * host});
    EXPECT_TRUE(up.through.empty());
    Route down;
    star.route(hub, host, down);
    EXPECT_EQ(down.links, std::vector<LinkId>{reverse(2 * host)});
    EXPECT_TRUE(down.through.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Stars, testing::Values(1, 2, 3, 10, 64));

TEST(Star, AppendsToARoute)
{
  const Star star(3);
  Route route{{42}, {43}};
  star.route(0, 1, route);
  EXPECT_EQ(route.links, (std::vector<LinkId>{42, 0, 3}));
  EXPECT_EQ(route.through, (std::vector<VertexId>{43, 3}));
}

TEST(Star, NamesSortInTheOrderOfTheirNumbers)
{
  EXPECT_EQ(Star(10).host_name(9), "host-9");
  EXPECT_EQ(Star(11).host_name(9), "host-09");
  EXPECT_EQ(Star(101).host_name(0), "host-000");
  EXPECT_EQ(Star(101).vertex_name(100), "host-100");
  EXPECT_EQ(Star(101).vertex_name(101), "switch");
  const Star star(101);
  for (int host = 1; host < 101; ++host)
    EXPECT_LT(star.host_name(host - 1), star.host_name(host));
}

TEST(Star, MeetingSwitchIsItsOnlySwitch)
{
  const std::vector<VertexId> hosts{0, 2};
  EXPECT_EQ(Star(5).meeting_switches(hosts), std::vector<VertexId>{5});
}

TEST(Star, HasAtLeastOneHost)
{
  EXPECT_THROW(Star(0), std::logic_error);
  EXPECT_THROW(Star(-1), std::logic_error);
}

TEST(Route, ThrowsLogicErrorIfItDoesNotEnd)
{
  class Circle : public Star {
  public:
    using Star::Star;
    Hop next_hop(VertexId at, VertexId) const override { return {0, at == 0 ? 1 : 0}; }
  };
  Route route;
  EXPECT_THROW(Circle(3).route(0, 2, route), std::logic_error);
}

} // namespace
} // namespace weft
