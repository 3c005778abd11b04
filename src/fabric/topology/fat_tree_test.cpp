// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/fat_tree.hpp"

#include "fabric/topology/topology_test.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft {
namespace {

class FatTrees : public ::testing::TestWithParam<FatTreeOptions> {};

TEST_P(FatTrees, ways_are_right_and_shortest)
{
  const FatTree tree(GetParam());
  TopologyCheck check(tree);
  check.check_all();
  check.check_minimal();
  check.check_equal_hops(true);
}

TEST_P(FatTrees, every_node_has_its_children_and_parents)
{
  const FatTreeOptions& options = GetParam();
  const FatTree tree(options);
  const TopologyCheck check(tree);
  VertexId vertex = 0;
  int size        = tree.host_count();
  for (std::size_t level = 0; level <= options.down.size(); ++level) {
    int ports = 0;
    if (level > 0)
      ports += options.down[level - 1] * options.cables[level - 1];
    if (level < options.down.size())
      ports += options.up[level] * options.cables[level];
    for (int position = 0; position < size; ++position)
      EXPECT_EQ(check.ports(vertex++), ports);
    if (level < options.down.size())
      size = size / options.down[level] * options.up[level];
  }
  EXPECT_EQ(vertex, check.vertices());
}

TEST_P(FatTrees, meet_at_the_lowest_common_ancestors)
{
  const FatTree tree(GetParam());
  const TopologyCheck check(tree);
  const int last = tree.host_count() - 1;
  const std::vector<std::vector<VertexId>> groups{{0, last}, {0, last / 2}, {0, 1, last / 3}, {last - 1, last}};
  for (std::vector<VertexId> hosts : groups) {
    const auto repeated = std::ranges::unique(hosts);
    hosts.erase(repeated.begin(), repeated.end());
    if (hosts.front() == hosts.back() || hosts.front() < 0)
      continue;
    const int away = check.distances(hosts.front())[static_cast<std::size_t>(hosts.back())];
    std::vector<VertexId> expected; // half the maximum distance away from every host
    for (VertexId at = tree.host_count(); at < check.vertices(); ++at)
      if (std::ranges::all_of(
              hosts, [&](VertexId host) { return check.distances(host)[static_cast<std::size_t>(at)] == away / 2; }))
        expected.push_back(at);
    EXPECT_EQ(tree.meeting_switches(hosts), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Parameters, FatTrees,
                         ::testing::Values(FatTreeOptions{{4}, {1}, {1}},                            // a star
                                           FatTreeOptions{{4}, {2}, {1}},                            // two rails
                                           FatTreeOptions{{3}, {1}, {2}},                            // two NICs
                                           FatTreeOptions{{4, 4}, {1, 4}, {1, 1}},                   // full bisection
                                           FatTreeOptions{{4, 3}, {1, 2}, {1, 1}},                   // over-subscribed
                                           FatTreeOptions{{4, 2}, {1, 2}, {1, 2}},                   // parallel cables
                                           FatTreeOptions{{2, 3}, {2, 2}, {1, 3}},                   // all at once
                                           FatTreeOptions{{2, 2, 2}, {1, 2, 2}, {1, 1, 1}},          // binary
                                           FatTreeOptions{{3, 2, 4}, {1, 3, 2}, {2, 1, 2}},          //
                                           FatTreeOptions{{2, 2, 1}, {1, 2, 2}, {1, 1, 1}},          // unneeded top
                                           FatTreeOptions{{2, 3, 2, 2}, {1, 2, 3, 1}, {1, 2, 1, 1}}, // four levels
                                           FatTreeOptions{{2, 2, 2, 2}, {2, 1, 2, 2}, {1, 1, 1, 2}}));

TEST(FatTree, samples_of_large_ones_are_right)
{
  const FatTree tree({{32, 32, 64}, {1, 32, 32}, {1, 1, 1}});
  EXPECT_EQ(tree.host_count(), 65536);
  EXPECT_EQ(tree.switch_count(), 2048 + 2048 + 1024);
  TopologyCheck(tree).check_sample(1, 2000);
}

TEST(FatTree, the_last_positions_may_be_empty)
{
  for (const int hosts : {1, 4, 5, 11, 12}) {
    const FatTree tree({{4, 3}, {1, 2}, {1, 3}, hosts});
    EXPECT_EQ(tree.host_count(), hosts);
    EXPECT_EQ(tree.switch_count(), 3 + 2);
    TopologyCheck check(tree);
    check.check_all();
    check.check_minimal();
    check.check_equal_hops(true);
    const auto last = static_cast<std::size_t>(std::max(0, hosts - 8));
    EXPECT_EQ(check.ports(hosts + 2), last + 6) << hosts << " hosts";
    EXPECT_EQ(tree.switch_name(2), "level1-2");
  }
}

TEST(FatTree, shifts_share_no_link_with_full_bisection)
{
  for (const FatTreeOptions& options :
       {FatTreeOptions{{4, 4}, {1, 4}, {1, 1}}, FatTreeOptions{{4, 2}, {1, 2}, {1, 2}},
        FatTreeOptions{{4, 8}, {1, 1}, {1, 4}}, FatTreeOptions{{4, 4, 8}, {1, 4, 4}, {1, 1, 1}},
        FatTreeOptions{{4, 4, 3}, {1, 2, 8}, {1, 2, 1}}}) {
    const FatTree tree(options);
    TopologyCheck check(tree);
    for (int shift = 1; shift < tree.host_count(); ++shift)
      EXPECT_EQ(check.busiest_link(shift), 1) << "shift by " << shift;
  }
}

TEST(FatTree, shifts_share_links_by_the_oversubscription)
{
  const FatTree tree({{8, 4}, {1, 2}, {1, 1}});
  TopologyCheck check(tree);
  EXPECT_EQ(check.busiest_link(8), 4);
}

TEST(FatTree, names_say_the_level)
{
  const FatTree tree({{4, 12}, {1, 3}, {1, 1}});
  EXPECT_EQ(tree.switch_name(0), "level1-00");
  EXPECT_EQ(tree.switch_name(11), "level1-11");
  EXPECT_EQ(tree.switch_name(14), "level2-2");
}

TEST(FatTree, is_read_with_one_cable_to_each_parent)
{
  const auto tree = topology_of("kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 2]");
  EXPECT_EQ(tree->host_count(), 16);
  EXPECT_EQ(tree->cables().size(), 16 + 8);
}

TEST(FatTree, is_read_with_the_hosts_that_it_has)
{
  EXPECT_EQ(topology_of("kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 2]\nhosts = 13")->host_count(), 13);
}

TEST(FatTree, impossible_parameters_are_refused)
{
  const std::string kind = "kind = \"fat_tree\"\n";
  EXPECT_EQ(failure_of(kind + "down = [4, 4]"), "[topology] up: is missing; it says: one value per level: switches per "
                                                "host, level-2 switches above each level-1 switch, ...");
  EXPECT_EQ(failure_of(kind + "down = [4, 4]\nup = [1]"),
            "[topology] up: found 1 values; allowed: as many as in \"down\", which has 2");
  EXPECT_EQ(failure_of(kind + "down = [4, 4]\nup = [1, 4]\ncables = [1, 1, 1]"),
            "[topology] cables: found 3 values; allowed: as many as in \"down\", which has 2");
  EXPECT_EQ(failure_of(kind + "down = [4, 0]\nup = [1, 4]"),
            "[topology] down: found [ 4, 0 ]; allowed: more than zero");
  EXPECT_EQ(failure_of(kind + "down = []\nup = []"),
            "[topology] down: found []; allowed: a list of integers, as [4, 4]");
  EXPECT_EQ(failure_of(kind + "down = [4, \"4\"]\nup = [1, 1]"),
            "[topology] down: found [ 4, \"4\" ]; allowed: a list of integers, as [4, 4]");
  EXPECT_EQ(failure_of(kind + "down = [2000000000, 2000000000]\nup = [1, 1]"),
            "[topology] down: makes a fabric of 4000000000000000000 cables; allowed: at most 16777216");
  EXPECT_EQ(failure_of(kind + "down = [32, 32]\nup = [1, 2000000000]"),
            "[topology] up: makes a fabric of 64000001024 cables; allowed: at most 16777216");
  EXPECT_EQ(failure_of(kind + "down = [4, 4]\nup = [1, 4]\nhosts = 17"),
            "[topology] hosts: found 17; allowed: at most 16, for which \"down\" has room");
}

} // namespace
} // namespace weft
