// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/gpu_cluster.hpp"

#include "fabric/routing/static_routing.hpp"
#include "fabric/topology/topology_test.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

class GpuClusters : public ::testing::TestWithParam<std::string> {};

TEST_P(GpuClusters, PassTheChecksOfAllTopologies)
{
  const auto topology = topology_of("kind = \"gpu_cluster\"\n" + GetParam());
  TopologyCheck check(*topology);
  check.check_all();
  check.check_equal_hops(false);
}

INSTANTIATE_TEST_SUITE_P(
    Small, GpuClusters,
    ::testing::Values("nodes = 1\ngpus = 8", "nodes = 4\ngpus = 4", "nodes = 4\ngpus = 4\nnics = 2",
                      "nodes = 3\ngpus = 1", "nodes = 6\ngpus = 4\nnodes_per_unit = 2\nspines = 3",
                      "nodes = 5\ngpus = 2\nnodes_per_unit = 2\nspines = 2\nnetwork = \"rail-only\"",
                      "nodes = 6\ngpus = 4\nnics = 2\nnodes_per_unit = 2\nspines = 2\nnetwork = \"top-of-rack\"",
                      "nodes = 4\ngpus = 4\nnetwork = \"top-of-rack\"",
                      "nodes = 4\ngpus = 2\nplanes = 2\nnodes_per_unit = 2\nspines = 3",
                      "nodes = 4\ngpus = 2\nplanes = 2\nnodes_per_unit = 2\nspines = 2\nnetwork = \"rail-only\"",
                      "nodes = 4\ngpus = 2\nplanes = 3\nnodes_per_unit = 2\nspines = 1\nnetwork = \"top-of-rack\""));

INSTANTIATE_TEST_SUITE_P(
    Dragonflies, GpuClusters,
    ::testing::Values(
        "nodes = 3\ngpus = 2\nnetwork = \"dragonfly\"\nrouters = 1",
        "nodes = 4\ngpus = 4\nnetwork = \"dragonfly\"\nrouters = 8",
        "nodes = 12\ngpus = 4\nnics = 2\nnodes_per_unit = 4\nnetwork = \"dragonfly\"\nrouters = 4",
        "nodes = 8\ngpus = 2\nnodes_per_unit = 2\nnetwork = \"dragonfly\"\nrouters = 3\nglobal_cables = 2",
        "nodes = 6\ngpus = 2\nnodes_per_unit = 2\nnetwork = \"dragonfly\"\nrouters = 2\nglobal_cables = 5"));

INSTANTIATE_TEST_SUITE_P(
    DirectLinks, GpuClusters,
    ::testing::Values(
        "nodes = 1\ngpus = 4\ninside = \"all-to-all\"", "nodes = 1\ngpus = 8\ninside = \"cube-mesh\"",
        "nodes = 1\ngpus = 4\ninside = \"pcie\"", "nodes = 3\ngpus = 4\nnics = 2\ninside = \"all-to-all\"",
        "nodes = 4\ngpus = 8\nnics = 4\ninside = \"cube-mesh\"\nnodes_per_unit = 2\nspines = 2",
        "nodes = 6\ngpus = 4\ninside = \"all-to-all\"\nnodes_per_unit = 2\nnetwork = \"dragonfly\"\nrouters = 4"));

using Names = std::vector<std::string>;

/** Returns the names of the vertices on a route. */
Names through(const Topology& topology, const Route& route)
{
  Names names;
  names.reserve(route.through.size());
  for (const VertexId vertex : route.through)
    names.push_back(topology.vertex_name(vertex));
  return names;
}

/** Returns the names of the vertices between two hosts. */
Names between(const Topology& topology, VertexId from, VertexId to)
{
  Route route;
  topology.route(from, to, route);
  return through(topology, route);
}

TEST(GpuCluster, RoutesStayOnTheDestinationsRail)
{
  const auto topology =
      topology_of("kind = \"gpu_cluster\"\nnodes = 4\ngpus = 4\nnics = 2\nnodes_per_unit = 2\nspines = 1");
  EXPECT_EQ(topology->host_name(5), "node-1.gpu-1");
  EXPECT_EQ(between(*topology, 0, 3), (Names{"node-0.nvswitch"}));
  EXPECT_EQ(between(*topology, 0, 5), (Names{"node-0.nic-0", "leaf-0", "node-1.nic-0"}));
  EXPECT_EQ(between(*topology, 0, 6), (Names{"node-0.nvswitch", "node-0.nic-1", "leaf-1", "node-1.nic-1"}));
  EXPECT_EQ(between(*topology, 0, 15),
            (Names{"node-0.nvswitch", "node-0.nic-1", "leaf-1", "spine-0", "leaf-3", "node-3.nic-1"}));
}

TEST(GpuCluster, RoutesStayInAPlane)
{
  const auto topology =
      topology_of("kind = \"gpu_cluster\"\nnodes = 4\ngpus = 2\nplanes = 2\nnodes_per_unit = 2\nspines = 2");
  // Leaves: for unit 0, planes 0 and 1 of rail 0, then of rail 1; likewise for unit 1. Spines: two of plane 0, two of
  // 1.
  EXPECT_EQ(between(*topology, 0, 2), (Names{"node-0.nic-0", "leaf-1", "node-1.nic-0"}));
  EXPECT_EQ(between(*topology, 0, 4), (Names{"node-0.nic-0", "leaf-0", "spine-0", "leaf-4", "node-2.nic-0"}));
  EXPECT_EQ(between(*topology, 0, 5),
            (Names{"node-0.nvswitch", "node-0.nic-1", "leaf-3", "spine-3", "leaf-7", "node-2.nic-1"}));
  EXPECT_EQ(topology->rails(), 4);
  EXPECT_EQ(topology->stripes_between(0, 1), 1);
  EXPECT_EQ(topology->stripes_between(0, 2), 2);
}

