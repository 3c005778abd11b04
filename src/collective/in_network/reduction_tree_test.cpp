// SPDX-License-Identifier: LGPL-2.1-only
/* Trees on common fabrics, worked out by hand. Round numbers: links 1 us, forwarding 0.25 us,
 * processing 3 us. */
#include "collective/in_network/reduction_tree.hpp"

#include "collective/in_network/stream.hpp"
#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weft {
namespace {

TreeResult tree_of(const Fabric& fabric, const std::vector<VertexId>& rank_hosts, std::size_t spread = 0)
{
  return build_reduction_tree(fabric, rank_hosts, spread);
}

/** Returns the links of a tree switch as pairs of uplink and number of messages. */
std::vector<std::pair<LinkId, std::int64_t>> loads(const TreeSwitch& node)
{
  std::vector<std::pair<LinkId, std::int64_t>> result;
  result.reserve(node.links.size());
  for (const TreeLink& link : node.links)
    result.emplace_back(link.up, link.messages);
  return result;
}

using Loads = std::vector<std::pair<LinkId, std::int64_t>>;

// ---- Star

TEST(StarTree, HasOneSwitchAndALinkAHost)
{
  const TreeResult result = tree_of(fabric_of(FABRIC), {0, 1, 2, 3});
  ASSERT_TRUE(result.tree);
  const ReductionTree& tree = *result.tree;
  ASSERT_EQ(tree.switches.size(), 1);
  EXPECT_EQ(tree.switches[0].index, 0);
  EXPECT_EQ(tree.switches[0].parent, -1);
  EXPECT_EQ(tree.switches[0].contributions, 4);
  EXPECT_EQ(loads(tree.switches[0]), (Loads{{0, 1}, {2, 1}, {4, 1}, {6, 1}}));
  EXPECT_EQ(tree.entry, (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(tree.members_a_nic, 1);
  EXPECT_DOUBLE_EQ(tree.longest.up_combined.value(), 4e-6);
  EXPECT_DOUBLE_EQ(tree.longest.down_forwarded.value(), 1e-6);
  EXPECT_DOUBLE_EQ(tree.forwarding.value(), 2.25e-6);
  EXPECT_NEAR(tree.beyond_first.value(), 0, 1e-18);
}

TEST(StarTree, HasOnlyTheMembersLinks)
{
  const TreeResult result = tree_of(fabric_of(FABRIC), {3, 1});
  ASSERT_TRUE(result.tree);
  EXPECT_EQ(loads(result.tree->switches[0]), (Loads{{2, 1}, {6, 1}}));
}

TEST(StarTree, RanksOfAHostShareItsLink)
{
  const TreeResult result = tree_of(fabric_of(FABRIC), {0, 0, 0, 2, 2, 1});
  ASSERT_TRUE(result.tree);
  EXPECT_EQ(loads(result.tree->switches[0]), (Loads{{0, 3}, {2, 1}, {4, 2}}));
  EXPECT_EQ(result.tree->switches[0].contributions, 6);
  EXPECT_EQ(result.tree->members_a_nic, 3);
  EXPECT_EQ(result.tree->entry, (std::vector<int>(6, 0)));
}

TEST(StarTree, NeedsTwoHosts)
{
  const Fabric fabric = fabric_of(FABRIC);
  for (const std::vector<VertexId>& ranks : {std::vector<VertexId>{2}, std::vector<VertexId>{2, 2, 2}}) {
    const TreeResult result = tree_of(fabric, ranks);
    EXPECT_FALSE(result.tree);
    EXPECT_EQ(result.obstacle, NoTree::one_host);
  }
}

TEST(StarTree, NeedsASmartSwitch)
{
  const Fabric fabric     = fabric_of(replaced(FABRIC, "[[switch.offload]]",
                                               "[[switches]]\nmatch = '*'\noffload = []\n"
                                               "[[switch.offload]]"));
  const TreeResult result = tree_of(fabric, {0, 1});
  EXPECT_FALSE(result.tree);
  EXPECT_EQ(result.obstacle, NoTree::no_common_switch);
}

TEST(StarTree, IsAsLongAsItsLongestWay)
{
  const Fabric fabric = fabric_of(FABRIC + "[[links]]\nmatch = 'host-2'\nlatency = '7us'\n");
  EXPECT_DOUBLE_EQ(tree_of(fabric, {0, 1, 2}).tree->longest.up_combined.value(), 10e-6);
  EXPECT_DOUBLE_EQ(tree_of(fabric, {0, 1, 2}).tree->longest.down_forwarded.value(), 7e-6);
  EXPECT_DOUBLE_EQ(tree_of(fabric, {0, 1, 3}).tree->longest.up_combined.value(), 4e-6);
}

TEST(StarTree, RoundTripsBeyondTheShortestAreCounted)
{
  const Fabric fabric = fabric_of(FABRIC + "[[links]]\nmatch = 'host-2'\nlatency = '7us'\n");
  EXPECT_DOUBLE_EQ(tree_of(fabric, {0, 1, 2}).tree->beyond_first.value(), 12e-6);
  // A route with zero latency counts as a shortest route too.
  const Fabric instant =
      fabric_of(replaced(FABRIC, "\"3us\"", "\"0us\"") + "[[links]]\nmatch = 'host-0'\nlatency = '0us'\n");
  EXPECT_DOUBLE_EQ(tree_of(instant, {0, 1, 2}).tree->beyond_first.value(), 2e-6);
}

/** Star whose third and fourth hosts are on the second pipeline. */
const std::string TWO_PIPES =
    replaced(FABRIC, "[[switch.offload]]", "pipe_ports = 2\npipe_latency = '1us'\n[[switch.offload]]");

TEST(StarTree, AResultFromSeveralPipelinesTakesLonger)
{
  const Fabric fabric    = fabric_of(TWO_PIPES);
  const Seconds one_pipe = tree_of(fabric, {0, 1}).tree->longest.up_combined;
  EXPECT_EQ(tree_of(fabric, {2, 3}).tree->longest.up_combined, one_pipe);
  for (const std::vector<VertexId>& hosts : {std::vector{0, 3}, std::vector{0, 1, 2}, std::vector{0, 1, 2, 3}}) {
    const TreeResult across = tree_of(fabric, hosts);
    EXPECT_EQ(across.tree->longest.up_combined, one_pipe + Seconds(1e-6));
    EXPECT_EQ(across.tree->switches[0].combining, fabric.switch_model(0).processing_latency + Seconds(1e-6));
  }
}

TEST(StarTree, ACablesPortTellsItsPipeline)
{
  const Fabric fabric    = fabric_of(TWO_PIPES + "[[links]]\nmatch = 'host-1'\nport = 3\n");
  const Seconds one_pipe = tree_of(fabric, {1, 2}).tree->longest.up_combined;
  EXPECT_EQ(tree_of(fabric, {0, 1}).tree->longest.up_combined, one_pipe + Seconds(1e-6));
}

TEST(StarTree, IsTheSameForEveryCommunicator)
{
  const Fabric fabric = fabric_of(FABRIC);
  for (const std::size_t spread : {1, 2, 1000})
    EXPECT_EQ(tree_of(fabric, {0, 1}, spread).tree->switches[0].index, 0);
}

// ---- Two levels: hosts 0 to 3, leaves (vertices 4 and 5), tops (6 and perhaps 7)

std::string two_levels(int tops)
{
  return replaced(FABRIC, "kind = \"star\"\nhosts = 4",
                  "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, " + std::to_string(tops) + "]");
}

TEST(TwoLevelTree, CombinesAtEverySmartSwitch)
{
  const Fabric fabric     = fabric_of(two_levels(1));
  const TreeResult result = tree_of(fabric, {0, 1, 2, 3, 3});
  ASSERT_TRUE(result.tree);
  const ReductionTree& tree = *result.tree;
  ASSERT_EQ(tree.switches.size(), 3);
  const TreeSwitch& top = tree.switches[0];
  EXPECT_EQ(fabric.topology().switch_name(top.index), "level2-0");
  EXPECT_EQ(top.parent, -1);
  EXPECT_EQ(top.contributions, 2); // one per leaf, regardless of the number below
  ASSERT_EQ(top.links.size(), 2);
  for (const TreeLink& link : top.links) {
    EXPECT_EQ(link.messages, 1);
    EXPECT_EQ(fabric.link(link.up).to, 6);
  }
  for (const std::size_t at : {1, 2}) {
    EXPECT_EQ(tree.switches[at].parent, 0);
    EXPECT_EQ(tree.switches[at].links.size(), 2);
  }
  EXPECT_EQ(tree.switches[1].contributions + tree.switches[2].contributions, 5);
  EXPECT_EQ(tree.entry.size(), 5);
  EXPECT_EQ(tree.entry[0], tree.entry[1]);
  EXPECT_NE(tree.entry[1], tree.entry[2]);
  EXPECT_EQ(tree.entry[2], tree.entry[4]);
  EXPECT_DOUBLE_EQ(tree.longest.up_combined.value(), 8e-6);       // two links, processing at both switches
  EXPECT_DOUBLE_EQ(tree.longest.down_forwarded.value(), 2.25e-6); // two links, forwarding at the leaf
  EXPECT_DOUBLE_EQ(tree.forwarding.value(), 4.75e-6);
  EXPECT_DOUBLE_EQ(tree.beyond_first.value(), 5.25e-6); // beyond a leaf's round trip of 5 us
}

TEST(TwoLevelTree, StaysInALeafThatHasAllMembers)
{
  const Fabric fabric     = fabric_of(two_levels(1));
  const TreeResult result = tree_of(fabric, {2, 3});
  ASSERT_TRUE(result.tree);
  ASSERT_EQ(result.tree->switches.size(), 1);
  EXPECT_EQ(fabric.topology().switch_name(result.tree->switches[0].index), "level1-1");
}

TEST(TwoLevelTree, PlainLeavesOnlyForward)
{
  const Fabric fabric     = fabric_of(two_levels(1) + "[[switches]]\nmatch = 'level1-*'\noffload = []\n");
  const TreeResult result = tree_of(fabric, {0, 1, 2, 2});
  ASSERT_TRUE(result.tree);
  const ReductionTree& tree = *result.tree;
  ASSERT_EQ(tree.switches.size(), 1);
  EXPECT_EQ(tree.switches[0].contributions, 4);
  ASSERT_EQ(tree.switches[0].links.size(), 5); // three to hosts, two to leaves
  std::int64_t at_top = 0;
  for (const TreeLink& link : tree.switches[0].links) {
    const bool to_top = fabric.link(link.up).to == 6;
    EXPECT_EQ(link.messages, to_top || fabric.link(link.up).from == 2 ? 2 : 1);
    at_top += to_top ? link.messages : 0;
  }
  EXPECT_EQ(at_top, 4);
  EXPECT_DOUBLE_EQ(tree.longest.up_combined.value(), 5.25e-6);
  EXPECT_DOUBLE_EQ(tree.longest.down_forwarded.value(), 2.25e-6);
  EXPECT_NEAR(tree.beyond_first.value(), 0, 1e-18);
}

TEST(TwoLevelTree, SpreadsCommunicatorsOverTheRoots)
{
  const Fabric fabric = fabric_of(two_levels(2));
  const auto root     = [&](std::size_t spread) { return tree_of(fabric, {0, 3}, spread).tree->switches[0].index; };
  EXPECT_EQ(root(0), 2);
  EXPECT_EQ(root(1), 3);
  EXPECT_EQ(root(2), 2);
}

TEST(TwoLevelTree, TakesTheRootThatIsSmart)
{
  const Fabric fabric = fabric_of(two_levels(2) + "[[switches]]\nmatch = 'level2-0'\noffload = []\n");
  for (const std::size_t spread : {0, 1, 2})
    EXPECT_EQ(tree_of(fabric, {0, 3}, spread).tree->switches[0].index, 3);
}

// ---- Fabrics with failed links or switches

/** Returns the root of the tree over hosts 0 and 3, one of the two top switches; none without a tree. */
std::optional<int> root_of(const FabricState& state, std::size_t spread)
{
  const TreeResult result = build_reduction_tree(state, std::vector<VertexId>{0, 3}, spread);
  return result.tree ? std::optional(result.tree->switches[0].index) : std::nullopt;
}

TEST(TreeOfABrokenFabric, TakesAnotherRootWhereOneIsDown)
{
  const Fabric fabric = fabric_of(two_levels(2));
  FabricState state(fabric);
  state.set_switch(2, false);
  for (const std::size_t spread : {0, 1, 2})
    EXPECT_EQ(root_of(state, spread), 3);
  state.set_switch(2, true);
  EXPECT_EQ(root_of(state, 0), 2);
}

TEST(TreeOfABrokenFabric, TakesAnotherRootWhereACableToOneIsDown)
{
  const Fabric fabric               = fabric_of(two_levels(2));
  const TreeResult whole            = tree_of(fabric, {0, 3}, 0);
  const std::vector<TreeLink> links = whole.tree->switches[0].links; // links of root 2
  for (const TreeLink& link : links)
    for (const LinkId direction : {link.up, reverse(link.up)}) {
      FabricState state(fabric);
      state.set_link(direction, false);
      EXPECT_EQ(root_of(state, 0), 3);
      EXPECT_EQ(root_of(state, 1), 3);
    }
}

TEST(TreeOfABrokenFabric, IsNoneWhereAMemberIsCutOff)
{
  const Fabric fabric = fabric_of(two_levels(2));
  FabricState state(fabric);
  state.set_link(0, false); // host 0's only cable
  EXPECT_EQ(root_of(state, 0), std::nullopt);
  EXPECT_EQ(build_reduction_tree(state, std::vector<VertexId>{0, 3}, 0).obstacle, NoTree::no_common_switch);
  EXPECT_TRUE(build_reduction_tree(state, std::vector<VertexId>{1, 3}, 0).tree);
}

TEST(TreeOfABrokenFabric, IsBuiltAgainAfterAChangeAndAvoidsTheLink)
{
  const Fabric fabric = fabric_of(two_levels(2));
  FabricState state(fabric);
  StateCache<TreeResult> cache;
  const auto tree = [&] {
    return cache.get(state, [&] { return build_reduction_tree(state, std::vector<VertexId>{0, 3}, 0); });
  };
  const auto uses = [](const TreeResult& result, LinkId link) {
    return std::ranges::any_of(result.tree->switches, [link](const TreeSwitch& node) {
      return std::ranges::any_of(node.links, [link](const TreeLink& its) { return its.up == link; });
    });
  };
  const auto before = tree();
  const LinkId link = before->tree->switches[0].links.front().up;
  EXPECT_EQ(tree(), before); // cached
  state.set_link(link, false);
  EXPECT_FALSE(cache.is_current(state));
  EXPECT_LT(before->tree->epoch, state.epoch());
  const auto after = tree();
  EXPECT_TRUE(uses(*before, link));
  EXPECT_FALSE(uses(*after, link));
  EXPECT_EQ(after->tree->epoch, state.epoch());
}

TEST(TreeOfABrokenFabric, PassesItsEpochToPlans)
{
  const Fabric fabric = fabric_of(two_levels(2));
  FabricState state(fabric);
  state.set_switch(2, false);
  const std::vector<VertexId> hosts{0, 3};
  const ReductionTree tree = *build_reduction_tree(state, hosts, 0).tree;
  const TreeCall call{Movement::allreduce, Bytes(1024), -1, {}, {}};
  EXPECT_EQ(plan_streams(fabric, tree, call, fabric.nic().offload_copy_rate).epoch, 1);
}

// ---- Hosts with several cables

std::string fat_tree(const std::string& keys)
{
  return replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\n" + keys), "max_ports = 8",
                  "max_ports = 64");
}

/** Returns the number of trees, and checks that no link of a host is in two of them. */
std::size_t trees_of(const Fabric& fabric, const std::vector<VertexId>& hosts, int most = 8)
{
  const std::vector<ReductionTree> trees = build_reduction_trees(fabric, hosts, 0, most);
  std::set<LinkId> used;
  std::size_t links = 0;
  for (const ReductionTree& tree : trees)
    for (const TreeSwitch& node : tree.switches)
      for (const TreeLink& link : node.links)
        if (fabric.topology().is_host(fabric.link(link.up).from)) {
          used.insert(link.up);
          ++links;
        }
  EXPECT_EQ(used.size(), links);
  EXPECT_EQ(links, trees.size() * hosts.size());
  return trees.size();
}

TEST(RailTrees, AreAsManyAsHostsHaveCables)
{
  EXPECT_EQ(trees_of(fabric_of(FABRIC), {0, 1, 2, 3}), 1U);
  EXPECT_EQ(trees_of(fabric_of(fat_tree("down = [4]\nup = [4]")), {0, 1, 2, 3}), 4U);
  EXPECT_EQ(trees_of(fabric_of(fat_tree("down = [4]\nup = [4]")), {0, 1, 2, 3}, 2), 2U);
  EXPECT_EQ(trees_of(fabric_of(fat_tree("down = [4, 2]\nup = [2, 2]")), {0, 1, 5}), 2U);
  EXPECT_EQ(trees_of(fabric_of(fat_tree("down = [4]\nup = [1]\ncables = [3]")), {0, 2, 3}), 3U);
}

TEST(RailTrees, BeginWithTheOnlyTree)
{
  const Fabric fabric = fabric_of(fat_tree("down = [4, 2]\nup = [2, 2]"));
  const std::vector<VertexId> hosts{0, 1, 5};
  for (std::size_t spread = 0; spread < 4; ++spread) {
    const ReductionTree alone = *build_reduction_tree(fabric, hosts, spread).tree;
    const ReductionTree first = build_reduction_trees(fabric, hosts, spread, 2).front();
    EXPECT_EQ(first.switches.front().index, alone.switches.front().index);
    EXPECT_EQ(loads(first.switches.front()), loads(alone.switches.front()));
    EXPECT_EQ(first.sharing, 1);
  }
}

TEST(RailTrees, KnowHowManyShareASwitch)
{
  const Fabric fabric = fabric_of(fat_tree("down = [4]\nup = [1]\ncables = [3]"));
  const auto trees    = build_reduction_trees(fabric, std::vector<VertexId>{0, 1, 2}, 0, 3);
  ASSERT_EQ(trees.size(), 3U);
  EXPECT_EQ(trees.back().sharing, 3);
}

TEST(RailTrees, AvoidWhatIsDown)
{
  const Fabric fabric = fabric_of(fat_tree("down = [4]\nup = [4]"));
  FabricState state(fabric);
  const std::vector<VertexId> hosts{0, 1, 2};
  state.set_link(build_reduction_trees(state, hosts, 0, 4)[1].switches.front().links.front().up, false);
  EXPECT_EQ(build_reduction_trees(state, hosts, 0, 4).size(), 3U);
}

// ---- Nodes of GPUs

TEST(RailTrees, OfNodesCombineInNvswitchesThenOnARail)
{
  const Fabric fabric = fabric_of(
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"gpu_cluster\"\nnodes = 2\ngpus = 4\nnics = 2"));
  const auto trees = build_reduction_trees(fabric, std::vector<VertexId>{0, 1, 2, 3, 4, 5, 6, 7}, 0, 8);
  ASSERT_EQ(trees.size(), 2U);
  for (std::size_t rail = 0; rail < 2; ++rail) {
    std::vector<std::string> names;
    for (const TreeSwitch& node : trees[rail].switches)
      names.push_back(fabric.topology().switch_name(node.index));
    EXPECT_EQ(names, (std::vector<std::string>{"leaf-" + std::to_string(rail), "node-0.nvswitch", "node-1.nvswitch"}));
    EXPECT_EQ(trees[rail].switches[0].contributions, 2);
    EXPECT_EQ(trees[rail].switches[1].contributions, 4);
    EXPECT_EQ(trees[rail].sharing, 2); // the NVSwitches serve both
  }
  EXPECT_EQ(build_reduction_trees(fabric, std::vector<VertexId>{4, 6}, 0, 8).size(), 1U);
}

} // namespace
} // namespace weft
