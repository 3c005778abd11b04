// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/backpressure.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace weft {
namespace {

const BytesPerSecond RATE(1000);
const Bytes BLOCK(1000);

/** Returns the times at which blocks leave; member n starts one block at starts[n]. */
std::vector<double> departures(std::size_t members, const std::vector<double>& starts)
{
  std::multimap<double, std::size_t> order;
  for (std::size_t root = 0; root < starts.size(); ++root)
    order.emplace(starts[root], root);
  Backpressure backpressure(std::vector<BytesPerSecond>(members, RATE));
  std::vector<double> left(starts.size());
  std::vector<std::size_t> numbers; // by start
  const auto run_to = [&](double end) {
    for (auto time = backpressure.next(); time && time->value() <= end; time = backpressure.next())
      for (const std::size_t number : backpressure.take_left(*time))
        left[numbers[number]] = time->value();
  };
  for (const auto& [start, root] : order) {
    run_to(start);
    backpressure.start(Seconds(start), {{root, BLOCK}});
    numbers.push_back(root);
  }
  run_to(1e9);
  return left;
}

TEST(Backpressure, ThrottlesARootToTheReceivers)
{
  EXPECT_EQ(departures(4, {0}), std::vector<double>{1});
  EXPECT_EQ(departures(4, {0, 0}), (std::vector<double>{2, 2}));
  EXPECT_EQ(departures(4, {0, 2}), (std::vector<double>{1, 3}));
}

TEST(Backpressure, RootsDoNotReceiveTheirOwnBlocks)
{
  EXPECT_EQ(departures(2, {0, 0}), (std::vector<double>{1, 1}));
  for (const double time : departures(4, {0, 0, 0, 0}))
    EXPECT_DOUBLE_EQ(time, 3);
}

TEST(Backpressure, SharesBetweenBlocksInFlight)
{
  // Half of the first block has left when the second starts.
  const std::vector<double> left = departures(3, {0, 0.5});
  EXPECT_DOUBLE_EQ(left[0], 1.5);
  EXPECT_DOUBLE_EQ(left[1], 2);
}

TEST(Backpressure, BatchedStartsEqualSingleStarts)
{
  Backpressure together(std::vector<BytesPerSecond>(4, RATE));
  together.start(Seconds(), {{0, BLOCK}, {1, BLOCK * 2}});
  Backpressure apart(std::vector<BytesPerSecond>(4, RATE));
  apart.start(Seconds(), {{0, BLOCK}});
  apart.start(Seconds(), {{1, BLOCK * 2}});
  ASSERT_TRUE(together.next());
  EXPECT_EQ(*together.next(), Seconds(3));
  EXPECT_EQ(apart.next(), together.next());
  EXPECT_EQ(apart.take_left(Seconds(3)), (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(apart.next());
}

TEST(Backpressure, TheFastestReceiverOfMostDataSetsTheRate)
{
  Backpressure backpressure({RATE, RATE, RATE / 10, RATE * 2});
  backpressure.start(Seconds(), {{0, BLOCK}});
  EXPECT_EQ(*backpressure.next(), Seconds(0.5));
  backpressure.start(Seconds(), {{3, BLOCK}}); // the fastest receiver now gets half as much
  EXPECT_EQ(*backpressure.next(), Seconds(2));
}

TEST(Backpressure, MembersThatNothingReachesThrottleNobody)
{
  // Half of the block has left when the slow receivers fail.
  Backpressure backpressure({RATE, RATE, RATE / 10});
  backpressure.start(Seconds(), {{0, BLOCK}});
  backpressure.set_rates(Seconds(0.5), {RATE, BytesPerSecond(), RATE / 10});
  EXPECT_EQ(*backpressure.next(), Seconds(5.5));
  // When nobody receives, the rest leaves at once.
  backpressure.set_rates(Seconds(1), {RATE, BytesPerSecond(), BytesPerSecond()}); // the root has its block
  EXPECT_EQ(*backpressure.next(), Seconds(1));
  EXPECT_EQ(backpressure.take_left(Seconds(1)), std::vector<std::size_t>{0});
}

TEST(Backpressure, IsContinuousInTheStarts)
{
  for (std::size_t members = 2; members <= 64; members = members * 3 / 2 + 1)
    for (std::size_t roots = 1; roots <= members; roots += 3)
      for (const double offset : {1e-9, 1e-6, 1e-3, 1e-1}) {
        const std::vector<double> at_once = departures(members, std::vector<double>(roots));
        for (const std::size_t late : {std::size_t(0), roots / 2, roots - 1}) {
          std::vector<double> starts(roots);
          starts[late]                   = offset;
          const std::vector<double> left = departures(members, starts);
          for (std::size_t root = 0; root < roots; ++root)
            EXPECT_NEAR(left[root], at_once[root], offset * 1.001 + 1e-10) << members << " " << roots;
        }
      }
}

} // namespace
} // namespace weft