TEST(GpuCluster, StripesTakeAllPortsOfANic)
{
  const auto topology =
      topology_of("kind = \"gpu_cluster\"\nnodes = 4\ngpus = 2\nplanes = 2\nnodes_per_unit = 2\nspines = 2");
  StaticRouting routing(*topology);
  Route one;
  Route other;
  routing.route_stripe(0, 4, 0, one);
  routing.route_stripe(0, 4, 1, other);
  EXPECT_EQ(through(*topology, one), (Names{"node-0.nic-0", "leaf-0", "spine-0", "leaf-4", "node-2.nic-0"}));
  EXPECT_EQ(through(*topology, other), (Names{"node-0.nic-0", "leaf-1", "spine-2", "leaf-5", "node-2.nic-0"}));
}

TEST(GpuCluster, DragonflyIsCabledByGroups)
{
  const auto topology = topology_of("kind = \"gpu_cluster\"\nnodes = 6\ngpus = 4\nnics = 2\nnodes_per_unit = 2\n"
                                    "network = \"dragonfly\"\nrouters = 4");
  EXPECT_EQ(between(*topology, 0, 4), (Names{"node-0.nic-0", "group-0-router-0", "group-0-router-2", "node-1.nic-0"}));
  // Group 0 reaches group 1 from router 0, which has the cable, and group 2 from router 1.
  EXPECT_EQ(between(*topology, 3, 23),
            (Names{"node-0.nic-1", "group-0-router-1", "group-2-router-0", "group-2-router-3", "node-5.nic-1"}));
  EXPECT_EQ(topology->diameter(), 7);
}

TEST(GpuCluster, DirectLinksConnectNeighbours)
{
  const auto topology = topology_of("kind = \"gpu_cluster\"\nnodes = 2\ngpus = 8\nnics = 4\ninside = \"cube-mesh\"");
  EXPECT_EQ(between(*topology, 0, 3), Names());
  EXPECT_EQ(between(*topology, 1, 5), Names());
  EXPECT_EQ(between(*topology, 0, 5), (Names{"node-0.pcie"}));
  EXPECT_EQ(between(*topology, 0, 9), (Names{"node-0.nic-0", "leaf-0", "node-1.nic-0"}));
  EXPECT_EQ(topology->cables().size(), 2U * (16 + 8 + 8 + 4 + 4));
  EXPECT_TRUE(topology->never_combines(16));
  EXPECT_EQ(topology->switch_noun(0), "PCIe root");
}

TEST(GpuCluster, TreesGoOverTheNvswitches)
{
  const auto topology = topology_of("kind = \"gpu_cluster\"\nnodes = 2\ngpus = 4");
  const std::vector<VertexId> one_node{1, 2};
  const std::vector<VertexId> both{1, 6};
  EXPECT_EQ(topology->vertex_name(topology->meeting_switches(one_node).at(0)), "node-0.nvswitch");
  const std::vector<VertexId> leaves = topology->meeting_switches(both);
  ASSERT_EQ(leaves.size(), 4U);
  EXPECT_EQ(topology->rails(), 4);
  for (int rail = 0; rail < 4; ++rail) {
    const VertexId leaf = leaves[static_cast<std::size_t>(rail)];
    EXPECT_EQ(topology->rail(leaf), rail);
    EXPECT_EQ(between(*topology, 0, leaf), (Names{"node-0.nvswitch", "node-0.nic-" + std::to_string(rail)}));
  }
}

TEST(GpuCluster, SaysWhatIsWrong)
{
  const auto message = [](const std::string& keys) { return failure_of("kind = \"gpu_cluster\"\n" + keys); };
  EXPECT_NE(message("nodes = 2\ngpus = 4\nnics = 3").find("nics: found 3; allowed: a divisor of \"gpus\", which is 4"),
            std::string::npos);
  EXPECT_NE(message("nodes = 4\ngpus = 4\nnodes_per_unit = 2")
                .find("nodes_per_unit: makes 2 units that no spines connect; allowed: \"spines\" of at least 1"),
            std::string::npos);
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"nodes = 2\ngpus = 4\ninside = \"cube-mesh\"", "gpus: found 4; allowed: 8, with inside = \"cube-mesh\""},
      {"nodes = 2\ngpus = 4\nnetwork = \"dragonfly\"",
       "routers: found 0 for the network \"dragonfly\"; allowed: 1 to 8, the NICs of a group"},
      {"nodes = 2\ngpus = 4\nnetwork = \"dragonfly\"\nrouters = 2\nspines = 2",
       "spines: found 2 for the network \"dragonfly\"; allowed: none"},
      {"nodes = 2\ngpus = 4\nnetwork = \"dragonfly\"\nrouters = 2\nplanes = 2",
       "planes: found 2 for the network \"dragonfly\"; allowed: 1"},
      {"nodes = 2\ngpus = 4\nrouters = 2",
       R"(routers: found 2 for the network "rail-optimised"; allowed: none; "dragonfly" has routers)"},
      {"nodes = 2\ngpus = 4\nglobal_cables = 2",
       R"(global_cables: found 2 for the network "rail-optimised"; allowed: none; "dragonfly" has such cables)"}};
  for (const auto& [keys, expected] : wrong)
    EXPECT_NE(message(keys).find(expected), std::string::npos) << message(keys);
  EXPECT_NE(message("nodes = 1000000\ngpus = 1000").find("cables"), std::string::npos);
}

} // namespace
} // namespace weft
