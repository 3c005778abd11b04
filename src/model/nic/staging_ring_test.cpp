// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/staging_ring.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace weft {
namespace {

constexpr double ANY = std::numeric_limits<double>::infinity();

TEST(StagingRing, TakesAllThatComesNoFasterThanItIsProcessed)
{
  StagingRing ring(1);
  const StagingRing::Taken taken = ring.take({1, 2, 100}, 100);
  EXPECT_DOUBLE_EQ(taken.processed, 2);
  EXPECT_TRUE(taken.lost.empty());
}

TEST(StagingRing, HoldsWhatComesFaster)
{
  StagingRing ring(ANY);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 100}, 50).processed, 2);
  // 25 are left at 1.5; 100 more come until 2.5.
  EXPECT_DOUBLE_EQ(ring.take({1.5, 2.5, 100}, 50).processed, 2.5 + 75.0 / 50);
  EXPECT_DOUBLE_EQ(ring.take({10, 11, 10}, 50).processed, 11);
}

TEST(StagingRing, LosesWhatItHasNoRoomFor)
{
  StagingRing ring(10);
  // Fills by 50 a second, so that it is full at 0.2, when 20 have come; then every second one is lost.
  const StagingRing::Taken taken = ring.take({0, 1, 100}, 50);
  EXPECT_EQ(taken.lost.size(), 40);
  EXPECT_EQ(taken.lost.front(), 20);
  EXPECT_DOUBLE_EQ(taken.processed, 1 + 10.0 / 50);
  EXPECT_EQ(ring.take({2, 2, 30}, 50).lost.size(), 20); // all at once
}

TEST(StagingRing, AddsUpWhatComesAtTheSameTime)
{
  StagingRing ring(ANY);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1.5);
  EXPECT_DOUBLE_EQ(ring.take({0.5, 1.5, 100}, 100).processed, 2.5);
  EXPECT_DOUBLE_EQ(ring.take({100, 101, 100}, 100).processed, 101);
}

TEST(StagingRing, KnowsOfOthersThatStillCome)
{
  StagingRing ring(0);
  // Two at 100 a second each and workers for 100: half of both stays.
  const std::vector<double> going{0.5};
  EXPECT_EQ(ring.take({0, 1, 100}, 100, going).lost.size(), 25);
  EXPECT_EQ(ring.take({0.5, 1.5, 100}, 100).lost.size(), 25);
}

TEST(StagingRing, FillsUntilItsWorkersAreAwake)
{
  StagingRing ring(ANY, Seconds(0.5));
  // Half of the chunks wait when the workers begin, and they are as fast as the rest comes.
  EXPECT_DOUBLE_EQ(ring.take({1, 2, 100}, 100).processed, 2.5);
  EXPECT_DOUBLE_EQ(ring.take({3, 4, 100}, 100).processed, 4); // they are awake
  EXPECT_TRUE(ring.sleeps(1.4, {}));
  EXPECT_FALSE(ring.sleeps(1.5, {}));
  EXPECT_DOUBLE_EQ(StagingRing(ANY, Seconds(2)).take({1, 2, 100}, 100).processed, 4);
  EXPECT_TRUE(StagingRing(ANY, Seconds(2)).sleeps(2.5, std::vector<double>{1}));
  EXPECT_FALSE(StagingRing(ANY, Seconds(2)).sleeps(2.5, {}));
  EXPECT_EQ(StagingRing(30, Seconds(0.5)).take({1, 2, 100}, 100).lost.size(), 20);
}

} // namespace
} // namespace weft
