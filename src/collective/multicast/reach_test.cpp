// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/reach.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr std::int64_t CHUNKS = 8;

/** Blocks of 8 chunks from hosts 0 and 2 of four on two leaves, under one spine. */
class BlockReachTest : public ::testing::Test {
protected:
  Fabric fabric_ =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]"));
  FabricState state_{fabric_};
  std::vector<VertexId> hosts_{0, 1, 2, 3};
  GroupResult group_ = make_multicast_group(state_, hosts_, 0);
  std::vector<Bytes> blocks_{2, fabric_.multicast().chunk * static_cast<double>(CHUNKS)};
  std::vector<MulticastRoot> roots_{{0, blocks_[0]}, {2, blocks_[1]}};
  MulticastPlan plan_ =
      plan_multicast(fabric_, *group_.group, roots_, [](LinkId link) { return static_cast<double>(link); });
  BlockReach reach_{fabric_.multicast(), plan_, blocks_, 1};

  /** Returns the flow over a host's cable. */
  std::size_t to(int member) const
  {
    for (std::size_t flow = 0; flow < plan_.flows.size(); ++flow)
      if (plan_.members[flow] == std::vector{member})
        return flow;
    throw std::logic_error("no flow reaches the member");
  }
  /** Returns the flow from the leaf of a root to the spine. */
  std::size_t up(std::size_t root) const
  {
    for (std::size_t flow = 0; flow < plan_.flows.size(); ++flow)
      if (plan_.members[flow].empty() && plan_.flows[flow].after == plan_.leaving[root])
        return flow;
    throw std::logic_error("no flow goes up");
  }
  /** Returns the number of chunks of each root's block that never reach a member. */
  std::vector<std::int64_t> missing(int member) const
  {
    std::vector<std::int64_t> all(2);
    for (const auto& [root, chunks] : reach_.not_carried(to(member))) {
      EXPECT_EQ(chunks.first + chunks.count, CHUNKS);
      all[root] = chunks.count;
    }
    return all;
  }
};

using Counts = std::vector<std::int64_t>;

TEST_F(BlockReachTest, EachLinkHasAFlow)
{
  for (const MulticastFlow& its : plan_.flows)
    EXPECT_EQ(its.flow.links.size(), 1U);
  EXPECT_FALSE(reach_.any_stopped());
  EXPECT_EQ(reach_.total(to(1)), 1);
  EXPECT_EQ(missing(1), Counts({0, 0}));
  EXPECT_EQ(reach_.chunks(to(1)), 2 * CHUNKS);
}

TEST_F(BlockReachTest, ACableThatFailsConcernsItsHostAlone)
{
  reach_.stop(to(1), 0.5);
  EXPECT_TRUE(reach_.is_stopped(to(1)));
  EXPECT_EQ(missing(1), Counts({4, 4}));
  EXPECT_EQ(missing(3), Counts({0, 0}));
  EXPECT_DOUBLE_EQ(reach_.total(to(1)), 0.5);
  EXPECT_EQ(reach_.total(to(3)), 1);
}

TEST_F(BlockReachTest, ChunksThatAreNotWholeAreLost)
{
  reach_.stop(to(1), 0.49);
  EXPECT_EQ(missing(1), Counts({5, 5}));
}

TEST_F(BlockReachTest, ALinkBetweenSwitchesStopsTheBlocksThatCrossIt)
{
  reach_.stop(up(0), 0.25);
  EXPECT_EQ(missing(1), Counts({0, 0})); // on the root's own leaf
  EXPECT_EQ(missing(2), Counts({6, 0})); // the other root
  EXPECT_EQ(missing(3), Counts({6, 0}));
  EXPECT_DOUBLE_EQ(reach_.total(to(3)), 0.625);
}

TEST_F(BlockReachTest, BlocksThatAreLeftAdvanceTogether)
{
  reach_.stop(up(0), 0.25);
  reach_.stop(to(3), 0.5); // 4 + 4 chunks would have come, 2 of the first block did
  EXPECT_EQ(missing(3), Counts({6, 2}));
}

TEST_F(BlockReachTest, ASlowLinkHasNotCarriedWhatHadReachedIt)
{
  reach_.stop(up(0), 0.5);
  reach_.stop(to(3), 0.25);
  EXPECT_EQ(missing(3), Counts({6, 6}));
}

TEST_F(BlockReachTest, ARootsCableStopsItsBlockEverywhere)
{
  reach_.stop(plan_.leaving[0].front(), 0);
  EXPECT_EQ(missing(1), Counts({8, 0}));
  EXPECT_EQ(missing(3), Counts({8, 0}));
  EXPECT_DOUBLE_EQ(reach_.total(to(2)), 0);
}

TEST_F(BlockReachTest, SaysWhatHasBeenSentSoFar)
{
  const auto fed    = reach_.fed(to(1), [](std::size_t) { return 0.5; });
  const auto losses = reach_.not_fed(to(1), fed);
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].chunks, (ChunkRun{4, 4}));
}

} // namespace
} // namespace weft
