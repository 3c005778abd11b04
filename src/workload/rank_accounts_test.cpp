// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/rank_accounts.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>

namespace weft {
namespace {

TEST(RankAccounts, ComputationHidesCommunicationAndCommunicationHidesWaiting)
{
  RankAccounts its(2);
  its.begin_waiting(1, Seconds(1)); // idle for 1 s
  its.begin_communication(0, 0, Seconds(3));
  its.begin_computation(Seconds(4));
  its.end_computation(Seconds(6));
  its.end_communication(0, 0, Seconds(3), Seconds(9));
  its.end_waiting(1, Seconds(10));
  its.close(Seconds(12));
  const RankTimes& times = its.times();
  EXPECT_DOUBLE_EQ(times.computing, 2);
  EXPECT_DOUBLE_EQ(times.exposed[0], 1 + 3);
  EXPECT_DOUBLE_EQ(times.late[1], 2 + 1);
  EXPECT_DOUBLE_EQ(times.idle, 1 + 2);
  EXPECT_DOUBLE_EQ(times.communicated[0], 6);
  EXPECT_DOUBLE_EQ(times.end, 12);
}

TEST(RankAccounts, OverlappingComputationCountsOnce)
{
  RankAccounts its(0);
  its.begin_computation(Seconds(0));
  its.begin_computation(Seconds(1));
  its.end_computation(Seconds(3));
  its.end_computation(Seconds(4));
  its.close(Seconds(4));
  EXPECT_DOUBLE_EQ(its.times().computing, 4);
}

TEST(RankAccounts, EndingWhatHasNotBegunThrows)
{
  RankAccounts its(1);
  EXPECT_THROW(its.end_waiting(0, Seconds(1)), std::logic_error);
}

TEST(RankAccounts, PartsAddUpToTheIteration)
{
  RankAccounts one(1, Seconds(1)); // begins at 1 s
  one.begin_computation(Seconds(1));
  one.end_computation(Seconds(3));
  one.close(Seconds(3));
  RankAccounts other(1, Seconds(1));
  other.begin_waiting(0, Seconds(2));
  other.end_waiting(0, Seconds(4));
  other.begin_communication(0, 0, Seconds(4));
  other.end_communication(0, 0, Seconds(4), Seconds(5));
  other.close(Seconds(5));
  const std::vector<RankTimes> ranks{one.times(), other.times()};
  const std::vector<TimePart> parts = parts_of(ranks, {"data"}, 5);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].name, "computation");
  EXPECT_DOUBLE_EQ(parts[0].mean, 1);
  EXPECT_DOUBLE_EQ(parts[0].most, 2);
  EXPECT_EQ(parts[1].name, "exposed data");
  EXPECT_DOUBLE_EQ(parts[1].mean, 0.5);
  EXPECT_EQ(parts[2].name, "waiting data");
  EXPECT_DOUBLE_EQ(parts[2].mean, 1);
  EXPECT_EQ(parts[3].name, "idle");
  EXPECT_DOUBLE_EQ(parts[3].mean, 1.5); // 2 s of the first rank at its end, 1 s of the second at its start
}

} // namespace
} // namespace weft
