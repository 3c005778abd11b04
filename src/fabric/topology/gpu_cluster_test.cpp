// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/gpu_cluster.hpp"

#include "fabric/topology/topology_test.hpp"

#include <gtest/gtest.h>
#include <string>
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
                      "nodes = 4\ngpus = 4\nnetwork = \"top-of-rack\""));

/** Returns the names of the vertices between two hosts. */
std::vector<std::string> between(const Topology& topology, VertexId from, VertexId to)
{
  Route route;
  topology.route(from, to, route);
  std::vector<std::string> names;
  for (const VertexId vertex : route.through)
    names.push_back(topology.vertex_name(vertex));
  return names;
}

using Names = std::vector<std::string>;

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
  EXPECT_NE(message("nodes = 1000000\ngpus = 1000").find("cables"), std::string::npos);
}

} // namespace
} // namespace weft
