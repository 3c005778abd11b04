// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/link_classes.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(LinkClasses, KindsAreNamesWithoutNodesAndNumbers)
{
  EXPECT_EQ(kind_of_vertex("node-07.gpu-3"), "gpu");
  EXPECT_EQ(kind_of_vertex("node-07.nvswitch"), "nvswitch");
  EXPECT_EQ(kind_of_vertex("leaf-12"), "leaf");
  EXPECT_EQ(kind_of_vertex("level2-13"), "level2");
  EXPECT_EQ(kind_of_vertex("group-03-router-1"), "router");
  EXPECT_EQ(kind_of_vertex("host-3"), "host");
  EXPECT_EQ(kind_of_vertex("sw12"), "sw");
  EXPECT_EQ(kind_of_vertex("switch"), "switch");
  EXPECT_EQ(kind_of_vertex("12"), "12");
}

TEST(LinkClasses, CablesOfAClusterAreSortedByTheirEnds)
{
  const Fabric fabric = fabric_of(replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4",
                                                    "kind = \"gpu_cluster\"\nnodes = 4\ngpus = 2\nnodes_per_unit = 2\n"
                                                    "spines = 1"),
                                           "max_ports = 8", "max_ports = 64"));
  const LinkClasses classes = link_classes(fabric.topology());
  EXPECT_EQ(classes.names,
            (std::vector<std::string>{"gpu--nvswitch", "gpu--nic", "nvswitch--nic", "nic--leaf", "leaf--spine"}));
  std::vector<int> cables(classes.names.size());
  for (const int one : classes.of_cable)
    ++cables[static_cast<std::size_t>(one)];
  EXPECT_EQ(cables, (std::vector<int>{8, 8, 8, 8, 4}));
}

TEST(LinkClasses, AStarHasOne)
{
  const Fabric fabric = fabric_of(FABRIC);
  EXPECT_EQ(link_classes(fabric.topology()).names, (std::vector<std::string>{"host--switch"}));
}

} // namespace
} // namespace weft
