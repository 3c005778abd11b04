// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/staging_ring.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace weft {
namespace {

constexpr double ANY = std::numeric_limits<double>::infinity();

TEST(StagingRing, DropsNothingIfWorkersKeepUp)
{
  StagingRing ring(1);
  const StagingRing::Taken taken = ring.take({1, 2, 100}, 100);
  EXPECT_DOUBLE_EQ(taken.processed, 2);
  EXPECT_TRUE(taken.lost.empty());
}

TEST(StagingRing, StoresTheExcess)
{
  StagingRing ring(ANY);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 100}, 50).processed, 2);
  // 25 chunks are left at 1.5 s; 100 more arrive until 2.5 s.
  EXPECT_DOUBLE_EQ(ring.take({1.5, 2.5, 100}, 50).processed, 2.5 + 75.0 / 50);
  EXPECT_DOUBLE_EQ(ring.take({10, 11, 10}, 50).processed, 11);
}

TEST(StagingRing, DropsWhatDoesNotFit)
{
  StagingRing ring(10);
  // The ring fills at 50 chunks/s and is full at 0.2 s, after 20 arrivals; then every second chunk is dropped.
  const StagingRing::Taken taken = ring.take({0, 1, 100}, 50);
  EXPECT_EQ(taken.lost.size(), 40);
  EXPECT_EQ(taken.lost.front(), 20);
  EXPECT_DOUBLE_EQ(taken.processed, 1 + 10.0 / 50);
  EXPECT_EQ(ring.take({2, 2, 30}, 50).lost.size(), 20); // all at once
}

TEST(StagingRing, AddsOverlappingArrivals)
{
  StagingRing ring(ANY);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1);
  EXPECT_DOUBLE_EQ(ring.take({0, 1, 50}, 100).processed, 1.5);
  EXPECT_DOUBLE_EQ(ring.take({0.5, 1.5, 100}, 100).processed, 2.5);
  EXPECT_DOUBLE_EQ(ring.take({100, 101, 100}, 100).processed, 101);
}

TEST(StagingRing, CountsArrivalsThatHaveNotEnded)
{
  StagingRing ring(0);
  // Two streams arrive at 100 chunks/s each, workers process 100 chunks/s: half of each stream is accepted.
  const std::vector<double> going{0.5};
  EXPECT_EQ(ring.take({0, 1, 100}, 100, going).lost.size(), 25);
  EXPECT_EQ(ring.take({0.5, 1.5, 100}, 100).lost.size(), 25);
}

TEST(StagingRing, FillsUntilWorkersAreAwake)
{
  StagingRing ring(ANY, Seconds(0.5));
  // Half of the chunks are queued when the workers wake; they then keep up with the rest.
  EXPECT_DOUBLE_EQ(ring.take({1, 2, 100}, 100).processed, 2.5);
  EXPECT_DOUBLE_EQ(ring.take({3, 4, 100}, 100).processed, 4); // awake
  EXPECT_TRUE(ring.sleeps(1.4, {}));
  EXPECT_FALSE(ring.sleeps(1.5, {}));
  EXPECT_DOUBLE_EQ(StagingRing(ANY, Seconds(2)).take({1, 2, 100}, 100).processed, 4);
  EXPECT_TRUE(StagingRing(ANY, Seconds(2)).sleeps(2.5, std::vector<double>{1}));
  EXPECT_FALSE(StagingRing(ANY, Seconds(2)).sleeps(2.5, {}));
  EXPECT_EQ(StagingRing(30, Seconds(0.5)).take({1, 2, 100}, 100).lost.size(), 20);
}

} // namespace
} // namespace weft
