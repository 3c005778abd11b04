// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/rank_progress.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace weft {
namespace {

/** Begins all operations that can begin, and returns them. */
std::vector<WorkNumber> all_begun(RankProgress& its)
{
  std::vector<WorkNumber> numbers;
  while (const auto number = its.begin_next())
    numbers.push_back(*number);
  return numbers;
}

using Numbers = std::vector<WorkNumber>;

TEST(RankProgress, StreamsInOrderWaitForTheirPredecessorAndForOthers)
{
  Program program(true);
  const WorkNumber first = program.add_computation(0, 1);
  program.add_computation(0, 1);
  program.add_computation(1, 1, Numbers{first});
  program.add_computation(1, 1);
  const ProgramOrder order(program);
  RankProgress its(order);
  EXPECT_EQ(all_begun(its), Numbers{0});
  its.end(0);
  EXPECT_EQ(all_begun(its), (Numbers{1, 2}));
  EXPECT_EQ(its.current(), (Numbers{1, 2}));
  its.end(2);
  EXPECT_EQ(all_begun(its), Numbers{3});
  its.end(1);
  its.end(3);
  EXPECT_EQ(its.left(), 0U);
}

TEST(RankProgress, InOrderALaterOperationThatWaitsForNothingStaysBehind)
{
  Program program(true);
  const WorkNumber other = program.add_computation(1, 1);
  program.add_computation(0, 1, Numbers{other});
  program.add_computation(0, 1);
  const ProgramOrder order(program);
  RankProgress its(order);
  EXPECT_EQ(all_begun(its), Numbers{0});
}

TEST(RankProgress, OutOfOrderAStreamTakesTheFirstThatWaitsForNothing)
{
  Program program(false);
  program.add_computation(0, 1, Numbers{3});
  program.add_computation(0, 1);
  program.add_computation(0, 1);
  program.add_computation(1, 1);
  const ProgramOrder order(program);
  RankProgress its(order);
  EXPECT_EQ(all_begun(its), (Numbers{1, 3}));
  its.end(3);
  its.end(1);
  EXPECT_EQ(all_begun(its), Numbers{0}); // before 2, which could have begun earlier
}

TEST(RankProgress, OperationsOfACycleNeverBegin)
{
  Program program(false);
  program.add_computation(0, 1, Numbers{1});
  program.add_computation(0, 1, Numbers{0});
  const ProgramOrder order(program);
  RankProgress its(order);
  EXPECT_EQ(its.begin_next(), std::nullopt);
  EXPECT_EQ(its.left(), 2U);
}

} // namespace
} // namespace weft
