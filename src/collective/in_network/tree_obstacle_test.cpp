// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/tree_obstacle.hpp"

#include <deque>
#include <string>
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

/** Returns a call of @p elements of a type, or of bytes if @p type is empty. Rows live as long as the tests. */
CallDescriptor call(std::string_view kind, const std::string& type, const std::string& operation, std::int64_t elements)
{
  static std::deque<ElementType> types;
  static std::deque<ReductionOperation> operations;
  CallDescriptor made{.kind = &collective(kind), .elements = elements};
  if (not type.empty())
    made.type = &types.emplace_back(ElementType{.name = type, .size = 4});
  if (not operation.empty())
    made.operation = &operations.emplace_back(ReductionOperation{.name = operation});
  return made;
}

const CallDescriptor SUM = call("allreduce", "MPI_INT", "MPI_SUM", 1);

Fallback obstacle(const CallDescriptor& its, const std::vector<const SwitchModel*>& models = {&INT_SUMS},
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
