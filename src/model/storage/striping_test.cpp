// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/striping.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace weft {
namespace {

TEST(Striping, SplitsARoundEvenly)
{
  const StripeLayout layout{.stripe_size = 10, .first = 2, .count = 3, .targets = 4};
  const auto parts = split_over_targets(layout, {{0, 60}});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].target, 2);
  EXPECT_EQ(parts[1].target, 3);
  EXPECT_EQ(parts[2].target, 0);
  for (const TargetPart& part : parts) {
    EXPECT_EQ(part.bytes, 20);
    EXPECT_EQ(part.requests, 1);
  }
}

TEST(Striping, LeavesOutTargetsWithoutBytes)
{
  const auto parts = split_over_targets({.stripe_size = 10, .first = 0, .count = 4, .targets = 4}, {{15, 10}});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].target, 1);
  EXPECT_EQ(parts[0].bytes, 5);
  EXPECT_EQ(parts[1].target, 2);
  EXPECT_EQ(parts[1].bytes, 5);
}

TEST(Striping, AgreesWithAWalkOverBytes)
{
  std::mt19937 random(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases in each run
  const auto any = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 200; ++round) {
    const int targets = 1 + any(6);
    const StripeLayout layout{
        .stripe_size = 1 + any(9), .first = any(targets), .count = 1 + any(targets), .targets = targets};
    Extents extents;
    for (int one = 0; one < 3; ++one)
      extents.push_back({any(200), any(100)});
    std::map<int, std::int64_t> expected;
    for (const Extent& extent : extents)
      for (std::int64_t at = extent.offset; at < extent.end(); ++at)
        ++expected[layout.target(at / layout.stripe_size)];
    std::map<int, std::int64_t> found;
    for (const TargetPart& part : split_over_targets(layout, extents))
      found[part.target] = part.bytes;
    EXPECT_EQ(found, expected);
  }
}

} // namespace
} // namespace weft
