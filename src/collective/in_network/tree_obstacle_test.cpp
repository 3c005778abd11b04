// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/tree_obstacle.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

SwitchModel switch_that_does(const Capability& capability)
{
  SwitchModel model;
  model.capabilities = {capability};
  return model;
}

const SwitchModel INT_SUMS = switch_that_does({{"allreduce"}, {"MPI_INT"}, {"MPI_SUM"}});
const SwitchModel PLAIN;
const SwitchModel MOVES = switch_that_does({{"bcast", "allgather", "barrier"}, {}, {}});

SwitchCall call(std::string_view kind, std::string datatype, std::string operation, double message)
{
  return {&collective(kind), std::move(datatype), std::move(operation), Bytes(message)};
}

const SwitchCall SUM = call("allreduce", "MPI_INT", "MPI_SUM", 4);

Fallback obstacle(const SwitchCall& its, const std::vector<const SwitchModel*>& models = {&INT_SUMS},
                  std::optional<NoTree> no_tree = std::nullopt)
{
  return tree_obstacle(its, no_tree, models);
}

TEST(TreeObstacle, IsNoneWhereTheSwitchCan)
{
  EXPECT_EQ(obstacle(SUM), Fallback::none);
}

TEST(TreeObstacle, SaysWhatTheSwitchLacks)
{
  EXPECT_EQ(obstacle(call("reduce", "MPI_INT", "MPI_SUM", 4)), Fallback::collective);
  EXPECT_EQ(obstacle(call("allreduce", "MPI_FLOAT", "MPI_SUM", 4)), Fallback::datatype);
  EXPECT_EQ(obstacle(call("allreduce", "MPI_INT", "MPI_MAX", 4)), Fallback::operation);
  EXPECT_EQ(obstacle(call("barrier", "", "", 0)), Fallback::collective);
  EXPECT_EQ(obstacle(call("scan", "MPI_INT", "MPI_SUM", 4)), Fallback::collective);
}

TEST(TreeObstacle, IsTheFirstThingThatIsLacking)
{
  EXPECT_EQ(obstacle(call("reduce", "MPI_FLOAT", "MPI_MAX", 0)), Fallback::collective);
  EXPECT_EQ(obstacle(call("allreduce", "MPI_FLOAT", "MPI_MAX", 0)), Fallback::datatype);
  EXPECT_EQ(obstacle(call("allreduce", "MPI_INT", "MPI_MAX", 0)), Fallback::operation);
}

TEST(TreeObstacle, IsNoneForAReplayedTraceWithoutOperations)
{
  EXPECT_EQ(obstacle(call("allreduce", "MPI_INT", "", 4)), Fallback::none);
}

TEST(TreeObstacle, LetsOnlyABarrierCarryNothing)
{
  EXPECT_EQ(obstacle(call("allreduce", "MPI_INT", "MPI_SUM", 0)), Fallback::zero_count);
  EXPECT_EQ(obstacle(call("barrier", "", "", 0), {&MOVES}), Fallback::none);
}

TEST(TreeObstacle, IsThatOfAnySwitchOfTheTree)
{
  EXPECT_EQ(obstacle(SUM, {&INT_SUMS, &INT_SUMS}), Fallback::none);
  EXPECT_EQ(obstacle(SUM, {&INT_SUMS, &MOVES}), Fallback::collective);
  EXPECT_EQ(obstacle(SUM, {&PLAIN}), Fallback::collective);
}

TEST(TreeObstacle, IsTheMissingTreeWhereASwitchCouldHaveDoneTheCall)
{
  const std::vector<const SwitchModel*> models{&MOVES, &INT_SUMS};
  const auto no_tree = NoTree::no_common_switch;
  EXPECT_EQ(obstacle(SUM, models, no_tree), Fallback::not_on_tree);
  EXPECT_EQ(obstacle(call("allreduce", "MPI_FLOAT", "MPI_SUM", 4), models, no_tree), Fallback::datatype);
  EXPECT_EQ(obstacle(SUM, {}, no_tree), Fallback::not_on_tree);
  EXPECT_EQ(obstacle(SUM, models, NoTree::one_host), Fallback::one_host);
  EXPECT_EQ(obstacle(SUM, models, NoTree::no_gain), Fallback::no_gain);
}

} // namespace
} // namespace weft
