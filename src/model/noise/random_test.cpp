// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/random.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace weft {
namespace {

// Known-answer vectors published by the authors with their library (Random123, tests/kat_vectors).
TEST(Random, IsPhilox)
{
  constexpr std::uint32_t ALL = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (RandomPlace{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ALL, ALL, ALL, ALL}, {ALL, ALL}), (RandomPlace{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (RandomPlace{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsUniform)
{
  constexpr int COUNT = 100000;
  double sum          = 0;
  double squares      = 0;
  for (std::uint32_t k = 0; k < COUNT; ++k) {
    const double one = uniform(7, {k, 0, 0, 0});
    ASSERT_GE(one, 0);
    ASSERT_LT(one, 1);
    sum += one;
    squares += one * one;
  }
  const double mean = sum / COUNT;
  // Three standard deviations of a mean, and of a variance.
  EXPECT_NEAR(mean, 0.5, 3 * std::sqrt(1.0 / 12 / COUNT));
  EXPECT_NEAR(squares / COUNT - mean * mean, 1.0 / 12, 3 * std::sqrt(1.0 / 180 / COUNT));
}

TEST(Random, DiffersBySeedAndByEachWordOfThePlace)
{
  const double one = uniform(1, {0, 0, 0, 0});
  EXPECT_EQ(uniform(1, {0, 0, 0, 0}), one);
  EXPECT_NE(uniform(2, {0, 0, 0, 0}), one);
  EXPECT_NE(uniform(1ULL << 32 | 1, {0, 0, 0, 0}), one);
  for (std::size_t word = 0; word < 4; ++word) {
    RandomPlace place{};
    place[word] = 1;
    EXPECT_NE(uniform(1, place), one);
  }
}

} // namespace
} // namespace weft
