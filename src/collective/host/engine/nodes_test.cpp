// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/nodes.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

Nodes of(const std::vector<int>& hosts)
{
  HostCall call{"barrier", static_cast<int>(hosts.size())};
  call.host = [hosts](int rank) { return hosts[static_cast<std::size_t>(rank)]; };
  return Nodes::of(call);
}

TEST(Nodes, AreNumberedInTheOrderOfTheirFirstRanks)
{
  const Nodes nodes = of({7, 7, 3, 7, 3, 9});
  EXPECT_EQ(nodes.node, (std::vector<int>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(nodes.place, (std::vector<int>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(nodes.ranks, (std::vector<std::vector<int>>{{0, 1, 3}, {2, 4}, {5}}));
  EXPECT_EQ(nodes.level, (std::vector<std::vector<int>>{{0, 2, 5}, {1, 4}, {3}}));
  EXPECT_EQ(nodes.across, (std::vector<int>{0, 0, 1, 0, 1, 2}));
  EXPECT_TRUE(nodes.shared());
  EXPECT_FALSE(nodes.even());
  EXPECT_FALSE(nodes.in_order());
  EXPECT_TRUE(of({5, 5, 5, 1, 2, 2}).in_order());
  EXPECT_TRUE(of({1, 2, 2, 1}).even());
  EXPECT_FALSE(of({1, 1, 1}).even());
  EXPECT_FALSE(of({1, 2, 3}).even());
}

TEST(Nodes, DefaultToOnePerRank)
{
  const Nodes nodes = Nodes::of({"barrier", 3});
  EXPECT_EQ(nodes.number(), 3);
  EXPECT_FALSE(nodes.shared());
  EXPECT_TRUE(nodes.in_order());
}

} // namespace
} // namespace weft
