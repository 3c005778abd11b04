// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/torus.hpp"

#include "fabric/topology/topology_test.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Edges = Torus::Edges;

class Grids : public ::testing::TestWithParam<std::tuple<TorusOptions, Edges>> {};

TEST_P(Grids, ways_are_right_and_shortest)
{
  const auto& [options, edges] = GetParam();
  const Torus torus(options, edges);
  TopologyCheck check(torus);
  check.check_all();
  check.check_minimal();
  check.check_equal_hops(true);
}

/** Expects two cables per dimension on a torus, one in dimensions of two switches, and one fewer at the ends of a mesh.
 */
TEST_P(Grids, every_switch_has_its_neighbours)
{
  const auto& [options, edges] = GetParam();
  const Torus torus(options, edges);
  const TopologyCheck check(torus);
  for (int index = 0; index < torus.switch_count(); ++index) {
    int neighbours = 0;
    int rest       = index;
    for (const int size : options.dimensions) {
      const bool edge = rest % size == 0 || rest % size == size - 1;
      neighbours += edge && (edges == Edges::open || size == 2) ? 1 : 2;
      rest /= size;
    }
    EXPECT_EQ(check.ports(torus.host_count() + index), options.hosts_per_switch + neighbours * options.cables);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Grids,
    ::testing::Combine(::testing::Values(TorusOptions{{2}, 1, 1}, TorusOptions{{3}, 2, 1}, TorusOptions{{6}, 1, 2},
                                         TorusOptions{{2, 2}, 1, 1}, TorusOptions{{4, 3}, 1, 1},
                                         TorusOptions{{5, 4}, 2, 3}, TorusOptions{{3, 2, 4}, 1, 2},
                                         TorusOptions{{2, 3, 2, 3}, 2, 1}, TorusOptions{{4, 4, 4}, 1, 1}),
                       ::testing::Values(Edges::wrapped, Edges::open)));

TEST(Torus, ties_go_up)
{
  const Torus torus({{4}, 1, 1}, Edges::wrapped);
  for (VertexId host = 0; host < 4; ++host) {
    EXPECT_EQ(torus.next_hop(4 + host, (host + 2) % 4).to, 4 + (host + 1) % 4);
    EXPECT_EQ(torus.next_hop(4 + host, (host + 3) % 4).to, 4 + (host + 3) % 4);
  }
}

TEST(Torus, dimension_0_is_routed_first)
{
  const Torus torus({{4, 4}, 1, 1}, Edges::open);
  Route route;
  torus.route(0, 10, route); // (0, 0) to (2, 2)
  EXPECT_EQ(route.through, (std::vector<VertexId>{16, 17, 18, 22, 26}));
}

TEST(Torus, a_dimension_of_two_has_no_second_cable)
{
  const Torus torus({{2, 3}, 1, 1}, Edges::wrapped);
  EXPECT_EQ(TopologyCheck(torus).cables_between(6, 7), 1);
}

TEST(Torus, destinations_spread_over_parallel_cables)
{
  const Torus torus({{4, 8}, 1, 2}, Edges::wrapped);
  TopologyCheck check(torus);
  const Torus single({{4, 8}, 1, 1}, Edges::wrapped);
  TopologyCheck single_check(single);
  EXPECT_EQ(single_check.busiest_link(16), 4); // to the far side of dimension 1: four routes per link
  EXPECT_EQ(check.busiest_link(16), 2);
}

TEST(Torus, meeting_switches_are_those_of_the_hosts)
{
  const Torus torus({{3, 3}, 2, 1}, Edges::wrapped);
  EXPECT_EQ(torus.meeting_switches(std::vector<VertexId>{0, 1, 5, 16}), (std::vector<VertexId>{18, 20, 26}));
}

TEST(Torus, samples_of_large_ones_are_right)
{
  TopologyCheck(Torus({{32, 32, 64}, 1, 1}, Edges::wrapped)).check_sample(1, 2000);
  TopologyCheck(Torus({{256, 256}, 1, 1}, Edges::open)).check_sample(2, 500);
}

TEST(Torus, is_read_with_one_host_and_one_cable)
{
  EXPECT_EQ(topology_of("kind = \"torus\"\ndimensions = [4, 4, 4, 4]")->cables().size(), 256 + 1024);
  EXPECT_EQ(topology_of("kind = \"mesh\"\ndimensions = [4, 4, 4, 4]")->cables().size(), 256 + 768);
}

TEST(Torus, impossible_parameters_are_refused)
{
  EXPECT_EQ(failure_of("kind = \"torus\"\ndimensions = [4, 1]"),
            "[topology] dimensions: found a size of 1; allowed: at least 2 switches along each dimension; omit that "
            "dimension");
  EXPECT_EQ(failure_of("kind = \"torus\"\ndimensions = [4, -4]"),
            "[topology] dimensions: found [ 4, -4 ]; allowed: more than zero");
  EXPECT_EQ(failure_of("kind = \"mesh\"\ndimensions = [100000, 100000]"),
            "[topology] dimensions: makes a fabric of 10000000000 cables; allowed: at most 16777216");
  EXPECT_EQ(failure_of("kind = \"torus\"\ndimensions = [4, 4]\ncables = 100000000"),
            "[topology] cables: makes a fabric of 3200000016 cables; allowed: at most 16777216");
  EXPECT_EQ(failure_of("kind = \"torus\"\ndimensions = [4, 4]\nwrap = false").substr(0, 29),
            "[topology] wrap: unknown key;");
}

} // namespace
} // namespace weft
