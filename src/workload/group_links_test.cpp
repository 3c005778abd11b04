// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/group_links.hpp"

#include "network/fabric_routes.hpp"
#include "workload/workload_test.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace weft {
namespace {

using Members = std::vector<std::vector<int>>;

/** Links of groups of 8 ranks on two nodes of 4 GPUs. */
struct LinksOfEight {
  Fabric fabric                  = fabric_of(gpu_fabric(2, 4));
  std::vector<double> capacities = FabricRoutes::capacities(fabric);
  FabricRoutes routes{fabric};
  Workload workload;
  std::vector<int> hosts = std::vector<int>(8);

  LinksOfEight()
  {
    std::iota(hosts.begin(), hosts.end(), 0);
    workload.program_of.assign(8, 0);
    workload.programs.emplace_back(true);
  }
  GroupLinks links() { return {workload, hosts, 4, routes, capacities}; }
  std::vector<int> route(int from, int to)
  {
    FlowRoute way;
    routes.find(from, to, Bytes(1), 0, way);
    return way.resources;
  }
};

TEST(GroupLinks, GroupsOfANodeHaveEqualLinksOfTheirOwn)
{
  LinksOfEight of;
  of.workload.divisions.emplace_back("tensor", Members{{0, 1}, {2, 3}, {4, 5, 6}}, 8);
  const GroupLinks links = of.links();
  ASSERT_TRUE(links.own(0, 0) && links.own(0, 1) && links.own(0, 2));
  EXPECT_EQ(links.own(0, 0)->wiring, links.own(0, 1)->wiring);
  EXPECT_NE(links.own(0, 0)->wiring, links.own(0, 2)->wiring);
  EXPECT_EQ(links.own(0, 0)->resources.size(), 4U);
}

TEST(GroupLinks, GroupsThatShareLinksOrSpanNodesHaveNone)
{
  LinksOfEight of;
  of.workload.divisions.emplace_back("tensor", Members{{0, 1}, {2, 3}}, 8);
  of.workload.divisions.emplace_back("data", Members{{1, 2}, {3, 4}}, 8);
  const GroupLinks links = of.links();
  EXPECT_FALSE(links.own(0, 0));
  EXPECT_FALSE(links.own(0, 1));
  EXPECT_FALSE(links.own(1, 0));
  EXPECT_FALSE(links.own(1, 1));
}

TEST(GroupLinks, MessagesWithinANodeShareLinks)
{
  LinksOfEight of;
  of.workload.divisions.emplace_back("tensor", Members{{0, 1}, {4, 5}}, 8);
  of.workload.programs.emplace_back(true).add_send(0, 2, 8); // from rank 0 to rank 2
  of.workload.program_of[0] = 1;
  const GroupLinks links    = of.links();
  EXPECT_FALSE(links.own(0, 0));
  EXPECT_TRUE(links.own(0, 1));
}

TEST(GroupLinks, MessagesBetweenNodesLeaveTheRestOfALink)
{
  LinksOfEight of;
  of.workload.divisions.emplace_back("tensor", Members{{0, 1}, {4, 5}}, 8);
  GroupLinks links = of.links();
  EXPECT_FALSE(links.is_crossed());
  links.note_message(of.route(0, 4)); // through its own NIC
  EXPECT_FALSE(links.is_crossed());
  links.note_message(of.route(0, 5)); // through the NVSwitch
  EXPECT_TRUE(links.is_crossed());
  EXPECT_FALSE(links.is_shared());
  const std::vector<double> left = links.left_for_groups(2);
  const int up                   = of.route(0, 1).front();
  EXPECT_DOUBLE_EQ(left[static_cast<std::size_t>(up)], 350e9);
  // The second group, whose links are equal, gets the same; flows that could not get their 50 GB/s leave nothing.
  EXPECT_DOUBLE_EQ(left[static_cast<std::size_t>(of.route(4, 5).front())], 350e9);
  EXPECT_DOUBLE_EQ(links.left_for_groups(8)[static_cast<std::size_t>(up)], 0.4e9);
}

TEST(GroupLinks, AMessageThatNothingElseLimitsSharesALink)
{
  LinksOfEight of;
  of.workload.divisions.emplace_back("tensor", Members{{0, 1}}, 8);
  GroupLinks links = of.links();
  links.note_message(of.route(0, 1));
  EXPECT_TRUE(links.is_shared());
}

} // namespace
} // namespace weft
