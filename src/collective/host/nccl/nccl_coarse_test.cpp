// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_coarse.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

NcclPlan ring_plan(NcclCollective collective)
{
  NcclPlan plan{.collective = collective, .choice = {}, .nodes = {}, .lanes = {}, .vector = Bytes(1000)};
  plan.choice.algorithm = NcclAlgorithm::ring;
  plan.slices           = 2;
  plan.window           = 4;
  NcclLane lane;
  lane.share            = 0.5;
  lane.chunk            = Bytes(100);
  lane.between.overhead = Bytes(1);
  lane.late.overhead    = Bytes(3);
  plan.lanes.push_back(lane);
  return plan;
}

TEST(NcclCoarse, AStepOfARingIsOneMessageWithTheOverheadOfAll)
{
  const NcclPlan plan = coarse(ring_plan(NcclCollective::allgather), 4, {}); // blocks of 500 B in 5 chunks of 2 slices
  EXPECT_EQ(plan.slices, 1);
  EXPECT_EQ(plan.lanes[0].chunk, Bytes(500));
  EXPECT_EQ(plan.lanes[0].between.overhead, Bytes(4 * 1 + 6 * 3)); // four messages before the window is full
  EXPECT_EQ(plan.lanes[0].late.overhead, Bytes(10 * 3));
  EXPECT_EQ(plan.window, 2);
}

TEST(NcclCoarse, AStepTakesAsLongAsWithSlices)
{
  NcclPlan fine                = ring_plan(NcclCollective::allgather); // 5 chunks of 2 slices of 50 B
  fine.nodes.ranks             = {{0, 1}};
  fine.lanes[0].within.latency = Seconds(3);
  fine.lanes[0].within.rate    = BytesPerSecond(50);
  const NcclPlan plan          = coarse(fine, 4, {});
  // The first slice arrives after 1 + 3 s, when the second one has been sent for 2 s; 500 B take 10 s.
  EXPECT_EQ(plan.lanes[0].within.latency, Seconds(5 * 4 - 10));
  EXPECT_EQ(plan.end.latency, Seconds(2 + 3 - 4));
  // A route of 4 s at 100 B/s occupies the sender for 4.5 s per slice, longer than the first slice takes to arrive.
  const NcclPlan far = coarse(fine, 4, {.within = {Seconds(4), BytesPerSecond(100)}, .between = {}});
  EXPECT_EQ(far.lanes[0].within.latency, Seconds(0));
  EXPECT_EQ(far.lanes[0].within.rate, BytesPerSecond(500.0 / (10 * 4.5)));
}

TEST(NcclCoarse, AnAllreduceDividesItsVectorAmongTheRanks)
{
  EXPECT_EQ(coarse(ring_plan(NcclCollective::allreduce), 4, {}).lanes[0].chunk, Bytes(125));
}

TEST(NcclCoarse, OtherPlansStay)
{
  NcclPlan tree         = ring_plan(NcclCollective::allreduce);
  tree.choice.algorithm = NcclAlgorithm::tree;
  EXPECT_EQ(coarse(tree, 4, {}).lanes[0].chunk, Bytes(100));
  EXPECT_EQ(coarse(ring_plan(NcclCollective::broadcast), 4, {}).slices, 2);
}

} // namespace
} // namespace weft
